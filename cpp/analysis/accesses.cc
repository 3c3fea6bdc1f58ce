#include "analysis/accesses.h"

#include <op/builtin.h>
#include <tvm/arith/int_set.h>
#include <tvm/ffi/error.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <unordered_map>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::IntImm;
using tvm::IntImmNode;
using tvm::PrimExpr;
using tvm::Range;
using tvm::arith::IntSet;
using tvm::ffi::Array;

namespace {

constexpr int64_t kReads = 1;
constexpr int64_t kWrites = 2;

// The boxes of one direction, a buffer each, in the order of first use.
class Boxes {
 public:
  void Add(const Buffer& buffer, const std::vector<IntSet>& box) {
    for (Entry& entry : entries_) {
      if (!entry.buffer.same_as(buffer)) continue;
      for (size_t i = 0; i < box.size(); ++i) {
        entry.box[i] = tvm::arith::Union({entry.box[i], box[i]});
      }
      return;
    }
    entries_.push_back({buffer, box});
  }

  std::vector<BufferRegion> Regions() const {
    std::vector<BufferRegion> regions;
    for (const Entry& entry : entries_) {
      Array<Range> ranges;
      for (size_t i = 0; i < entry.box.size(); ++i) {
        ranges.push_back(entry.box[i].CoverRange(Range::FromMinExtent(0, entry.buffer->shape[i])));
      }
      regions.push_back(BufferRegion(entry.buffer, ranges));
    }
    return regions;
  }

 private:
  struct Entry {
    Buffer buffer;
    std::vector<IntSet> box;
  };

  std::vector<Entry> entries_;
};

class AccessCollector : public StmtExprVisitor {
 public:
  Accesses Result() const { return {reads_.Regions(), writes_.Regions()}; }

 private:
  // `expr` without the variables that the statement binds itself.
  PrimExpr Unbound(PrimExpr expr) const {
    while (!bindings_.empty()) {
      PrimExpr opened = Substitute(expr, bindings_);
      if (opened.same_as(expr)) return expr;
      expr = std::move(opened);
    }
    return expr;
  }

  // All values of `index` over the statement's loops.
  IntSet Point(const PrimExpr& index) const {
    return tvm::arith::EvalSet(IntSet::Vector(Unbound(index)), loops_);
  }

  // All values of `extent` consecutive indices from `first`, over the statement's loops.
  IntSet Span(const PrimExpr& first, const PrimExpr& extent) const {
    const IntSet lows = Point(first);
    const auto* length = extent.as<IntImmNode>();
    if (length != nullptr && length->value <= 1) return lows;
    const IntSet highs = Point(first + extent - make_const(first.dtype(), 1));
    return IntSet::Interval(lows.min(), highs.max());
  }

  void Add(int64_t mask, const Buffer& buffer, const std::vector<IntSet>& box) {
    if (box.size() != buffer->shape.size()) {
      TVM_FFI_THROW(InternalError)
          << buffer->name << " has " << buffer->shape.size() << " dimensions, but " << box.size()
          << " indices are given for it";
    }
    if ((mask & kReads) != 0) reads_.Add(buffer, box);
    if ((mask & kWrites) != 0) writes_.Add(buffer, box);
  }

  std::vector<IntSet> Points(const Array<PrimExpr>& indices) const {
    std::vector<IntSet> box;
    for (const PrimExpr& index : indices) box.push_back(Point(index));
    return box;
  }

  // A run of `extent` elements from `load` on in row-major order: it fills inner dimensions before
  // it goes on in outer ones.
  std::vector<IntSet> Run(const BufferLoadNode* load, const PrimExpr& extent) const {
    const Array<PrimExpr>& shape = load->buffer->shape;
    std::vector<IntSet> box(shape.size());
    const auto* elements = extent.as<IntImmNode>();
    const bool placed = elements != nullptr && load->indices.size() == shape.size();
    // Steps along the dimension at hand; 0 once nothing can be told any more.
    int64_t steps = placed ? elements->value : 0;
    for (size_t i = shape.size(); i-- > 0;) {
      const auto* length = shape[i].as<IntImmNode>();
      if (placed && steps <= 1) {
        box[i] = Point(load->indices[i]);
      } else if (placed && length != nullptr && steps < length->value) {
        box[i] = Span(load->indices[i], IntImm(load->indices[i].dtype(), steps));
        steps = 1;
      } else {
        box[i] = IntSet::FromRange(Range::FromMinExtent(0, shape[i]));
        steps = placed && length != nullptr ? (steps + length->value - 1) / length->value : 1;
      }
    }
    return box;
  }

