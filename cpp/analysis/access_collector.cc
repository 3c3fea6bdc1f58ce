#include "analysis/access_collector.h"

#include <ascend/op/builtin.h>
#include <op/builtin.h>
#include <tvm/ffi/error.h>
#include <tvm/ir/cast.h>
#include <tvm/s_tir/stmt.h>
#include <tvm/tirx/builtin.h>
#include <tvm/tirx/op.h>

#include <algorithm>
#include <string_view>

#include "analysis/core_state.h"
#include "analysis/extents.h"
#include "analysis/l1_gemm.h"
#include "analysis/tile_operation.h"
#include "ir/attrs.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::Downcast;
using tvm::IntImm;
using tvm::IntImmNode;
using tvm::PrimExpr;
using tvm::Range;
using tvm::ffi::Array;

namespace {

constexpr int64_t kReads = 1;
constexpr int64_t kWrites = 2;

// Calls that add offsets of their own to a pointer, which its extent does not tell.
constexpr std::string_view kAddressing[] = {"tl.simd.vgatherb", "tl.simd.vgather2",
                                            "tl.simd.vscatter", "tl.simd.vsstb"};

std::string_view NameOf(const CallNode* call) {
  const auto* op = call->op.as<tvm::OpNode>();
  return op == nullptr ? std::string_view() : std::string_view(op->name.data(), op->name.size());
}

bool AddsOffsets(const CallNode* call, std::string_view name) {
  // vld2(address, distribution[, offset])
  if (name == "tl.simd.vld2") return call->args.size() > 2;
  return std::ranges::find(kAddressing, name) != std::end(kAddressing);
}

// A pointer to one element that is kept in a variable is one that is moved on; its user may as well
// name all that it will come to (`T.simd.make_ubuf_ptr`).
bool MayMoveOn(const PrimExpr& kept) {
  const auto* call = kept.as<CallNode>();
  return kept.dtype().is_handle() && call != nullptr && call->op.same_as(tvm::tl::access_ptr()) &&
         call->args.size() >= 3 && is_one(call->args[1]);
}

int64_t MaskOf(const PrimExpr& arg) {
  const auto* mask = arg.as<IntImmNode>();
  if (mask == nullptr) TVM_FFI_THROW(InternalError) << "an access mask must be constant: " << arg;
  return mask->value;
}

// A vector index as a scalar one in terms of the lane's number. Fails for lanes that follow no
// line, such as those loaded from memory.
class LaneIndex : public ExprMutator {
 public:
  explicit LaneIndex(Var lane) : lane_(std::move(lane)) {}
  bool failed() const { return failed_; }

 private:
  PrimExpr VisitExpr(const PrimExpr& expr) final {
    if (expr.dtype().is_scalar() || failed_) return expr;
    if (const auto* ramp = expr.as<RampNode>()) {
      return ramp->base + cast(ramp->base.dtype(), lane_) * ramp->stride;
    }
    if (const auto* broadcast = expr.as<BroadcastNode>()) return broadcast->value;
    if (expr.as<AddNode>() || expr.as<SubNode>() || expr.as<MulNode>()) {
      return ExprMutator::VisitExpr(expr);
    }
    failed_ = true;
    return expr;
  }

  const Var lane_;
  bool failed_ = false;
};

}  // namespace

std::vector<Access> AccessCollector::Take() {
  if (leaves_loop_) {
    for (Access& access : accesses_) access.exact = false;
  }
  return std::move(accesses_);
}

PrimExpr AccessCollector::Unbound(PrimExpr expr) const {
  while (!bindings_.empty()) {
    PrimExpr opened = Substitute(expr, bindings_);
    if (opened.same_as(expr)) return expr;
    expr = std::move(opened);
  }
  return expr;
}

std::vector<Iterator> AccessCollector::IteratorsOf(const std::vector<PrimExpr>& exprs) const {
  std::vector<PrimExpr> users = exprs;
  std::vector<Iterator> found;
  for (auto iterator = iterators_.rbegin(); iterator != iterators_.rend(); ++iterator) {
    auto uses = [&](const PrimExpr& expr) {
      return UsesVar(expr, [&](const VarNode* var) { return var == iterator->var.get(); });
    };
    if (std::ranges::none_of(users, uses)) continue;
    found.insert(found.begin(), *iterator);
    users.push_back(iterator->range->min);
    users.push_back(iterator->range->extent);
  }
  return found;
}

