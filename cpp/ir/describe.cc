// The task tree by name, as the schedule report shows it.

#include <tvm/ffi/extra/json.h>
#include <tvm/ffi/reflection/registry.h>
#include <tvm/tirx/function.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "hw/scope.h"
#include "ir/attrs.h"
#include "ir/buffer_bytes.h"
#include "ir/kernels.h"
#include "ir/task_tree.h"
#include "report/place.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::ffi::Any;
using tvm::ffi::Array;
using tvm::ffi::Map;
using tvm::ffi::ObjectRef;
using tvm::ffi::String;

namespace {

using Object = Map<String, Any>;

// The names of what a unit calls first, or of the last block in it, and of its buffers.
class UnitNamer {
 public:
  explicit UnitNamer(const Stmt& unit) {
    PreOrderVisit(unit, [this](const ObjectRef& node) {
      Visit(node);
      return true;
    });
  }

  std::string Name() const {
    std::string name = operation_.empty() ? "scalar(" : operation_ + "(";
    for (size_t i = 0; i < buffers_.size(); ++i) name += (i == 0 ? "" : ", ") + buffers_[i];
    return name + ")";
  }

 private:
  void Visit(const ObjectRef& node) {
    if (const auto* block = node.as<SBlockNode>()) {
      operation_ = block->name_hint;
      std::ranges::transform(operation_, operation_.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    } else if (const auto* call = node.as<CallNode>(); call != nullptr && operation_.empty()) {
      if (const auto* op = call->op.as<tvm::OpNode>()) {
        const std::string name = op->name;
        operation_ = name.substr(name.rfind('.') + 1);
      }
    } else if (const auto* load = node.as<BufferLoadNode>()) {
      AddBuffer(load->buffer);
    } else if (const auto* store = node.as<BufferStoreNode>()) {
      AddBuffer(store->buffer);
    }
  }

  void AddBuffer(const Buffer& buffer) {
    const std::string name = buffer->name;
    if (std::ranges::find(buffers_, name) == buffers_.end()) buffers_.push_back(name);
  }

  std::string operation_;
  std::vector<std::string> buffers_;
};

String NameOf(const Unit& unit) {
  if (const Loop* loop = unit.loop()) return "loop " + loop->loop->loop_var->name_hint;
  return UnitNamer(unit.marker).Name();
}

Object DescribeList(const std::vector<Unit>& units, const ForNode* loop) {
  Array<Any> tasks;
  Array<Any> places;
  for (const Unit& unit : units) {
    tasks.push_back(NameOf(unit));
    places.push_back(String(PlaceOf(unit.marker)));
  }
  Object list;
  list.Set("name", loop == nullptr ? String("top level") : String(loop->loop_var->name_hint));
  list.Set("loop", loop != nullptr);
  // The extent of a `while` stands in for one that nobody knows.
  const bool counted = loop != nullptr && loop->annotations.count(attrs::kSyntheticWhile) == 0;
  const int64_t* trips = counted ? as_const_int(loop->extent) : nullptr;
  list.Set("trips", trips == nullptr ? Any() : Any(*trips));
  list.Set("tasks", tasks);
  list.Set("places", places);
  return list;
}

// The lists in the loops among `units`, inner ones first.
void AddLoops(const std::vector<Unit>& units, Array<Any>* lists) {
  for (const Unit& unit : units) {
    const Loop* loop = unit.loop();
    if (loop == nullptr) continue;
    AddLoops(loop->body, lists);
    lists->push_back(DescribeList(loop->body, loop->loop.get()));
  }
}

// The lists of units of a function's kernels as JSON: those in loops before those around them, a
// kernel's outermost list last. Nothing of a kernel that has no units.
String DescribeUnits(const PrimFunc& function) {
  Array<Any> lists;
  RewriteKernels(function, [&lists](const SBlock& root, const KernelPlace&) {
    if (HasUnits(root->body)) {
      const std::vector<Unit> units = DecodeUnits(root->body);
      AddLoops(units, &lists);
      lists.push_back(DescribeList(units, nullptr));
    }
    return Stmt(root);
  });
  return tvm::ffi::json::Stringify(lists);
}

// The on-chip buffers of a function's kernels as JSON, each storage once, with the versions that
// AutoSchedule chose and the bytes of all of them. Buffers of no constant size are left out.
String DescribeBuffers(const PrimFunc& function) {
  Array<Any> found;
  RewriteKernels(function, [&found](const SBlock& root, const KernelPlace&) {
    Map<Var, Any> versions;
    if (const auto chosen = root->annotations.Get(attrs::kBufferVersions)) {
      versions = chosen.value().cast<Map<Var, Any>>();
    }
    std::vector<const VarNode*> seen;
    for (const Buffer& buffer : root->alloc_buffers) {
      const Scope scope = ParseScope(std::string(buffer.scope()));
      if (!IsOnChip(scope) || std::ranges::find(seen, buffer->data.get()) != seen.end()) continue;
      seen.push_back(buffer->data.get());
      const std::optional<int64_t> bytes = BufferBytes(buffer);
      if (!bytes.has_value()) continue;
      const auto given = versions.Get(buffer->data);
      const int64_t count = given.has_value() ? given.value().cast<int64_t>() : 1;
      Object row;
      row.Set("name", buffer->name);
      row.Set("scope", String(ScopeName(scope)));
      row.Set("versions", count);
      row.Set("bytes", count * *bytes);
      found.push_back(row);
    }
    return Stmt(root);
  });
  return tvm::ffi::json::Stringify(found);
}

}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef()
      .def("tl.ascend_sched.units", DescribeUnits)
      .def("tl.ascend_sched.buffers", DescribeBuffers);
}

}  // namespace tilelang_ascend_sched
