// The analysis as JSON, for the command `deps` and for tests.

#include <tvm/ffi/extra/json.h>
#include <tvm/ffi/reflection/registry.h>
#include <tvm/tirx/function.h>
#include <tvm/tirx/op.h>

#include <memory>
#include <string>

#include "analysis/accesses.h"
#include "analysis/dependence/dependences.h"
#include "analysis/extents.h"
#include "analysis/task_resources.h"
#include "hw/load.h"
#include "ir/kernels.h"
#include "ir/task_tree.h"
#include "report/error.h"
#include "report/place.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::ffi::Any;
using tvm::ffi::Array;
using tvm::ffi::Map;
using tvm::ffi::String;

namespace {

using Object = Map<String, Any>;

Any OrNull(const std::optional<int64_t>& value) { return value.has_value() ? Any(*value) : Any(); }

// The cores whose own memories are accessed.
CoreMask CoresOf(const Accesses& accesses) {
  CoreMask cores = 0;
  for (const auto* regions : {&accesses.reads, &accesses.writes}) {
    for (const BufferRegion& region : *regions) {
      const Scope scope = MemoryOf(region->buffer);
      if (scope == Scope::kUB) cores |= kAiv;
      if (scope == Scope::kL1 || scope == Scope::kL0A || scope == Scope::kL0B ||
          scope == Scope::kL0C) {
        cores |= kAic;
      }
    }
  }
  return cores;
}

// Work between memories of one core belongs to that core; scalar work to any.
CoreMask CoresOf(const Task& task, const TaskResources& resources, const Accesses& accesses) {
  const TaskMarks marks = task.marks();
  if (marks.cores.has_value()) return *marks.cores;
  CoreMask cores = CoresWith(resources);
  if (cores == 0) cores = CoresOf(accesses);
  return cores == 0 ? CoreMask{kAnyCore} : cores;
}

// Bytes of all boxes, at most; null where nothing bounds one of them.
Any BytesOf(const std::vector<BufferRegion>& regions, FactAnalyzer* facts) {
  int64_t bytes = 0;
  for (const BufferRegion& region : regions) {
    const ElementBound bound = BoundElements(region->buffer, region->region, facts);
    if (!bound.reliable) return Any();
    bytes += tilelang_ascend_sched::BytesOf(bound.elements, region->buffer->dtype);
  }
  return bytes;
}

void DescribeTask(const Leaf& leaf, const Machine& machine, Object* described) {
  const Task& task = *leaf.unit->task();
  const TaskResources resources = ResourcesOf(task.body(), machine);
  const TaskMarks marks = task.marks();
  const Accesses accesses = AccessesOf(task.body());
  FactAnalyzer facts(leaf.facts);
  described->Set("pipe", String(PipeNames(resources.pipes)));
  described->Set("core", String(CoreNames(CoresOf(task, resources, accesses))));
  described->Set("latency", OrNull(marks.latency));
  described->Set("ii", OrNull(marks.interval));
  described->Set("read", BytesOf(accesses.reads, &facts));
  described->Set("written", BytesOf(accesses.writes, &facts));
}

Object DescribeLeaf(const Leaf& leaf, const Machine& machine) {
  Object described;
  const Stmt stmt = leaf.unit->task() ? leaf.unit->task()->body() : Stmt(leaf.unit->loop()->loop);
  described.Set("name", String(Brief(stmt)));
  described.Set("body", static_cast<int64_t>(leaf.region.back()));
  described.Set("unit", static_cast<int64_t>(leaf.place.back()));
  described.Set("loop", leaf.unit->loop() != nullptr);
  Array<Any> guards;
  for (const Guard& guard : leaf.unit->guards) {
    if (guard.condition().defined()) guards.push_back(String(Text(guard.condition())));
  }
  described.Set("guards", guards);
  if (leaf.unit->task() != nullptr) DescribeTask(leaf, machine, &described);
  return described;
}

Object DescribeBody(const Places& places, const Body& body, const BodyDependences& found) {
  Object described;
  const std::string name = body.loop ? std::string(body.loop->loop->loop_var->name_hint) : "kernel";
  described.Set("name", String(name));
  described.Set("parent", body.parent ? Any(static_cast<int64_t>(*body.parent)) : Any());
  described.Set("unit", static_cast<int64_t>(body.place));
  const int64_t* extent = body.loop ? as_const_int(body.loop->loop->extent) : nullptr;
  const bool counted = body.loop && body.loop->loop->annotations.count(attrs::kSyntheticWhile) == 0;
  described.Set("trips", extent && counted ? Any(*extent) : Any());
  Array<Any> edges;
  for (const Dependence& edge : found.edges) {
    auto unit = [&](size_t leaf) {
      return static_cast<int64_t>(places.leaves[leaf].place[body.depth]);
    };
    Object row;
    row.Set("from", static_cast<int64_t>(edge.from));
    row.Set("to", static_cast<int64_t>(edge.to));
    row.Set("from_unit", unit(edge.from));
    row.Set("to_unit", unit(edge.to));
    row.Set("kind", String(KindName(edge.kind)));
    row.Set("storage", String(edge.storage));
    row.Set("distance", edge.distance ? Any(*edge.distance) : Any(String("versions")));
    edges.push_back(row);
  }
  described.Set("edges", edges);
  described.Set("questions", found.tally.questions);
  described.Set("unproven", found.tally.unproven);
  return described;
}

Object Describe(const SBlock& root, const Facts& outer) {
  const std::shared_ptr<const Machine> machine = CurrentMachine();
  const std::vector<Unit> units = DecodeUnits(root->body);
  const Places places = FindPlaces(units, *machine, outer);
  const std::vector<BodyDependences> found = FindDependences(places, root);
  Array<Any> tasks;
  for (const Leaf& leaf : places.leaves) tasks.push_back(DescribeLeaf(leaf, *machine));
  Array<Any> bodies;
  for (size_t i = 0; i < found.size(); ++i) {
    bodies.push_back(DescribeBody(places, places.bodies[i], found[i]));
  }
  Object described;
  described.Set("tasks", tasks);
  described.Set("bodies", bodies);
  return described;
}

// A list of kernels as JSON, in the order in which the function launches them.
String DescribeDependences(const PrimFunc& function) {
  Array<Any> kernels;
  RewriteKernels(function, [&](const SBlock& root, const KernelPlace& place) {
    kernels.push_back(Describe(root, place.facts));
    return Stmt(root);
  });
  return tvm::ffi::json::Stringify(kernels);
}

}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef().def("tl.ascend_sched.dependences", DescribeDependences);
}

}  // namespace tilelang_ascend_sched
