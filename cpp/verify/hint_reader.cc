#include "verify/hint_reader.h"

#include <tvm/arith/analyzer.h>
#include <tvm/arith/int_set.h>
#include <tvm/tirx/builtin.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "verify/buffers.h"

namespace tilelang_ascend_sched::verify {

namespace tirx = tvm::tirx;
using namespace tvm::tirx;
using tvm::IntImmNode;
using tvm::PrimExpr;
using tvm::ffi::Array;

namespace {

constexpr int64_t kEveryLevel = -2;

Place PlaceOf(const tvm::Span& span) {
  if (!span.defined() || !span->source_name.defined()) return {};
  return {span->source_name->name, span->line};
}

bool IsOne(const PrimExpr& expr) {
  const auto* number = expr.as<IntImmNode>();
  return number != nullptr && number->value == 1;
}

// `Y[row, 0:64]`
std::string TextOf(const BufferLoadNode* first, const CallNode* region) {
  std::ostringstream text;
  text << first->buffer->data->name_hint;
  for (size_t axis = 0; axis < first->indices.size(); ++axis) {
    const PrimExpr &begin = first->indices[axis], &extent = region->args[2 + axis];
    text << (axis == 0 ? "[" : ", ") << begin;
    if (!IsOne(extent)) text << ":" << tvm::arith::Analyzer().Simplify(begin + extent);
  }
  text << "]";
  return text.str();
}

const CallNode* CallNamed(const PrimExpr& expr, const char* name) {
  const auto* call = expr.as<CallNode>();
  const auto* op = call == nullptr ? nullptr : call->op.as<tvm::OpNode>();
  return op != nullptr && op->name == name ? call : nullptr;
}

// Hints and accesses of one kernel, in the order of the code.
class Reader : public StmtExprVisitor {
 public:
  HintsAndUses found;

 private:
  void VisitStmt(const Stmt& stmt) final {
    const tvm::Span outer = span_;
    if (stmt->span.defined()) span_ = stmt->span;
    StmtExprVisitor::VisitStmt(stmt);
    span_ = outer;
  }

  void VisitStmt_(const ForNode* loop) final {
    const bool counted = loop->kind != ForKind::kThreadBinding;
    const bool inner = loop->kind == ForKind::kParallel || loop->kind == ForKind::kVectorized;
    if (counted) loops_.push_back(loop);
    Region(inner, loop->span, [&] {
      if (!regions_.empty()) SetInner(loop->loop_var, loop->min, loop->extent);
      StmtExprVisitor::VisitStmt_(loop);
    });
    if (counted) loops_.pop_back();
  }

  void VisitStmt_(const SBlockNode* block) final {
    const std::string name = block->name_hint;
    Region(name == "SIMT_VF" || name == "SIMD_VF", block->span,
           [&] { StmtExprVisitor::VisitStmt_(block); });
  }

  void VisitStmt_(const AttrStmtNode* attr) final {
    const auto* axis = attr->node.as<IterVarNode>();
    if (attr->attr_key == tvm::tirx::attr::thread_extent && axis != nullptr && !regions_.empty()) {
      SetInner(axis->var, tvm::IntImm(axis->var->dtype, 0), attr->value);
    }
    StmtExprVisitor::VisitStmt_(attr);
  }

  void VisitStmt_(const BindNode* bind) final {
    StmtExprVisitor::VisitStmt_(bind);
    bound_[bind->var.get()] = bind->value;
  }

  void VisitStmt_(const BufferStoreNode* store) final {
    Add(store->buffer, store->indices, Elements(store->indices), false, true);
    StmtExprVisitor::VisitStmt_(store);
  }

  void VisitExpr_(const BufferLoadNode* load) final {
    Add(load->buffer, load->indices, Elements(load->indices), true, false);
    StmtExprVisitor::VisitExpr_(load);
  }

