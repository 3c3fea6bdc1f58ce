// Vector functions: one instruction of the V pipe that touches what all its threads or lanes touch.
#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/ffi/extra/structural_hash.h>
#include <tvm/tirx/analysis.h>
#include <tvm/tirx/builtin.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>

#include "verify/decode.h"
#include "verify/guards.h"

namespace tilelang_ascend_sched::verify {

namespace tirx = tvm::tirx;
using namespace tvm::tirx;
using tvm::Downcast;
using tvm::IntImmNode;
using tvm::PrimExpr;

namespace {

// `factor * [0, count)` elements; `count` is a bound if `exact_count` tells the number.
struct Dimension {
  int64_t factor;
  int64_t count;
  Expr exact_count = kNone;
};

}  // namespace

class VectorFunction : public StmtExprVisitor {
 public:
  explicit VectorFunction(Decoder* decoder)
      : decoder_(*decoder), guards_(inner_, [decoder](const VarNode* data) {
          return decoder->slots_.count(data) != 0;
        }) {}

  std::vector<AccessPattern> accesses;
  std::string not_modelled;

 private:
  struct Linear {
    Expr outer;
    std::vector<Dimension> dimensions{};
    bool approximate = false;
    bool anywhere = false;
  };

  void VisitStmt_(const AttrStmtNode* attr) final {
    if (attr->attr_key == tvm::tirx::attr::thread_extent) {
      const auto* axis = attr->node.as<IterVarNode>();
      const auto* extent = attr->value.as<IntImmNode>();
      if (axis != nullptr) Enter(axis->var, 0, extent == nullptr ? -1 : extent->value);
    }
    StmtExprVisitor::VisitStmt_(attr);
  }

  void VisitStmt_(const ForNode* loop) final {
    const auto* minimum = loop->min.as<IntImmNode>();
    const auto bound = analyzer_.const_int_bound(loop->extent);
    const bool bounded = minimum != nullptr && bound->max_value < kUnbounded;
    const auto* extent = loop->extent.as<IntImmNode>();
    const bool exact = bounded && extent != nullptr;
    if (exact && extent->value <= 0) return;
    Enter(loop->loop_var, bounded ? minimum->value : 0, bounded ? bound->max_value : -1);
    InnerVariable& inner = inner_[loop->loop_var.get()];
    inner.exact = exact;
    if (bounded && !exact && !DependsOnInner(loop->extent)) {
      inner.exact = true;
      inner.exact_count = decoder_.Compile(loop->extent);
    }
    const size_t outer = guards_.size();
    if (!exact) Push(loop->extent > 0, true);
    StmtExprVisitor::VisitStmt_(loop);
    guards_.Cut(outer);
  }

  void VisitStmt_(const WhileNode* loop) final {
    VisitExpr(loop->condition);
    Under(loop->condition, true, [&] { VisitStmt(loop->body); });
  }

  void VisitStmt_(const BindNode* bind) final {
    bound_[bind->var.get()] = bind->value;
    StmtExprVisitor::VisitStmt_(bind);
  }

  template <typename Visit>
  void Under(const PrimExpr& condition, bool holds, Visit visit) {
    const size_t outer = guards_.size();
    Push(condition, holds);
    visit();
    guards_.Cut(outer);
  }

  void Push(const PrimExpr& condition, bool holds) { guards_.Push(Resolved(condition), holds); }

  // `expr` without variables that are bound inside of the function.
  PrimExpr Resolved(const PrimExpr& expr) const {
    return Substitute(expr, [this](const Var& var) -> tvm::ffi::Optional<PrimExpr> {
      const auto at = bound_.find(var.get());
      if (at == bound_.end()) return std::nullopt;
      return Resolved(at->second);
    });
  }

  void VisitExpr_(const AndNode* both) final {
    VisitExpr(both->a);
    Under(both->a, true, [&] { VisitExpr(both->b); });
  }

  void VisitExpr_(const OrNode* either) final {
    VisitExpr(either->a);
    Under(either->a, false, [&] { VisitExpr(either->b); });
  }