  static int64_t MaskOf(const PrimExpr& arg) {
    const auto* mask = arg.as<IntImmNode>();
    if (mask == nullptr) TVM_FFI_THROW(InternalError) << "an access mask must be constant: " << arg;
    return mask->value;
  }

  // tl.tileop.region(load of the first element, mask, extents...)
  void VisitRegion(const CallNode* op) {
    const auto* load = op->args[0].as<BufferLoadNode>();
    if (load == nullptr) {
      TVM_FFI_THROW(InternalError)
          << "a tile region must begin with an element, got " << op->args[0];
    }
    std::vector<IntSet> box;
    for (size_t i = 0; i < load->indices.size(); ++i) {
      const bool has_extent = op->args.size() > 2 + i;
      box.push_back(has_extent ? Span(load->indices[i], op->args[2 + i]) : Point(load->indices[i]));
    }
    Add(MaskOf(op->args[1]), load->buffer, box);
    for (const PrimExpr& index : load->indices) VisitExpr(index);
    for (size_t i = 2; i < op->args.size(); ++i) VisitExpr(op->args[i]);
  }

  // tl.access_ptr(load of the first element, extent, mask)
  void VisitPointer(const CallNode* op, const BufferLoadNode* load) {
    Add(MaskOf(op->args[2]), load->buffer, Run(load, op->args[1]));
    for (const PrimExpr& index : load->indices) VisitExpr(index);
    VisitExpr(op->args[1]);
  }

  // tl.tileop.reduce(source, target, ...): the other operands are no accesses.
  void VisitReduce(const CallNode* op) {
    for (size_t i = 0; i < std::min<size_t>(op->args.size(), 2); ++i) {
      if (const auto* load = op->args[i].as<BufferLoadNode>()) {
        Add(i == 0 ? kReads : kWrites, load->buffer, Points(load->indices));
      } else {
        VisitExpr(op->args[i]);
      }
    }
  }

  void VisitExpr_(const CallNode* op) final {
    static const tvm::Op reduce = tvm::Op::Get("tl.tileop.reduce");
    if (op->op.same_as(tvm::tl::region()) && op->args.size() >= 2) return VisitRegion(op);
    if (op->op.same_as(reduce)) return VisitReduce(op);
    if (op->op.same_as(tvm::tl::access_ptr()) && op->args.size() >= 3) {
      const auto* load = op->args[0].as<BufferLoadNode>();
      if (load != nullptr && op->args[2].as<IntImmNode>() != nullptr) {
        return VisitPointer(op, load);
      }
    }
    StmtExprVisitor::VisitExpr_(op);
  }

  void VisitExpr_(const BufferLoadNode* op) final {
    Add(kReads, op->buffer, Points(op->indices));
    StmtExprVisitor::VisitExpr_(op);
  }

  void VisitStmt_(const BufferStoreNode* op) final {
    Add(kWrites, op->buffer, Points(op->indices));
    StmtExprVisitor::VisitStmt_(op);
  }

  void VisitStmt_(const ForNode* op) final {
    loops_[op->loop_var.get()] = IntSet::FromRange(Range::FromMinExtent(op->min, op->extent));
    StmtExprVisitor::VisitStmt_(op);
    loops_.erase(op->loop_var.get());
  }

  void VisitStmt_(const BindNode* op) final {
    VisitExpr(op->value);
    bindings_[op->var.get()] = op->value;
  }

  // Assumptions stand in an attribute's node, where the walk of statements does not go.
  void VisitStmt_(const AttrStmtNode* op) final {
    if (op->attr_key == attr::tilelang_assume ||
        op->attr_key == "tl.assume_requires_runtime_check") {
      if (auto condition = op->node.try_cast<PrimExpr>()) VisitExpr(*condition);
    }
    StmtExprVisitor::VisitStmt_(op);
  }

  void VisitStmt_(const SBlockRealizeNode*) final {}

  Boxes reads_;
  Boxes writes_;
  std::unordered_map<const VarNode*, IntSet> loops_;
  std::unordered_map<const VarNode*, PrimExpr> bindings_;
};

}  // namespace

Accesses AccessesOf(const Stmt& stmt) {
  AccessCollector collector;
  collector(stmt);
  return collector.Result();
}

}  // namespace tilelang_ascend_sched
