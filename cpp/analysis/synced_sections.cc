#include "analysis/synced_sections.h"

#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <set>
#include <string>

#include "analysis/call_pipes.h"
#include "analysis/control_flow.h"
#include "analysis/core_sections.h"
#include "analysis/fence.h"
#include "hw/pipe.h"
#include "ir/kernels.h"
#include "report/error.h"
#include "report/place.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::DataType;
using tvm::IntImm;
using tvm::PrimExpr;
using tvm::ffi::Any;
using tvm::ffi::Array;
using tvm::ffi::GetRef;
using tvm::ffi::Map;
using tvm::ffi::String;

namespace {

constexpr const char* kPass = "MaterializeScheduleUnits";
constexpr const char* kLayoutMap = "layout_map";

bool HoldsSync(const SBlockNode* block) {
  bool holds = false;
  PreOrderVisit(block->body, [&holds](const tvm::ffi::ObjectRef& node) {
    const auto* call = node.as<CallNode>();
    holds = holds || (call != nullptr && IsCrossCoreSync(call));
    return !holds;
  });
  return holds;
}

// The cores of the sections that have to be opened.
std::set<std::string> SyncedCores(const Stmt& body) {
  std::set<std::string> cores;
  PreOrderVisit(body, [&cores](const tvm::ffi::ObjectRef& node) {
    const auto* block = node.as<SBlockNode>();
    const char* core = block == nullptr ? nullptr : SectionCore(block);
    if (core != nullptr && HoldsSync(block)) cores.insert(core);
    return core == nullptr;
  });
  return cores;
}

// The core on which AssignCore puts synchronization of this pipe whatever stands beside it.
CoreMask CoreOf(PipeMask pipe) {
  if (pipe == kVector || pipe == kMTE3) return kAiv;
  return pipe == kCube || pipe == kMTE1 || pipe == kFixpipe ? kAic : 0;
}

class SyncPlacer : public StmtMutator {
 public:
  SyncPlacer(CoreMask core, bool mixed) : core_(core), mixed_(mixed) {}

 private:
  Stmt VisitStmt_(const EvaluateNode* op) final {
    const auto* call = op->value.as<CallNode>();
    if (call == nullptr || !IsCrossCoreSync(call)) return GetRef<Stmt>(op);
    const auto* name = call->args[1].as<StringImmNode>();
    const PipeMask pipe = name == nullptr ? 0 : ParsePipe(std::string(name->value)).value_or(0);
    const CoreMask core = CoreOf(pipe);
    if (core != 0 && core != core_) {
      Fail(kPass, Text("cross-core synchronization in code of ", CoreNames(core_),
                       " cannot use the pipe ", call->args[1], ", whose work runs on ",
                       CoreNames(core), ": ", Brief(GetRef<Stmt>(op))));
    }
    Array<Stmt> stmts;
    if (mixed_ && core == 0) stmts.push_back(Pin(op, call));
    // The scalar pipe issues for all others.
    if (pipe == kScalar) stmts.push_back(Fence(op->span));
    stmts.push_back(GetRef<Stmt>(op));
    if (pipe == kScalar) stmts.push_back(Fence(op->span));
    return stmts.size() == 1 ? stmts[0] : SeqStmt(stmts);
  }

  Stmt VisitStmt_(const SBlockNode* op) final { return GetRef<Stmt>(op); }

  // The same synchronization on a pipe that only this core has, under a guard that never holds.
  Stmt Pin(const EvaluateNode* op, const CallNode* call) const {
    const char* pipe = core_ == kAiv ? "PIPE_V" : "PIPE_M";
    Array<PrimExpr> args{call->args[0], StringImm(pipe), call->args[2]};
    return Never(Evaluate(Call(call->dtype, call->op, args, {}, call->span), op->span));
  }

  const CoreMask core_;
  const bool mixed_;
};

class SectionOpener : public StmtMutator {
 public:
  SectionOpener(bool mixed, std::optional<IterVar> aiv) : mixed_(mixed), aiv_(std::move(aiv)) {}

  OpenedRoot Open(SBlock root) {
    Stmt body = VisitStmt(root->body);
    SBlockNode* edit = root.CopyOnWrite();
    edit->body = std::move(body);
    for (const Buffer& buffer : buffers_) edit->alloc_buffers.push_back(buffer);
    if (!layouts_.empty()) {
      Map<Any, Any> merged = layouts_;
      if (auto own = edit->annotations.Get(kLayoutMap)) {
        for (const auto& [var, layout] : own.value().cast<Map<Any, Any>>()) merged.Set(var, layout);
      }
      edit->annotations.Set(kLayoutMap, merged);
    }
    return {root, aiv_};
  }

 private:
  Stmt VisitStmt_(const SBlockNode* op) final {
    const char* name = SectionCore(op);
    if (name == nullptr || !HoldsSync(op)) return GetRef<Stmt>(op);
    if (!op->iter_vars.empty() || !op->match_buffers.empty() || op->init.has_value()) {
      Fail(kPass,
           Text("cross-core synchronization must stand in a plain T.Cube or T.Vector block: ",
                Brief(GetRef<Stmt>(op))));
    }
    for (const Buffer& buffer : op->alloc_buffers) buffers_.push_back(buffer);
    if (auto layouts = op->annotations.Get(kLayoutMap)) {
      for (const auto& [var, layout] : layouts.value().cast<Map<Any, Any>>()) {
        layouts_.Set(var, layout);
      }
    }
    const CoreMask core = std::string(name) == "VECTOR" ? kAiv : kAic;
    Stmt body = SyncPlacer(core, mixed_)(NormalizeControlFlow(WithoutLaunch(op->body)));
    if (!mixed_) return body;
    const IntImm once(DataType::Int(32), 1);
    return For(Var(core == kAiv ? "aiv" : "aic", DataType::Int(32)), IntImm(DataType::Int(32), 0),
               once, ForKind::kSerial, std::move(body), std::nullopt, {}, std::nullopt, op->span);
  }

  Stmt WithoutLaunch(const Stmt& body) {
    const auto* attribute = body.as<AttrStmtNode>();
    const auto launched = attribute == nullptr ? std::nullopt : LaunchedAiv(attribute);
    if (!launched.has_value()) return body;
    if (!aiv_.has_value()) {
      aiv_ = launched;
      return attribute->body;
    }
    const int64_t* extent = as_const_int((*aiv_)->dom->extent);
    const int64_t* wanted = as_const_int(attribute->value);
    if (extent == nullptr || wanted == nullptr || *extent != *wanted) {
      Fail(kPass,
           Text("the T.Vector blocks of a kernel must have one number of AIVs, but there are ",
                (*aiv_)->dom->extent, " and ", attribute->value, ": ", Brief(attribute->body)));
    }
    return Substitute(attribute->body, Map<Var, PrimExpr>{{(*launched)->var, (*aiv_)->var}});
  }

  const bool mixed_;
  std::optional<IterVar> aiv_;
  Array<Buffer> buffers_;
  Map<Any, Any> layouts_;
};

}  // namespace

OpenedRoot OpenSyncedSections(const SBlock& root, std::optional<IterVar> aiv) {
  const std::set<std::string> cores = SyncedCores(root->body);
  if (cores.empty()) return {root, std::move(aiv)};
  return SectionOpener(cores.size() > 1, std::move(aiv)).Open(root);
}

}  // namespace tilelang_ascend_sched