void AccessCollector::AddMemory(int64_t mask, const Buffer& buffer, const Box& box, Access access) {
  if (box.size() != buffer->shape.size()) {
    TVM_FFI_THROW(InternalError) << buffer->name << " has " << buffer->shape.size()
                                 << " dimensions, but " << box.size()
                                 << " indices are given for it";
  }
  access.storage = Storage::Memory(buffer->data);
  access.exact = access.exact && may_end_early_ == 0;
  access.local = allocated_.count(buffer->data.get()) != 0;
  access.region.buffer = buffer;
  std::vector<PrimExpr> exprs;
  for (const Range& range : box) {
    access.region.box.push_back(Range::FromMinExtent(Unbound(range->min), Unbound(range->extent)));
    exprs.push_back(access.region.box.back()->min);
    exprs.push_back(access.region.box.back()->extent);
  }
  for (const PrimExpr& guard : guards_) {
    access.guards.push_back(Unbound(guard));
    exprs.push_back(access.guards.back());
  }
  std::vector<Iterator> lanes = std::exchange(access.region.iterators, {});
  access.region.iterators = IteratorsOf(exprs);
  access.region.iterators.insert(access.region.iterators.end(), lanes.begin(), lanes.end());
  for (const bool write : {false, true}) {
    if ((mask & (write ? kWrites : kReads)) == 0) continue;
    access.write = write;
    accesses_.push_back(access);
  }
  if (const char* bytes = TemplateBytes(MemoryOf(buffer))) AddState(bytes, /*write=*/false);
}

void AccessCollector::AddWholeStorage(int64_t mask, const Var& data) {
  Access access;
  access.storage = Storage::Memory(data);
  access.declared = access.exact = access.bounded = false;
  access.local = allocated_.count(data.get()) != 0;
  for (const bool write : {false, true}) {
    if ((mask & (write ? kWrites : kReads)) == 0) continue;
    access.write = write;
    accesses_.push_back(access);
  }
  if (const auto* type = data->type_annotation.as<tvm::PointerTypeNode>()) {
    const char* bytes = TemplateBytes(ParseScope(std::string(type->storage_scope)));
    if (bytes != nullptr) AddState(bytes, /*write=*/false);
  }
}

void AccessCollector::AddState(std::string name, bool write, int64_t window) {
  Access access;
  access.storage = Storage::State(std::move(name));
  access.write = write;
  access.declared = false;
  access.window = window;
  const bool known = std::ranges::any_of(accesses_, [&](const Access& other) {
    return other.storage == access.storage && other.write == write && other.window == window;
  });
  if (!known) accesses_.push_back(std::move(access));
}

void AccessCollector::AddBinding(const Var& var, bool write) {
  Access access;
  access.storage = Storage::Binding(var);
  access.write = write;
  access.declared = false;
  accesses_.push_back(std::move(access));
}

AccessCollector::Box AccessCollector::PointBox(const Buffer& buffer, const Array<PrimExpr>& indices,
                                               Access* access) {
  Box box;
  for (size_t i = 0; i < indices.size(); ++i) {
    PrimExpr index = Unbound(indices[i]);
    const tvm::DataType dtype = index.dtype();
    if (!dtype.is_scalar()) {
      const Var lane("lane" + std::to_string(lanes_++), dtype.element_of());
      LaneIndex scalar(lane);
      index = scalar(index);
      if (scalar.failed()) {
        access->exact = false;
        box.push_back(Range::FromMinExtent(make_zero(dtype.element_of()), buffer->shape[i]));
        continue;
      }
      const Range lanes =
          Range::FromMinExtent(make_zero(lane.dtype()), make_const(lane.dtype(), dtype.lanes()));
      access->region.iterators.push_back({lane, lanes, Iterator::Kind::kLane});
    }
    box.push_back(Range::FromMinExtent(index, make_const(index.dtype(), 1)));
  }
  return box;
}

