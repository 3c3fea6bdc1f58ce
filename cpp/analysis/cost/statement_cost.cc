#include "analysis/cost/statement_cost.h"

#include <tvm/tirx/builtin.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <array>

#include "analysis/accesses.h"
#include "analysis/call_pipes.h"
#include "analysis/cost/copy_work.h"
#include "analysis/cost/cube_work.h"
#include "analysis/cost/vector_work.h"
#include "analysis/extents.h"
#include "analysis/task_resources.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

bool IsSerial(const ForNode* loop) {
  return loop->kind == ForKind::kSerial || loop->kind == ForKind::kUnrolled;
}

// The copies and multiplies of one piece of work. What stands in a block is the block's own affair.
class WorkCollector : public StmtExprVisitor {
 public:
  WorkCollector(const Machine& machine, const CallSet& hf32_calls, FactAnalyzer* facts)
      : machine_(machine), hf32_calls_(hf32_calls), facts_(facts) {}

  std::vector<CopyWork> copies;
  std::vector<CubeWork> multiplies;
  std::vector<std::string> unknown;  // names of operations that the machine does not know

 private:
  void VisitStmt_(const EvaluateNode* op) final {
    if (const auto* call = op->value.as<CallNode>()) AddIfUnknown(call);
    StmtExprVisitor::VisitStmt_(op);
  }

  // What an expression calls is mostly arithmetic, which costs scalar code nothing of note.
  static bool IsExternal(const CallNode* call) {
    return call->op.same_as(builtin::call_extern()) ||
           call->op.same_as(builtin::call_pure_extern());
  }

  void AddIfUnknown(const CallNode* call) {
    if (!IsKnownOperation(call, machine_)) unknown.push_back(OperationName(call));
  }

  void VisitExpr_(const CallNode* op) final {
    if (IsExternal(op)) AddIfUnknown(op);
    if (auto copy = CopyWorkOf(op, facts_)) copies.push_back(*copy);
    const bool hf32 = hf32_calls_.count(op) != 0;
    if (auto multiply = CubeWorkOf(op, hf32, facts_)) multiplies.push_back(*multiply);
    StmtExprVisitor::VisitExpr_(op);
  }

  void VisitStmt_(const SBlockNode*) final {}

  const Machine& machine_;
  const CallSet& hf32_calls_;
  FactAnalyzer* facts_;
};

// The route that an instruction on `pipes` moves data on, told from one of the buffers it accesses.
std::optional<Route> RouteFrom(PipeMask pipes, Scope scope, bool is_read, const Machine& machine) {
  struct Rule {
    Scope scope;
    Route route;
    bool only_read = false;
  };
  constexpr Rule kRules[] = {
      {Scope::kGlobal, Route::kGmToUb, /*only_read=*/true},
      {Scope::kL1, Route::kGmToL1},
      {Scope::kUB, Route::kGmToUb},
      {Scope::kGlobal, Route::kUbToGm},
      {Scope::kL1, Route::kUbToL1},
      {Scope::kL0A, Route::kL1ToL0a},
      {Scope::kL0B, Route::kL1ToL0b},
      {Scope::kScaleA, Route::kL1ToScale},
      {Scope::kScaleB, Route::kL1ToScale},
      {Scope::kBias, Route::kL1ToBias},
      {Scope::kL0C, Route::kL0cToUb, /*only_read=*/true},
      {Scope::kGlobal, Route::kL0cToGm},
      {Scope::kUB, Route::kL0cToUb},
  };
  for (const Rule& rule : kRules) {
    if ((pipes & machine.transfer(rule.route).pipe) == 0 || rule.scope != scope) continue;
    return rule.only_read && !is_read ? std::nullopt : std::optional(rule.route);
  }
  return std::nullopt;
}

// Instructions that are no tile copies say what they move by the regions they access.
void AddInstructionCopies(const Stmt& stmt, PipeMask pipes, const Machine& machine,
                          FactAnalyzer* facts, std::vector<CopyWork>* copies) {
  const Accesses accesses = AccessesOf(stmt);
  for (const auto* regions : {&accesses.reads, &accesses.writes}) {
    for (const BufferRegion& region : *regions) {
      const Buffer& buffer = region->buffer;
      const bool is_read = regions == &accesses.reads;
      const auto route = RouteFrom(pipes, MemoryOf(buffer), is_read, machine);
      if (!route.has_value()) continue;
      CopyWork work{*route};
      work.bytes = BytesOf(BoundElements(buffer, region->region, facts).elements, buffer->dtype);
      copies->push_back(work);
    }
  }
}