  void VisitExpr_(const CallNode* call) final {
    const auto* op = call->op.as<tvm::OpNode>();
    const std::string name = op == nullptr ? "" : std::string(op->name);
    if (name == "tl.conflict_hint") return AddHint(call);
    const auto* load = call->args.empty() ? nullptr : call->args[0].as<BufferLoadNode>();
    if (name == "tl.region" && load != nullptr) {
      const auto* mask = call->args[1].as<IntImmNode>();
      const int64_t rights = mask == nullptr ? 3 : mask->value;
      Add(load->buffer, load->indices, Box(load, call, 2), (rights & 1) != 0, (rights & 2) != 0);
      for (const PrimExpr& index : load->indices) VisitExpr(index);
      return;
    }
    if (load != nullptr && name.find("atomic") == std::string::npos &&
        (name == "tl.access_ptr" || call->op.same_as(builtin::address_of()))) {
      // So many elements from one on: more than one row of them is no box.
      const auto* mask = call->args.size() > 2 ? call->args[2].as<IntImmNode>() : nullptr;
      const int64_t rights = mask == nullptr ? 3 : mask->value;
      Add(load->buffer, load->indices, Row(load, call), (rights & 1) != 0, (rights & 2) != 0);
      for (const PrimExpr& index : load->indices) VisitExpr(index);
      return;
    }
    StmtExprVisitor::VisitExpr_(call);
  }

  template <typename Body>
  void Region(bool is_region, const tvm::Span& span, Body body) {
    if (is_region || !regions_.empty()) {
      regions_.push_back(PlaceOf(span));
      body();
      regions_.pop_back();
      if (regions_.empty()) inner_.clear();
    } else {
      body();
    }
  }

  void SetInner(const Var& var, const PrimExpr& minimum, const PrimExpr& extent) {
    inner_.Set(var, tvm::arith::IntSet::FromRange(tvm::Range::FromMinExtent(minimum, extent)));
  }

  // With what names stand for, so that equal addresses read alike.
  PrimExpr Expand(const PrimExpr& expr) const {
    return Substitute(expr, [this](const Var& var) -> tvm::ffi::Optional<PrimExpr> {
      auto at = bound_.find(var.get());
      if (at == bound_.end()) return std::nullopt;
      return Expand(at->second);
    });
  }

  // What elements at these indices cover while the threads and loops of the region run.
  tvm::ffi::Optional<Array<tvm::Range>> Elements(const Array<PrimExpr>& indices) {
    Array<tvm::Range> box;
    for (const PrimExpr& index : indices) {
      const PrimExpr expanded = Expand(index);
      if (!expanded.dtype().is_scalar()) return std::nullopt;
      const tvm::arith::IntSet set = tvm::arith::EvalSet(expanded, inner_);
      if (!set.HasLowerBound() || !set.HasUpperBound()) return std::nullopt;
      box.push_back(
          tvm::Range::FromMinExtent(set.min(), analyzer_.Simplify(set.max() - set.min() + 1)));
    }
    return box;
  }

  Array<tvm::Range> Box(const BufferLoadNode* load, const CallNode* region, size_t first) const {
    Array<tvm::Range> box;
    for (size_t axis = 0; axis < load->indices.size(); ++axis) {
      box.push_back(tvm::Range::FromMinExtent(Expand(load->indices[axis]),
                                              Expand(region->args[first + axis])));
    }
    return box;
  }

  tvm::ffi::Optional<Array<tvm::Range>> Row(const BufferLoadNode* load, const CallNode* pointer) {
    tvm::ffi::Optional<Array<tvm::Range>> box = Elements(load->indices);
    if (!box || pointer->args.size() < 2) return std::nullopt;
    Array<tvm::Range> row = box.value();
    const size_t last = row.size() - 1;
    row.Set(last,
            tvm::Range::FromMinExtent(
                row[last]->min, analyzer_.Simplify(row[last]->extent + pointer->args[1] - 1)));
    const PrimExpr end = row[last]->min + row[last]->extent;
    if (!analyzer_.CanProve(end <= load->buffer->shape[last])) return std::nullopt;
    return row;
  }

  void Add(const tirx::Buffer& buffer, const Array<PrimExpr>& indices,
           tvm::ffi::Optional<Array<tvm::Range>> box, bool reads, bool writes) {
    NoteStorage(buffer->data);
    std::vector<Place> places = regions_;
    places.push_back(PlaceOf(span_));
    std::set<std::string> loads;
    for (const PrimExpr& index : indices) {
      PostOrderVisit(Expand(index), [&](const tvm::ffi::ObjectRef& node) {
        if (const auto* load = node.as<BufferLoadNode>()) {
          loads.insert(load->buffer->data->name_hint);
        }
      });
    }
    found.uses.push_back(
        {buffer, std::move(box), reads, writes, std::move(places), std::move(loads)});
  }