// The run fills inner dimensions before it goes on in outer ones.
AccessCollector::Box AccessCollector::RunBox(const BufferLoadNode* load, const PrimExpr& extent,
                                             Access* access) const {
  auto stays = [&](const PrimExpr& condition) {
    const PrimExpr opened = Unbound(condition);
    access->stays = access->stays.defined() ? access->stays && opened : opened;
  };
  const Array<PrimExpr>& shape = load->buffer->shape;
  std::vector<Range> box(shape.size());
  const auto* elements = extent.as<IntImmNode>();
  const bool placed = elements != nullptr && load->indices.size() == shape.size();
  // Steps along the dimension at hand; nothing can be told where the place is not known.
  int64_t steps = placed ? elements->value : 0;
  for (size_t i = shape.size(); i-- > 0;) {
    const auto* length = shape[i].as<IntImmNode>();
    const PrimExpr one = make_const(shape[i].dtype(), 1);
    if (placed && steps <= 1) {
      box[i] = Range::FromMinExtent(load->indices[i], one);
    } else if (placed && length != nullptr && steps < length->value) {
      box[i] = Range::FromMinExtent(load->indices[i], IntImm(load->indices[i].dtype(), steps));
      if (i > 0) stays(load->indices[i] + IntImm(load->indices[i].dtype(), steps) <= shape[i]);
      steps = 1;
    } else {
      if (placed && i > 0) stays(load->indices[i] == 0);
      box[i] = Range::FromMinExtent(make_zero(shape[i].dtype()), shape[i]);
      steps = placed && length != nullptr ? (steps + length->value - 1) / length->value : 1;
    }
  }
  return Box(box.begin(), box.end());
}

// tl.tileop.region(load of the first element, mask, extents...)
void AccessCollector::VisitRegion(const CallNode* op) {
  const auto* load = op->args[0].as<BufferLoadNode>();
  if (load == nullptr) {
    TVM_FFI_THROW(InternalError) << "a tile region must begin with an element, got " << op->args[0];
  }
  Box box;
  for (size_t i = 0; i < load->indices.size(); ++i) {
    const PrimExpr& index = load->indices[i];
    const bool has_extent = op->args.size() > 2 + i;
    box.push_back(Range::FromMinExtent(
        index, has_extent ? op->args[2 + i] : PrimExpr(make_const(index.dtype(), 1))));
  }
  const size_t first = accesses_.size();
  AddMemory(MaskOf(op->args[1]), load->buffer, box);
  for (size_t i = first; i < accesses_.size(); ++i) {
    // A state that comes with the buffer is no operand.
    if (accesses_[i].region.buffer.defined()) operands_.push_back(i);
  }
  for (const PrimExpr& index : load->indices) VisitExpr(index);
  for (size_t i = 2; i < op->args.size(); ++i) VisitExpr(op->args[i]);
}

// tl.access_ptr(load of the first element, extent, mask)
void AccessCollector::VisitPointer(const CallNode* op, const BufferLoadNode* load) {
  Access access;
  // An instruction may leave elements out, by a mask or by its form of distribution.
  access.exact = false;
  access.bounded = !unbounded_;
  const Box box = RunBox(load, op->args[1], &access);
  AddMemory(MaskOf(op->args[2]), load->buffer, box, std::move(access));
  for (const PrimExpr& index : load->indices) VisitExpr(index);
  VisitExpr(op->args[1]);
}

// tvm_access_ptr(type, data, offset, extent, mask)
void AccessCollector::VisitFlatPointer(const CallNode* op) {
  const auto* mask = op->args[4].as<IntImmNode>();
  if (auto data = op->args[1].as<Var>()) {
    AddWholeStorage(mask == nullptr ? kReads | kWrites : mask->value, *data);
  }
  VisitExpr(op->args[2]);
  VisitExpr(op->args[3]);
}