  void VisitStmt_(const IfThenElseNode* branch) final {
    VisitExpr(branch->condition);
    // `thread == 0` and `thread < 64` say which threads run the branch.
    const auto* equal = branch->condition.as<EQNode>();
    const auto* less = branch->condition.as<LTNode>();
    const PrimExpr left = equal ? equal->a : less ? less->a : PrimExpr();
    const PrimExpr right = equal ? equal->b : less ? less->b : PrimExpr();
    const auto* var = left.defined() ? left.as<VarNode>() : nullptr;
    const auto* limit = right.defined() ? right.as<IntImmNode>() : nullptr;
    auto at = var == nullptr ? inner_.end() : inner_.find(var);
    const bool narrows = at != inner_.end() && limit != nullptr && at->second.count > 0 &&
                         at->second.exact && at->second.exact_count == kNone;
    if (narrows) {
      const InnerVariable saved = at->second;
      const int64_t before = std::clamp<int64_t>(limit->value - saved.minimum, 0, saved.count);
      at->second.count = less ? before : before < saved.count && limit->value >= saved.minimum;
      if (equal) at->second.minimum = limit->value;
      if (at->second.count > 0) VisitStmt(branch->then_case);
      inner_[var] = saved;
    } else {
      Under(branch->condition, true, [&] { VisitStmt(branch->then_case); });
    }
    if (!branch->else_case.has_value()) return;
    Under(branch->condition, false, [&] { VisitStmt(branch->else_case.value()); });
  }

  void VisitStmt_(const BufferStoreNode* store) final {
    Access(store, store->buffer, store->indices, true);
    StmtExprVisitor::VisitStmt_(store);
  }

  void VisitExpr_(const BufferLoadNode* load) final {
    Access(load, load->buffer, load->indices, false);
    StmtExprVisitor::VisitExpr_(load);
  }

  void VisitExpr_(const CallNode* call) final {
    const auto* op = call->op.as<tvm::OpNode>();
    const std::string name = op == nullptr ? "" : std::string(op->name);
    const bool atomic = atomic_;
    if (name.find("atomic") != std::string::npos) atomic_ = true;
    if (name == "tl.simd.vsts") {
      StoreVector(call);
    } else if (call->op.same_as(builtin::tvm_access_ptr())) {
      const auto* mask = call->args[4].as<IntImmNode>();
      const auto* extent = call->args[3].as<IntImmNode>();
      const int64_t rights = mask == nullptr ? 3 : mask->value;
      const int64_t elements = extent == nullptr ? -1 : extent->value;
      Record(call, elements, (rights & 2) != 0, elements);
    } else if (call->op.same_as(builtin::if_then_else())) {
      VisitExpr(call->args[0]);
      Under(call->args[0], true, [&] { VisitExpr(call->args[1]); });
      Under(call->args[0], false, [&] { VisitExpr(call->args[2]); });
    } else if (call->op.same_as(builtin::address_of())) {
      const auto* load = call->args[0].as<BufferLoadNode>();
      if (load != nullptr) Access(load, load->buffer, load->indices, true);
    } else {
      // Addresses in registers, strides, and pointers that move: anywhere in the buffer.
      const bool gathers = name == "tl.simd.vgather2" || name == "tl.simd.vgatherb";
      const bool scatters = name == "tl.simd.vscatter" || name == "tl.simd.vsstb";
      const bool loads = name.rfind("tl.simd.vld", 0) == 0 && call->args[0].as<BufferLoadNode>();
      if (gathers || scatters || loads) {
        const size_t mask = name == "tl.simd.vgather2" || name == "tl.simd.vgatherb" ? 2
                            : scatters                                               ? 3
                                                                                     : SIZE_MAX;
        const bool some = mask >= call->args.size() || LanesOf(call->args[mask]) != 0;
        Anywhere(call->args[scatters ? 1 : 0], scatters, some);
        for (size_t i = 0; i < call->args.size(); ++i) {
          if (i != (scatters ? 1u : 0u)) VisitExpr(call->args[i]);
        }
        atomic_ = atomic;
        return;
      }
      StmtExprVisitor::VisitExpr_(call);
    }
    atomic_ = atomic;
  }

