#include "analysis/core_sections.h"

#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

class KeepCore : public StmtMutator {
 public:
  explicit KeepCore(const std::string& core) : core_(core) {}

 private:
  Stmt VisitStmt_(const SBlockNode* op) final {
    const char* core = SectionCore(op);
    if (core == nullptr) return StmtMutator::VisitStmt_(op);
    return core == core_ ? tvm::ffi::GetRef<Stmt>(op) : Evaluate(0);
  }

  const std::string& core_;
};

}  // namespace

const char* SectionCore(const SBlockNode* block) {
  for (const char* core : {"CUBE", "VECTOR"}) {
    if (block->name_hint == core) return core;
  }
  return nullptr;
}

std::vector<std::string> CoresOf(const Stmt& body) {
  std::vector<std::string> cores;
  PreOrderVisit(body, [&](const tvm::ffi::ObjectRef& node) {
    const auto* block = node.as<SBlockNode>();
    const char* core = block == nullptr ? nullptr : SectionCore(block);
    if (core == nullptr) return true;
    if (std::find(cores.begin(), cores.end(), core) == cores.end()) cores.emplace_back(core);
    return false;
  });
  return cores;
}

Stmt OnlyCore(const Stmt& body, const std::string& core) { return KeepCore(core)(body); }

}  // namespace tilelang_ascend_sched
