#include "analysis/named_accesses.h"

#include <op/builtin.h>
#include <op/utils.h>
#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>
#include <sstream>

#include "ir/attrs.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::Op;
using tvm::Range;

namespace {

class Collector : public StmtExprVisitor {
 public:
  std::vector<BufferRegion> regions;
  std::vector<Buffer> elementwise;

 private:
  void VisitExpr_(const CallNode* op) final {
    static const Op& hint = Op::Get(attrs::kConflictHintOp);
    static const Op& region = tvm::tl::region();
    if (op->op.same_as(hint)) return;
    if (op->op.same_as(region)) {
      regions.push_back(tvm::tl::NormalizeToBufferRegion(tvm::ffi::GetRef<Call>(op)));
      return;
    }
    StmtExprVisitor::VisitExpr_(op);
  }

  void VisitExpr_(const BufferLoadNode* op) final {
    elementwise.push_back(op->buffer);
    StmtExprVisitor::VisitExpr_(op);
  }

  void VisitStmt_(const BufferStoreNode* op) final {
    elementwise.push_back(op->buffer);
    StmtExprVisitor::VisitStmt_(op);
  }
};

bool Uses(const Buffer& buffer, const HintOperand& operand) {
  if (const auto* storage = std::get_if<Var>(&operand)) return buffer->data.same_as(*storage);
  return buffer.same_as(std::get<BufferRegion>(operand)->buffer);
}

}  // namespace

std::string DescribeOperand(const HintOperand& operand) {
  std::ostringstream text;
  if (const auto* storage = std::get_if<Var>(&operand)) {
    text << (*storage)->name_hint;
  } else {
    text << std::get<BufferRegion>(operand);
  }
  return text.str();
}

NamedAccesses::NamedAccesses(const Stmt& body) {
  Collector collector;
  collector(body);
  regions_ = std::move(collector.regions);
  elementwise_ = std::move(collector.elementwise);
}

std::vector<HintOperand> NamedAccesses::WithClampedForms(const HintOperand& operand) {
  std::vector<HintOperand> forms{operand};
  const auto* named = std::get_if<BufferRegion>(&operand);
  if (named == nullptr) return forms;
  const tvm::ffi::StructuralEqual equal;
  for (const BufferRegion& access : regions_) {
    if (!IsPartOf(access, *named)) continue;
    const bool known = std::any_of(forms.begin(), forms.end(), [&](const HintOperand& form) {
      return equal(access, std::get<BufferRegion>(form));
    });
    if (!known) forms.push_back(access);
  }
  return forms;
}

bool NamedAccesses::MayMatch(const HintOperand& operand) {
  // Loads and stores are merged into one region for a task, which may well be the named one.
  if (std::any_of(elementwise_.begin(), elementwise_.end(),
                  [&](const Buffer& buffer) { return Uses(buffer, operand); })) {
    return true;
  }
  return std::any_of(regions_.begin(), regions_.end(), [&](const BufferRegion& access) {
    if (!Uses(access->buffer, operand)) return false;
    const auto* named = std::get_if<BufferRegion>(&operand);
    return named == nullptr || IsPartOf(access, *named);
  });
}

bool NamedAccesses::IsPartOf(const BufferRegion& access, const BufferRegion& named) {
  if (!access->buffer.same_as(named->buffer)) return false;
  // As seen from the common corner, which may be read from memory.
  tvm::ffi::Array<Range> part;
  tvm::ffi::Array<Range> whole;
  for (size_t axis = 0; axis < named->region.size(); ++axis) {
    const Range& accessed = access->region[axis];
    const Range& said = named->region[axis];
    if (!analyzer_.CanProveEqual(accessed->min, said->min)) return false;
    const tvm::PrimExpr corner = make_zero(said->min.dtype());
    part.push_back(Range::FromMinExtent(corner, accessed->extent));
    whole.push_back(Range::FromMinExtent(corner, said->extent));
  }
  const Prover::Piece piece{{named->buffer, whole, {}}, tvm::PrimExpr()};
  return prover_.Covers({piece}, {access->buffer, part, {}}, Facts());
}

}  // namespace tilelang_ascend_sched