// Copies wait for each other's data, but only those on one route wait for each other's issue.
Cost CostOfCopies(const std::vector<CopyWork>& copies, const Machine& machine) {
  std::array<int64_t, kNumRoutes> intervals{};
  Cost cost;
  for (const CopyWork& copy : copies) {
    const TransferCost transfer = CostOf(copy, machine);
    cost.latency = AddCycles(cost.latency, transfer.latency);
    int64_t& interval = intervals[static_cast<size_t>(copy.route)];
    interval = AddCycles(interval, transfer.interval);
    cost.ii = std::max(cost.ii, interval);
  }
  return cost;
}

}  // namespace

Cost StatementCosts::CostOf(const Stmt& stmt, const Facts& facts) {
  Facts inside = facts;
  return Compose(stmt, &inside);
}

Cost StatementCosts::Compose(const Stmt& stmt, Facts* facts) {
  const FactScope scope(facts);
  Cost cost;
  if (const auto* sequence = stmt.as<SeqStmtNode>()) {
    cost = Sequence(sequence, facts);
  } else if (const auto* attr = stmt.as<AttrStmtNode>()) {
    if (attr->attr_key == attr::tilelang_assume) facts->AddAttribute(attr);
    cost = Compose(attr->body, facts);
  } else if (const auto* loop = stmt.as<ForNode>(); loop != nullptr && IsSerial(loop)) {
    cost = Loop(loop, facts);
  } else if (const auto* forever = stmt.as<WhileNode>()) {
    facts->AddCondition(forever->condition);
    cost = Repeated(Compose(forever->body, facts), machine_.unknown_trips);
  } else if (const auto* branch = stmt.as<IfThenElseNode>()) {
    cost = Branch(branch, facts);
  } else {
    cost = Leaf(stmt, *facts);
  }
  return cost;
}

Cost StatementCosts::Sequence(const SeqStmtNode* sequence, Facts* facts) {
  Cost cost;
  for (const Stmt& stmt : sequence->seq) {
    cost = Then(cost, Compose(stmt, facts));
    facts->AddAfter(stmt);
  }
  return cost;
}

Cost StatementCosts::Loop(const ForNode* loop, Facts* facts) {
  FactAnalyzer analyzer(*facts);
  const int64_t count = TripCount(loop, machine_.unknown_trips, &analyzer);
  facts->AddLoop(loop);
  return Repeated(Compose(loop->body, facts), count);
}

Cost StatementCosts::Branch(const IfThenElseNode* branch, Facts* facts) {
  const size_t outside = facts->size();
  facts->AddCondition(branch->condition);
  Cost cost = Compose(branch->then_case, facts);
  facts->Truncate(outside);
  if (branch->else_case.has_value()) {
    facts->AddCondition(!branch->condition);
    cost = Either(cost, Compose(branch->else_case.value(), facts));
  }
  return cost;
}

Cost StatementCosts::Leaf(const Stmt& stmt, const Facts& facts) {
  FactAnalyzer analyzer(facts);
  const PipeMask pipes = ResourcesOf(stmt, machine_).pipes;
  WorkCollector work(machine_, hf32_calls_, &analyzer);
  work(stmt);
  AddUnknown(work.unknown);
  if (work.copies.empty() && (pipes & kDmaPipes) != 0) {
    AddInstructionCopies(stmt, pipes, machine_, &analyzer, &work.copies);
  }
  Cost cost = CostOfCopies(work.copies, machine_);
  int64_t computing = (pipes & kScalar) != 0 && (pipes & kVector) == 0 ? 1 : 0;
  if ((pipes & kVector) != 0) {
    VectorCost vector = VectorCostOf(stmt, machine_, &analyzer);
    computing = std::max(computing, vector.cycles);
    cost.ii = std::max(cost.ii, vector.cycles);
    AddUnknown(vector.unknown);
  }
  if ((pipes & kCube) != 0) {
    const CubeCost cube = tilelang_ascend_sched::CostOf(work.multiplies, machine_.cube);
    computing = std::max(computing, cube.latency);
    cost.ii = std::max(cost.ii, cube.ii);
  }
  cost.latency = AddCycles(cost.latency, computing);
  cost.ii = std::max<int64_t>(cost.ii, 1);
  return cost;
}

void StatementCosts::AddUnknown(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::ranges::find(unknown_, name) == unknown_.end()) unknown_.push_back(name);
  }
}

}  // namespace tilelang_ascend_sched
