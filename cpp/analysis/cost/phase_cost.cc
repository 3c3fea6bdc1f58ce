#include "analysis/cost/phase_cost.h"

#include <ascend/op/builtin.h>
#include <tvm/ffi/error.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>
#include <optional>

#include "analysis/extents.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

bool IsWait(const CallNode* call) {
  return call != nullptr && call->op.same_as(tvm::tl::ascend_cross_core_wait_flag());
}

int CountWaits(const Stmt& stmt) {
  int count = 0;
  PostOrderVisit(
      stmt, [&count](const tvm::ffi::ObjectRef& node) { count += IsWait(node.as<CallNode>()); });
  return count;
}

Cost Sum(const Cost& a, const Cost& b) {
  return {AddCycles(a.latency, b.latency), AddCycles(a.ii, b.ii)};
}

Cost Product(const Cost& cost, int64_t times) {
  return {MultiplyCycles(cost.latency, times), MultiplyCycles(cost.ii, times)};
}

// A piece of the body, cut where it waits: what may still run beside what stands before it, what
// may run beside what comes after it, and the whole phases in between. Without a wait there is one
// phase only, `first`.
struct Phases {
  Cost first;
  bool waits = false;
  Cost between;
  Cost last;
};

Phases OnePhase(const Cost& cost) { return {cost, false, {}, {}}; }

Phases Joined(const Phases& a, const Phases& b) {
  if (!a.waits) {
    Phases joined = b;
    joined.first = Either(a.first, b.first);
    return joined;
  }
  Phases joined = a;
  if (!b.waits) {
    joined.last = Either(a.last, b.first);
    return joined;
  }
  joined.between = Sum(Sum(a.between, Either(a.last, b.first)), b.between);
  joined.last = b.last;
  return joined;
}

// Iterations of a loop follow each other on a core: what ends one and what begins the next add up.
Phases Looped(const Phases& body, int64_t times) {
  if (times <= 0) return {};
  Phases looped = body;
  if (!body.waits) {
    looped.first = Product(body.first, times);
    return looped;
  }
  looped.between =
      Sum(Product(body.between, times), Product(Sum(body.last, body.first), times - 1));
  return looped;
}

class PhaseFinder {
 public:
  PhaseFinder(const CandidateCosts& candidates, const Facts& facts, int64_t unknown_trips)
      : candidates_(candidates), facts_(facts), unknown_trips_(unknown_trips) {}

  int waits = 0;

  Phases Find(const Stmt& stmt) {
    if (const auto* sequence = stmt.as<SeqStmtNode>()) {
      Phases phases;
      for (const Stmt& inner : sequence->seq) phases = Joined(phases, Find(inner));
      return phases;
    }
    if (const auto* attr = stmt.as<AttrStmtNode>()) {
      const auto candidate = candidates_.find(attr);
      return candidate != candidates_.end() ? OnePhase(candidate->second) : Find(attr->body);
    }
    if (const auto* evaluate = stmt.as<EvaluateNode>()) {
      if (!IsWait(evaluate->value.as<CallNode>())) return {};
      ++waits;
      return Phases{{}, true, {}, {}};
    }
    if (const auto* loop = stmt.as<ForNode>()) return FindInLoop(loop);
    if (const auto* forever = stmt.as<WhileNode>()) {
      return Looped(Find(forever->body), unknown_trips_);
    }
    if (const auto* branch = stmt.as<IfThenElseNode>()) return FindInBranch(branch);
    if (const auto* block = stmt.as<SBlockNode>()) return Find(block->body);
    if (const auto* realize = stmt.as<SBlockRealizeNode>()) return Find(realize->block);
    return {};
  }

 private:
  Phases FindInLoop(const ForNode* loop) {
    if (loop->kind != ForKind::kSerial && loop->kind != ForKind::kUnrolled) {
      TVM_FFI_THROW(InternalError) << "Control flow selecting T.Task candidates must use a serial "
                                      "or unrolled loop, but the loop over "
                                   << loop->loop_var << " is neither";
    }
    return Looped(Find(loop->body), TripCount(loop, unknown_trips_, &facts_));
  }

  Phases FindInBranch(const IfThenElseNode* branch) {
    const Phases taken = Find(branch->then_case);
    const Phases other = branch->else_case.has_value() ? Find(branch->else_case.value()) : Phases{};
    if (taken.waits || other.waits) {
      TVM_FFI_THROW(InternalError)
          << "Inter-core synchronization inside T.PerCoreTask must be outside conditional control "
             "flow, but stands under `if "
          << branch->condition << "`";
    }
    return OnePhase(Either(taken.first, other.first));
  }

  const CandidateCosts& candidates_;
  FactAnalyzer facts_;
  const int64_t unknown_trips_;
};

}  // namespace

Cost CostOfPerCoreTask(const Stmt& body, const CandidateCosts& candidates, const Facts& facts,
                       const Machine& machine) {
  PhaseFinder finder(candidates, facts, machine.unknown_trips);
  const Phases phases = finder.Find(body);
  if (finder.waits != CountWaits(body)) {
    TVM_FFI_THROW(InternalError)
        << "an inter-core wait inside T.PerCoreTask must be a statement of "
           "its own: "
        << body;
  }
  Cost cost = phases.first;
  if (phases.waits) {
    cost = Sum(Sum(cost, phases.between), phases.last);
    cost.ii = cost.latency;
  }
  cost.ii = std::max<int64_t>(cost.ii, 1);
  return cost;
}

}  // namespace tilelang_ascend_sched