  // How many lanes, from the first on, a mask lets through: all if -1, maybe none if 0.
  int64_t LanesOf(PrimExpr mask) const {
    const auto* made = Resolved(mask).as<CallNode>();
    const auto* op = made == nullptr ? nullptr : made->op.as<tvm::OpNode>();
    if (op == nullptr || op->name != "tl.simd.pset" || made->args.size() < 2) return 0;
    const auto* pattern = made->args[1].as<StringImmNode>();
    const std::string name = pattern == nullptr ? "" : std::string(pattern->value);
    if (name == "PAT_ALL") return -1;
    return name.rfind("PAT_VL", 0) == 0 ? std::stoll(name.substr(6)) : 0;
  }

  // A store under a lane mask writes as many lanes as the mask's pattern says.
  void StoreVector(const CallNode* call) {
    const auto* pointer = call->args[0].as<CallNode>();
    if (pointer == nullptr || !pointer->op.same_as(builtin::tvm_access_ptr())) {
      Anywhere(call->args[0], true, LanesOf(call->args[2]) != 0);
      for (size_t i = 1; i < call->args.size(); ++i) VisitExpr(call->args[i]);
      return;
    }
    const auto* extent = pointer->args[3].as<IntImmNode>();
    int64_t lanes = extent == nullptr ? -1 : extent->value;
    const int64_t masked = LanesOf(call->args[2]);
    if (masked > 0) lanes = std::min(lanes, masked);
    Record(pointer, lanes, true, masked == 0 && lanes != 1 ? 0 : lanes);
    for (size_t i = 1; i < call->args.size(); ++i) VisitExpr(call->args[i]);
  }

  void Access(const tvm::ffi::Object* node, const tirx::Buffer& buffer,
              const tvm::ffi::Array<PrimExpr>& indices, bool writes) {
    Pointer pointer;
    if (indices.size() != 1 || !decoder_.Locate(buffer->data, &pointer)) return;
    if (!Conflicts(pointer)) return;
    pointer.element_bits = buffer->dtype.bits() * buffer->dtype.lanes();
    pointer.buffer = decoder_.buffers_.Of(node);
    if (Seen(pointer, buffer->data, indices[0], 1, writes)) return;
    Add(pointer, indices[0], 1, writes, 1, buffer);
  }

  // `sure`: of so many elements it is known that they are touched.
  void Record(const CallNode* pointer_call, int64_t extent, bool writes, int64_t sure) {
    Pointer pointer;
    const Var data = Downcast<Var>(pointer_call->args[1]);
    if (!decoder_.Locate(data, &pointer) || !Conflicts(pointer)) return;
    const tvm::DataType dtype = pointer_call->args[0].dtype();
    pointer.element_bits = dtype.bits() * dtype.lanes();
    pointer.buffer = decoder_.buffers_.Of(pointer_call);
    if (Seen(pointer, data, pointer_call->args[2], extent, writes)) return;
    Add(pointer, pointer_call->args[2], extent, writes, sure, tirx::Buffer());
  }

  // An access somewhere in the buffer of a pointer, or of what a variable pointer starts from.
  // `some`: it is known to touch something.
  void Anywhere(const PrimExpr& base, bool writes, bool some) {
    std::vector<PrimExpr> starts = {base};
    if (const auto* load = base.as<BufferLoadNode>()) {
      auto at = decoder_.pointers_.find(load->buffer->data.get());
      starts = at == decoder_.pointers_.end() ? std::vector<PrimExpr>() : at->second;
      if (starts.empty()) not_modelled = "a pointer that comes from nowhere";
    }
    for (const PrimExpr& start : starts) {
      Pointer pointer;
      if (!decoder_.Parse(start, &pointer)) {
        not_modelled = "a pointer that is computed";
        return;
      }
      if (!Conflicts(pointer)) continue;
      Expr begin = decoder_.Constant(0);
      int64_t bytes = pointer.space == Space::kGm
                          ? kUnbounded
                          : decoder_.program_.chip.CapacityOf(pointer.space, true);
      if (pointer.buffer >= 0) {
        const verify::Buffer& buffer = decoder_.program_.buffers[pointer.buffer];
        begin = decoder_.Constant(buffer.begin);
        bytes = buffer.bytes.value_or(bytes);
      }
      decoder_.program_.computed_addresses = true;
      pointer.begin = begin;
      AccessPattern access = decoder_.Rows(pointer, decoder_.Constant(0), decoder_.Constant(1),
                                           decoder_.Constant(bytes), decoder_.Constant(0), writes);
      access.approximate = true;
      access.atomic = atomic_;
      const Witness witness = guards_.Find();
      if (witness.never) continue;
      access.somewhere = some && starts.size() == 1 && Happens(witness, &access);
      accesses.push_back(access);
    }
  }