  void NoteStorage(const Var& data) {
    std::vector<const VarNode*>& known = found.storages[data->name_hint];
    if (std::find(known.begin(), known.end(), data.get()) == known.end()) {
      known.push_back(data.get());
    }
  }

  Operand OperandOf(const PrimExpr& expr) {
    if (const auto* storage = expr.as<VarNode>()) {
      const Var data = tvm::ffi::GetRef<Var>(storage);
      NoteStorage(data);
      return {data->name_hint, SpaceOf(data).has_value(), data->name_hint, std::nullopt, {}};
    }
    const auto* region = CallNamed(expr, "tl.region");
    const auto* load = region == nullptr ? nullptr : region->args[0].as<BufferLoadNode>();
    if (load == nullptr) return {};
    const Var& data = load->buffer->data;
    return {data->name_hint, SpaceOf(data).has_value(), TextOf(load, region), load->buffer,
            Box(load, region, 2)};
  }

  void AddHint(const CallNode* call) {
    auto integer = [&](size_t arg) {
      const auto* number = call->args[arg].as<IntImmNode>();
      return number == nullptr ? 0 : number->value;
    };
    if (integer(5) != 0) return;
    const auto* group = call->args[4].as<StringImmNode>();
    FoundHint hint{{},
                   OperandOf(call->args[0]),
                   OperandOf(call->args[1]),
                   group == nullptr ? "" : std::string(group->value),
                   integer(2),
                   loops_};
    hint.hint.across = integer(3) < 0    ? Hint::Across::kBoth
                       : integer(3) == 0 ? Hint::Across::kWithin
                                         : Hint::Across::kBetween;
    const tvm::Span span = call->span.defined() ? call->span : span_;
    hint.hint.place = PlaceOf(span).line == 0
                          ? ""
                          : PlaceOf(span).file.substr(PlaceOf(span).file.rfind('/') + 1) + ":" +
                                std::to_string(PlaceOf(span).line);
    found.hints.push_back(std::move(hint));
  }

  std::vector<const ForNode*> loops_;
  std::vector<Place> regions_;
  tvm::ffi::Map<Var, tvm::arith::IntSet> inner_;
  std::unordered_map<const VarNode*, PrimExpr> bound_;
  tvm::Span span_;
  tvm::arith::Analyzer analyzer_;
};

// Joins the halves of groups, and settles which loop each hint speaks of.
std::vector<FoundHint> Whole(std::vector<FoundHint> found) {
  std::vector<FoundHint> whole;
  std::map<std::string, FoundHint> halves;
  for (FoundHint& hint : found) {
    if (!hint.group.empty()) {
      auto [at, is_first] = halves.try_emplace(hint.group, hint);
      if (is_first) continue;
      const FoundHint& other = at->second;
      const size_t shared = std::mismatch(hint.loops.begin(), hint.loops.end(), other.loops.begin(),
                                          other.loops.end())
                                .first -
                            hint.loops.begin();
      hint.loops.resize(shared);
      hint.a = other.a;
      if (!other.hint.place.empty()) hint.hint.place = other.hint.place + " and " + hint.hint.place;
    }
    const std::string &a = hint.a.text, &b = hint.b.text;
    hint.hint.same_sides = a == b;
    hint.hint.text = "assume_no_conflict(" + (a == b ? a : a + ", " + b) + ")";
    hint.hint.everywhere = hint.level == kEveryLevel;
    if (hint.level >= 0 && hint.level < static_cast<int64_t>(hint.loops.size())) {
      const ForNode* loop = hint.loops[hint.level];
      hint.hint.loop = loop->loop_var->name_hint;
      hint.hint.loop_line = PlaceOf(loop->span).line;
    }
    whole.push_back(std::move(hint));
  }
  return whole;
}

}  // namespace

HintsAndUses ReadHints(const Stmt& body) {
  Reader reader;
  reader(body);
  reader.found.hints = Whole(std::move(reader.found.hints));
  return std::move(reader.found);
}

}  // namespace tilelang_ascend_sched::verify
