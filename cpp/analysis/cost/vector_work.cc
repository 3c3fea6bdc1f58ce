#include "analysis/cost/vector_work.h"

#include <ascend/op/builtin.h>
#include <tvm/ir/expr.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <string_view>
#include <unordered_map>

#include "analysis/accesses.h"
#include "analysis/call_pipes.h"
#include "analysis/cost/cost.h"
#include "analysis/cost/nd2nz_scatter.h"
#include "analysis/extents.h"
#include "hw/name_pattern.h"
#include "hw/transfer_cost.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::OpNode;
using tvm::PrimExpr;

namespace {

constexpr int kNoLoop = -1;

const CallCost* FindCall(const VectorModel& vector, std::string_view name) {
  for (const CallCost& cost : vector.calls) {
    for (const std::string& pattern : cost.names) {
      if (MatchesPattern(pattern, name)) return &cost;
    }
  }
  return nullptr;
}

// Lanes a cycle of an expression that computes something itself; 0 for all others.
int64_t LanesOf(const PrimExpr& expr, const VectorModel& vector) {
  // NOLINTNEXTLINE(readability/braces): the body of a lambda, not of a function
  const auto is = [&expr]<typename... Nodes>() { return (expr->IsInstance<Nodes>() || ...); };
  if (is.operator()<AddNode>()) return vector.add;
  if (is.operator()<SubNode>()) return vector.subtract;
  if (is.operator()<MulNode>()) return vector.multiply;
  if (is.operator()<DivNode, FloorDivNode>()) return vector.divide;
  if (is.operator()<ModNode, FloorModNode>()) return vector.modulo;
  if (is.operator()<MinNode, MaxNode>()) return vector.min_max;
  if (is.operator()<LTNode, LENode, GTNode, GENode, EQNode, NENode>()) return vector.compare;
  if (is.operator()<AndNode, OrNode, NotNode>()) return vector.logic;
  return 0;
}

class OperationCounter : public StmtExprVisitor {
 public:
  explicit OperationCounter(const Machine& machine)
      : vector_(machine.vector), unknown_trips_(machine.unknown_trips) {}

  VectorCost cost;

 private:
  // Visits operands first: `innermost_` then is the deepest loop that the expression depends on.
  void VisitExpr(const PrimExpr& expr) final {
    const int around = innermost_;
    innermost_ = kNoLoop;
    StmtExprVisitor::VisitExpr(expr);
    if (const int64_t lanes = LanesOf(expr, vector_)) Charge(lanes);
    if (const auto* call = expr.as<CallNode>()) ChargeCall(call);
    innermost_ = std::max(innermost_, around);
  }

  void VisitExpr_(const VarNode* op) final {
    const auto loop = loop_of_.find(op);
    if (loop != loop_of_.end()) innermost_ = loop->second;
  }

  // The scatter's pointers are no operations of the body.
  void VisitExpr_(const CallNode* op) final {
    if (!IsScatter(op)) StmtExprVisitor::VisitExpr_(op);
  }

  void Charge(int64_t lanes) {
    int64_t times = 1;
    for (int loop = 0; loop <= innermost_; ++loop) {
      times = SaturatingMultiply(times, trip_counts_[static_cast<size_t>(loop)]);
    }
    Add(std::max<int64_t>(CeilDiv(times, lanes), 1));
  }

  void ChargeCall(const CallNode* call) {
    if (IsScatter(call)) {
      int64_t cycles = ScatterCycles(call, vector_);
      for (const int64_t count : trip_counts_) cycles = MultiplyCycles(cycles, count);
      return Add(cycles);
    }
    const auto* op = call->op.as<OpNode>();
    const std::string name = op != nullptr ? std::string(op->name) : "a function";
    const CallCost* figure = FindCall(vector_, name);
    if (figure == nullptr) {
      Unknown(OperationName(call));
      Add(1);
    } else if (figure->throughput > 0) {
      Charge(figure->throughput);
    } else {
      Add(figure->cycles);
    }
  }

  void Unknown(const std::string& name) {
    if (std::ranges::find(cost.unknown, name) == cost.unknown.end()) cost.unknown.push_back(name);
  }

  void Add(int64_t cycles) { cost.cycles = AddCycles(cost.cycles, cycles); }

  void VisitStmt_(const ForNode* op) final {
    const int64_t* extent = as_const_int(op->extent);
    const int64_t* step = op->step.has_value() ? as_const_int(op->step.value()) : nullptr;
    const bool known = extent != nullptr && (step != nullptr || !op->step.has_value());
    int64_t count = known ? std::max<int64_t>(*extent, 0) : unknown_trips_;
    if (known && step != nullptr && *step > 0) count = CeilDiv(count, *step);
    loop_of_[op->loop_var.get()] = static_cast<int>(trip_counts_.size());
    trip_counts_.push_back(count);
    StmtExprVisitor::VisitStmt_(op);
    trip_counts_.pop_back();
    loop_of_.erase(op->loop_var.get());
  }

  void VisitStmt_(const IfThenElseNode* op) final {
    VisitExpr(op->condition);
    const int64_t before = cost.cycles;
    VisitStmt(op->then_case);
    const int64_t after_then = cost.cycles;
    cost.cycles = before;
    if (op->else_case.has_value()) VisitStmt(op->else_case.value());
    cost.cycles = std::max(cost.cycles, after_then);
  }

  // Attributes and block headers are no work.
  void VisitStmt_(const AttrStmtNode* op) final { VisitStmt(op->body); }
  void VisitStmt_(const SBlockNode* op) final { VisitStmt(op->body); }

  const VectorModel& vector_;
  const int64_t unknown_trips_;
  std::vector<int64_t> trip_counts_;  // of the loops around, outermost first
  std::unordered_map<const VarNode*, int> loop_of_;
  int innermost_ = kNoLoop;
};

// The longest time that the body's blocks were given by hand; 0 if none was.
int64_t GivenLatency(const Stmt& body) {
  class Reader : public StmtVisitor {
   public:
    int64_t latency = 0;

   private:
    void VisitStmt_(const SBlockNode* op) final {
      if (op->name_hint == "SIMT_VF" || op->name_hint == "SIMD_VF") {
        if (const auto given = op->annotations.Get("tl.vf_latency")) {
          const auto* cycles = given.value().as<tvm::IntImmNode>();
          if (cycles != nullptr) latency = std::max(latency, cycles->value);
        }
      }
      StmtVisitor::VisitStmt_(op);
    }
  } reader;
  reader(body);
  return reader.latency;
}

int64_t BytesRead(const Stmt& body, FactAnalyzer* facts) {
  int64_t bytes = 0;
  for (const BufferRegion& region : AccessesOf(body).reads) {
    const Scope scope = MemoryOf(region->buffer);
    const bool scalar = region->buffer.scope() == "local.var";
    if (scope != Scope::kUB && (scope != Scope::kRegister || scalar)) continue;
    const ElementBound bound = BoundElements(region->buffer, region->region, facts);
    bytes = AddCycles(bytes, BytesOf(bound.elements, region->buffer->dtype));
  }
  return bytes;
}

}  // namespace

VectorCost VectorCostOf(const Stmt& body, const Machine& machine, FactAnalyzer* facts) {
  if (const int64_t given = GivenLatency(body)) return {given, {}};
  OperationCounter counter(machine);
  counter(body);
  const int64_t loading = CeilDiv(BytesRead(body, facts), machine.vector.bandwidth);
  counter.cost.cycles = std::max(counter.cost.cycles, loading);
  return std::move(counter.cost);
}

}  // namespace tilelang_ascend_sched