  // Notes when an access happens for sure, for some data; false if that is not known.
  bool Happens(const Witness& witness, AccessPattern* access) {
    if (!witness.found) return false;
    for (const PrimExpr& condition : witness.conditions) {
      if (DependsOnInner(condition)) return false;
    }
    for (const PrimExpr& condition : witness.conditions) {
      const Expr holds = decoder_.Compile(condition);
      access->happens_if = access->happens_if == kNone
                               ? holds
                               : decoder_.Make(ExprKind::kAnd, access->happens_if, holds);
    }
    return true;
  }

  // Where a region is only a bound: what of it is touched for sure.
  void NoteSure(const PrimExpr& index, int64_t elements, int bits, const Witness& witness,
                AccessPattern* access) {
    if (elements <= 0 || !Happens(witness, access)) return;
    access->somewhere = true;
    PrimExpr first = Resolved(index);
    if (const auto* ramp = first.as<RampNode>()) first = ramp->base;
    if (const auto* broadcast = first.as<BroadcastNode>()) first = broadcast->value;
    first = Substitute(first, witness.numbers);
    if (DependsOnInner(first)) return;
    access->sure_begin = decoder_.BytesOf(decoder_.Compile(first), bits);
    access->sure_bytes = std::max<int64_t>(elements * bits / 8, 1);
  }

  bool Conflicts(const Pointer& pointer) const {
    return pointer.space != Space::kGm || decoder_.program_.tensors[pointer.tensor].written;
  }

  bool Seen(const Pointer& pointer, const Var& data, const PrimExpr& index, int64_t extent,
            bool writes) {
    tvm::ffi::Array<tvm::ffi::Any> key{
        data, index, tvm::IntImm(tvm::DataType::Int(64), extent),
        tvm::IntImm(tvm::DataType::Int(64), writes + 2 * atomic_ + 4 * pointer.buffer)};
    for (const PrimExpr& guard : guards_.all()) key.push_back(guard);
    const int64_t hash = tvm::ffi::StructuralHash::Hash(key, true);
    for (const auto& other : seen_[hash]) {
      if (tvm::ffi::StructuralEqual::Equal(key, other, true)) return true;
    }
    seen_[hash].push_back(key);
    return false;
  }