// tl.tileop.reduce(source, target, ...): the other operands are no accesses.
void AccessCollector::VisitReduce(const CallNode* op) {
  for (size_t i = 0; i < std::min<size_t>(op->args.size(), 2); ++i) {
    if (const auto* load = op->args[i].as<BufferLoadNode>()) {
      Access access;
      const Box box = PointBox(load->buffer, load->indices, &access);
      operands_.push_back(accesses_.size());
      AddMemory(i == 0 ? kReads : kWrites, load->buffer, box, std::move(access));
    } else {
      VisitExpr(op->args[i]);
    }
  }
}

void AccessCollector::VisitArguments(const CallNode* op) {
  const std::string_view name = NameOf(op);
  const bool outside = std::exchange(unbounded_, unbounded_ || AddsOffsets(op, name));
  if (name == "tl.tileop.reduce") {
    VisitReduce(op);
  } else if (op->op.same_as(builtin::if_then_else())) {
    VisitExpr(op->args[0]);
    Under(op->args[0], [&] { VisitExpr(op->args[1]); });
    Under(!op->args[0], [&] { VisitExpr(op->args[2]); });
  } else if (op->op.same_as(builtin::address_of())) {
    // Nobody says how far the pointer is followed.
    if (const auto* load = op->args[0].as<BufferLoadNode>()) {
      AddWholeStorage(kReads | kWrites, load->buffer->data);
    }
    StmtExprVisitor::VisitExpr_(op);
  } else {
    StmtExprVisitor::VisitExpr_(op);
  }
  unbounded_ = outside;
}

void AccessCollector::ApplyOperandUses(const CallNode* op, const std::vector<size_t>& operands) {
  const std::vector<OperandUse> uses = OperandUses(op);
  if (uses.empty()) return;
  auto matches = [](const Access& access, const OperandUse& use) {
    return access.write == use.write && access.region.buffer.same_as(use.region->buffer);
  };
  for (const size_t operand : operands) {
    Access& access = accesses_[operand];
    const auto use = std::ranges::find_if(
        uses, [&](const OperandUse& candidate) { return matches(access, candidate); });
    if (use == uses.end()) {
      access.guards.push_back(tvm::Bool(false));
    } else {
      if (use->condition.defined()) access.guards.push_back(Unbound(use->condition));
      access.bounded = access.bounded && use->bounded;
    }
  }
  for (const OperandUse& use : uses) {
    const bool known = std::ranges::any_of(
        operands, [&](size_t operand) { return matches(accesses_[operand], use); });
    if (known) continue;
    Access access;
    access.declared = false;
    access.bounded = use.bounded;
    auto add = [&] {
      AddMemory(use.write ? kWrites : kReads, use.region->buffer, use.region->region, access);
    };
    use.condition.defined() ? Under(use.condition, add) : add();
  }
}

void AccessCollector::AddTemplate(const CallNode* op) {
  const auto slots = TemplateSlotsOf(op);
  if (!slots.has_value()) return;
  AddState(TemplateBytes(Scope::kL0A), /*write=*/true, slots->l0a);
  AddState(TemplateBytes(Scope::kL0B), /*write=*/true, slots->l0b);
  AddState(kLocks, /*write=*/true, /*window=*/1);
}

void AccessCollector::VisitExpr_(const CallNode* op) {
  static const tvm::Op hint = tvm::Op::Get(attrs::kConflictHintOp);
  if (op->op.same_as(hint)) return;
  if (op->op.same_as(tvm::tl::region()) && op->args.size() >= 2) return VisitRegion(op);
  if (op->op.same_as(tvm::tl::access_ptr()) && op->args.size() >= 3) {
    const auto* load = op->args[0].as<BufferLoadNode>();
    if (load != nullptr && op->args[2].as<IntImmNode>() != nullptr) return VisitPointer(op, load);
  }
  if (op->op.same_as(builtin::tvm_access_ptr()) && op->args.size() == 5) {
    return VisitFlatPointer(op);
  }
  std::vector<size_t> outer = std::exchange(operands_, {});
  VisitArguments(op);
  const std::vector<size_t> operands = std::exchange(operands_, std::move(outer));
  ApplyOperandUses(op, operands);
  AddTemplate(op);
  for (const StateUse& use : StatesOf(op)) AddState(use.name, use.write);
  leaves_loop_ = leaves_loop_ || op->op.same_as(tvm::tl::loop_break());
}