  void Add(Pointer pointer, const PrimExpr& index, int64_t extent, bool writes, int64_t sure,
           const tirx::Buffer& buffer) {
    const Witness witness = guards_.Find();
    if (witness.never) return;
    Linear linear{decoder_.Constant(0)};
    Split(index, 1, &linear);
    int64_t run = 1;
    int64_t begin = 0;
    linear.approximate = linear.approximate || sure != extent || extent < 0 || guards_.size() > 0;
    std::vector<Dimension> dimensions;
    for (Dimension dimension : linear.dimensions) {
      const bool one = dimension.count <= 1 && dimension.exact_count == kNone;
      if (one || dimension.factor == 0) continue;
      if (dimension.factor < 0) {
        if (dimension.exact_count != kNone) linear.approximate = true;
        begin += dimension.factor * (dimension.count - 1);
        dimension.factor = -dimension.factor;
      }
      dimensions.push_back(dimension);
    }
    if (extent > 1) dimensions.push_back({1, extent});
    std::sort(dimensions.begin(), dimensions.end(),
              [](const Dimension& a, const Dimension& b) { return a.factor < b.factor; });
    int64_t rows = 1, stride = 0;
    // The number of turns of the widest dimension may be an expression; of others only its bound.
    Expr exact_rows = kNone, exact_run = kNone;
    for (size_t i = 0; i < dimensions.size(); ++i) {
      const Dimension& dimension = dimensions[i];
      const bool exact = dimension.exact_count != kNone;
      if (exact && i + 1 < dimensions.size()) linear.approximate = true;
      if (dimension.factor <= run && rows == 1) {
        if (exact) {
          const Expr more = decoder_.Add(dimension.exact_count, decoder_.Constant(-1));
          exact_run = decoder_.Add(decoder_.Constant(run), decoder_.Times(more, dimension.factor));
        }
        run += dimension.factor * (dimension.count - 1);
      } else if (rows == 1) {
        rows = dimension.count;
        stride = dimension.factor;
        if (exact) exact_rows = dimension.exact_count;
      } else if (dimension.factor <= stride * rows && dimension.factor % stride == 0) {
        rows += dimension.factor / stride * (dimension.count - 1);
        if (exact) linear.approximate = true;
      } else {
        // More than two levels: everything from the first byte to the last.
        run += stride * (rows - 1) + dimension.factor * (dimension.count - 1);
        rows = 1;
        linear.approximate = true;
      }
    }
    auto bytes = [&](int64_t elements) {
      return decoder_.Constant((elements * pointer.element_bits + 7) / 8);
    };
    Expr offset = decoder_.Add(linear.outer, decoder_.Constant(begin));
    if (linear.anywhere || extent < 0) {
      linear.approximate = true;
      const auto* size = buffer.defined() ? buffer->shape[0].as<IntImmNode>() : nullptr;
      if (linear.anywhere) offset = decoder_.Constant(size == nullptr ? 0 : ConstantPart(index));
      const bool gm = pointer.space == Space::kGm;
      run = size != nullptr
                ? size->value
                : (gm ? kUnbounded : decoder_.program_.chip.CapacityOf(pointer.space, false)) * 8 /
                      pointer.element_bits;
      rows = 1;
    }
    pointer.begin = decoder_.BytesOf(offset, pointer.element_bits);
    AccessPattern access = decoder_.Rows(pointer, decoder_.Constant(0), decoder_.Constant(rows),
                                         bytes(run), bytes(stride), writes);
    if (!linear.approximate && exact_rows != kNone) access.rows = exact_rows;
    if (!linear.approximate && exact_run != kNone) {
      access.row_bytes = decoder_.BytesOf(exact_run, pointer.element_bits);
    }
    access.approximate = linear.approximate;
    access.atomic = atomic_;
    if (access.approximate) NoteSure(index, sure, pointer.element_bits, witness, &access);
    accesses.push_back(access);
  }