void AccessCollector::VisitExpr_(const BufferLoadNode* op) {
  Access access;
  const Box box = PointBox(op->buffer, op->indices, &access);
  AddMemory(kReads, op->buffer, box, std::move(access));
  StmtExprVisitor::VisitExpr_(op);
}

void AccessCollector::VisitExpr_(const VarNode* op) {
  if (op->dtype.is_handle()) {
    AddWholeStorage(kReads | kWrites, tvm::ffi::GetRef<Var>(op));
  } else if (bindings_.count(op) == 0 && bindings_read_.insert(op).second) {
    AddBinding(tvm::ffi::GetRef<Var>(op), /*write=*/false);
  }
}

void AccessCollector::VisitStmt_(const BufferStoreNode* op) {
  Access access;
  access.exact = !op->predicate.has_value();
  const Box box = PointBox(op->buffer, op->indices, &access);
  AddMemory(kWrites, op->buffer, box, std::move(access));
  const bool outside = std::exchange(unbounded_, unbounded_ || MayMoveOn(op->value));
  StmtExprVisitor::VisitStmt_(op);
  unbounded_ = outside;
}

void AccessCollector::VisitStmt_(const ForNode* op) {
  VisitExpr(op->min);
  VisitExpr(op->extent);
  PrimExpr extent = Unbound(op->extent);
  // Values between the steps are left out by a multiple of the step, not by the range.
  const bool stepped = op->step.has_value() && !is_one(op->step.value());
  iterators_.push_back({op->loop_var, Range::FromMinExtent(Unbound(op->min), extent)});
  if (stepped) {
    VisitExpr(op->step.value());
    guards_.push_back(floormod(op->loop_var - op->min, op->step.value()) == 0);
  }
  VisitStmt(op->body);
  if (stepped) guards_.pop_back();
  iterators_.pop_back();
}

void AccessCollector::VisitStmt_(const WhileNode* op) {
  VisitExpr(op->condition);
  ++may_end_early_;
  VisitStmt(op->body);
  --may_end_early_;
}

template <typename Visit>
void AccessCollector::Under(const PrimExpr& condition, Visit visit) {
  guards_.push_back(condition);
  visit();
  guards_.pop_back();
}

void AccessCollector::VisitStmt_(const IfThenElseNode* op) {
  VisitExpr(op->condition);
  Under(op->condition, [&] { VisitStmt(op->then_case); });
  if (op->else_case.has_value()) {
    Under(!op->condition, [&] { VisitStmt(op->else_case.value()); });
  }
}

void AccessCollector::VisitStmt_(const BindNode* op) {
  VisitExpr(op->value);
  bindings_[op->var.get()] = op->value;
  AddBinding(op->var, /*write=*/true);
}

void AccessCollector::VisitStmt_(const AttrStmtNode* op) {
  // Assumptions stand in an attribute's node, where the walk of statements does not go.
  if (op->attr_key == attr::tilelang_assume || op->attr_key == attrs::kAssumeRuntimeCheck) {
    if (auto condition = op->node.try_cast<PrimExpr>()) VisitExpr(*condition);
  }
  const bool launch =
      op->attr_key == attr::thread_extent || op->attr_key == tvm::s_tir::attr::virtual_thread;
  if (launch) {
    const auto thread = Downcast<IterVar>(op->node);
    const Range range = Range::FromMinExtent(make_zero(op->value.dtype()), op->value);
    iterators_.push_back({thread->var, range, Iterator::Kind::kThread});
  }
  StmtExprVisitor::VisitStmt_(op);
  if (launch) iterators_.pop_back();
}

void AccessCollector::VisitStmt_(const AllocBufferNode* op) {
  allocated_.insert(op->buffer->data.get());
}

void AccessCollector::VisitStmt_(const SBlockNode* op) {
  for (const Buffer& buffer : op->alloc_buffers) allocated_.insert(buffer->data.get());
  StmtExprVisitor::VisitStmt_(op);
}

}  // namespace tilelang_ascend_sched