  // Adds `factor * expr` to `linear`.
  void Split(const PrimExpr& expr, int64_t factor, Linear* linear) {
    if (const auto* ramp = expr.as<RampNode>()) {
      Split(ramp->base, factor, linear);
      const auto* step = ramp->stride.as<IntImmNode>();
      const auto* lanes = ramp->lanes.as<IntImmNode>();
      if (step && lanes) {
        linear->dimensions.push_back({factor * step->value, lanes->value});
      } else {
        linear->anywhere = true;
      }
      return;
    }
    if (const auto* broadcast = expr.as<BroadcastNode>()) {
      return Split(broadcast->value, factor, linear);
    }
    if (!DependsOnInner(expr)) {
      const Expr outer = decoder_.Times(decoder_.Compile(expr), factor);
      linear->outer = decoder_.Add(linear->outer, outer);
      return;
    }
    if (const auto* add = expr.as<AddNode>()) {
      Split(add->a, factor, linear);
      return Split(add->b, factor, linear);
    }
    if (const auto* subtract = expr.as<SubNode>()) {
      Split(subtract->a, factor, linear);
      return Split(subtract->b, -factor, linear);
    }
    if (const auto* multiply = expr.as<MulNode>()) {
      if (const auto* number = multiply->b.as<IntImmNode>()) {
        return Split(multiply->a, factor * number->value, linear);
      }
      if (const auto* number = multiply->a.as<IntImmNode>()) {
        return Split(multiply->b, factor * number->value, linear);
      }
    }
    if (const auto* cast = expr.as<CastNode>()) return Split(cast->value, factor, linear);
    if (const auto* var = expr.as<VarNode>()) {
      auto bound = bound_.find(var);
      if (bound != bound_.end()) return Split(bound->second, factor, linear);
      auto at = inner_.find(var);
      if (at != inner_.end() && at->second.count >= 0) {
        linear->outer = decoder_.Add(linear->outer, decoder_.Constant(factor * at->second.minimum));
        linear->dimensions.push_back({factor, at->second.count, at->second.exact_count});
        linear->approximate = linear->approximate || !at->second.exact;
        return;
      }
    }
    const auto* divide = expr.as<FloorDivNode>();
    const auto* modulo = expr.as<FloorModNode>();
    const PrimExpr numerator = divide ? divide->a : modulo ? modulo->a : PrimExpr();
    const PrimExpr denominator = divide ? divide->b : modulo ? modulo->b : PrimExpr();
    const auto* var = numerator.defined() ? numerator.as<VarNode>() : nullptr;
    const auto* number = denominator.defined() ? denominator.as<IntImmNode>() : nullptr;
    auto at = var == nullptr ? inner_.end() : inner_.find(var);
    if (number && at != inner_.end() && at->second.minimum == 0 && at->second.count > 0) {
      const int64_t count = divide ? (at->second.count - 1) / number->value + 1
                                   : std::min(at->second.count, number->value);
      linear->dimensions.push_back({factor, count});
      return;
    }
    for (const auto& [name, inner] : inner_) {
      if (inner.count > 0) {
        analyzer_.Bind(tvm::ffi::GetRef<Var>(name),
                       tvm::Range::FromMinExtent(tvm::IntImm(name->dtype, inner.minimum),
                                                 tvm::IntImm(name->dtype, inner.count)),
                       true);
      }
    }
    const auto bound = analyzer_.const_int_bound(expr);
    linear->approximate = true;
    if (bound->min_value > -kUnbounded && bound->max_value < kUnbounded) {
      linear->outer = decoder_.Add(linear->outer, decoder_.Constant(factor * bound->min_value));
      linear->dimensions.push_back({factor, bound->max_value - bound->min_value + 1});
    } else {
      linear->anywhere = true;
    }
  }

  // Whether `expr` differs between threads, or is not known outside the function.
  bool DependsOnInner(const PrimExpr& expr) const {
    bool depends = false;
    PostOrderVisit(expr, [&](const tvm::ffi::ObjectRef& node) {
      if (const auto* var = node.as<VarNode>()) {
        depends = depends || inner_.count(var) != 0 || bound_.count(var) != 0;
      } else if (const auto* load = node.as<BufferLoadNode>()) {
        depends = depends || decoder_.slots_.count(load->buffer->data.get()) == 0;
      }
    });
    return depends;
  }

  static int64_t ConstantPart(const PrimExpr& index) {
    if (const auto* add = index.as<AddNode>()) return ConstantPart(add->a) + ConstantPart(add->b);
    if (const auto* number = index.as<IntImmNode>()) return number->value;
    if (const auto* broadcast = index.as<BroadcastNode>()) return ConstantPart(broadcast->value);
    if (const auto* divide = index.as<FloorDivNode>()) {
      const auto* a = divide->a.as<IntImmNode>();
      const auto* b = divide->b.as<IntImmNode>();
      if (a && b) return a->value / b->value;
    }
    return 0;
  }

  void Enter(const Var& var, int64_t minimum, int64_t count) {
    inner_[var.get()] = {minimum, count};
  }

  Decoder& decoder_;
  tvm::arith::Analyzer analyzer_;
  InnerVariables inner_;
  std::unordered_map<const VarNode*, PrimExpr> bound_;
  std::unordered_map<int64_t, std::vector<tvm::ffi::Array<tvm::ffi::Any>>> seen_;
  Guards guards_;
  bool atomic_ = false;
};

Node* Decoder::Vector(const SBlockNode* block) {
  Source source = At(tvm::ffi::GetRef<Stmt>(block), "");
  source.text = block->name_hint == "SIMT_VF" ? "SimtVF region" : "SimdVF region";
  VectorFunction function(this);
  function(block->body);
  if (!function.not_modelled.empty()) return NotModelled(function.not_modelled, source);
  Instruction instruction{Action::kAccess, Pipe::kV};
  instruction.accesses = std::move(function.accesses);
  return Issue(std::move(instruction), source);
}

}  // namespace tilelang_ascend_sched::verify
