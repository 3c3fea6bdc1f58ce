#include "verify/buffers.h"

#include <tvm/arith/analyzer.h>
#include <tvm/tirx/builtin.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::IntImmNode;
using tvm::PrimExpr;

namespace {

struct Access {
  const tvm::ffi::Object* node;
  Var data;
  PrimExpr offset;  // in elements, of the first lane
  int64_t bits;     // of an element
};

PrimExpr FirstLane(const PrimExpr& index) {
  if (const auto* ramp = index.as<RampNode>()) return FirstLane(ramp->base);
  if (const auto* broadcast = index.as<BroadcastNode>()) return FirstLane(broadcast->value);
  if (const auto* add = index.as<AddNode>(); add != nullptr && !index.dtype().is_scalar()) {
    return FirstLane(add->a) + FirstLane(add->b);
  }
  return index;
}

// All accesses on chip, in the order of the code.
class Accesses : public StmtExprVisitor {
 public:
  std::vector<Access> found;
  std::vector<std::pair<Var, std::optional<int64_t>>> allocated;  // bytes, if known

  std::optional<int64_t> BytesOf(const Var& data) const {
    for (const auto& [var, bytes] : allocated) {
      if (var.same_as(data)) return bytes;
    }
    return std::nullopt;
  }

  // `#2` for the second one, if it has no name.
  std::string NameOf(const Var& data) const {
    if (!data->name_hint.empty()) return data->name_hint;
    const auto at = std::find_if(allocated.begin(), allocated.end(),
                                 [&](const auto& each) { return each.first.same_as(data); });
    return "#" + std::to_string(at - allocated.begin() + 1);
  }

 private:
  void Add(const tvm::ffi::Object* node, const Var& data, const PrimExpr& offset,
           tvm::DataType dtype) {
    if (!SpaceOf(data)) return;
    found.push_back({node, data, FirstLane(offset), dtype.bits() * dtype.lanes()});
  }

  void VisitStmt_(const AllocBufferNode* alloc) final {
    const Var& data = alloc->buffer->data;
    if (!SpaceOf(data)) return;
    const int64_t element = alloc->buffer->dtype.bits() * alloc->buffer->dtype.lanes();
    std::optional<int64_t> bits = element;
    for (const PrimExpr& extent : alloc->buffer->shape) {
      const auto* number = extent.as<IntImmNode>();
      int64_t product = 0;
      const bool known =
          bits && number != nullptr && !__builtin_mul_overflow(*bits, number->value, &product);
      bits = known ? std::optional<int64_t>(product) : std::nullopt;
    }
    allocated.push_back({data, bits ? std::optional<int64_t>((*bits - 1) / 8 + 1) : bits});
  }

  void VisitStmt_(const DeclBufferNode*) final {}

  void VisitStmt_(const BufferStoreNode* store) final {
    if (store->indices.size() == 1) {
      Add(store, store->buffer->data, store->indices[0], store->buffer->dtype);
    }
    StmtExprVisitor::VisitStmt_(store);
  }

  void VisitExpr_(const BufferLoadNode* load) final {
    if (load->indices.size() == 1) {
      Add(load, load->buffer->data, load->indices[0], load->buffer->dtype);
    }
    StmtExprVisitor::VisitExpr_(load);
  }

  void VisitExpr_(const CallNode* call) final {
    if (call->op.same_as(builtin::tvm_access_ptr())) {
      if (const auto* data = call->args[1].as<VarNode>()) {
        Add(call, tvm::ffi::GetRef<Var>(data), call->args[2], call->args[0].dtype());
      }
    }
    StmtExprVisitor::VisitExpr_(call);
  }
};

bool ShareBytes(const Buffer& a, const Buffer& b) {
  if (a.space != b.space) return false;
  return (!a.end() || b.begin < *a.end()) && (!b.end() || a.begin < *b.end());
}

// Puts the buffers that share bytes with another one in front.
void SortShared(Buffers* buffers) {
  const std::vector<Buffer> all = buffers->all;
  auto shares = [&](const Buffer& buffer) {
    return std::any_of(all.begin(), all.end(), [&](const Buffer& other) {
      return &other != &buffer && ShareBytes(buffer, other);
    });
  };
  std::vector<int> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  const auto first_alone = std::stable_partition(order.begin(), order.end(),
                                                 [&](int number) { return shares(all[number]); });
  buffers->shared = static_cast<int>(first_alone - order.begin());
  std::vector<int> place(all.size());
  for (size_t i = 0; i < order.size(); ++i) {
    buffers->all[i] = all[order[i]];
    place[order[i]] = static_cast<int>(i);
  }
  for (auto& [access, number] : buffers->of) number = place[number];
}

// An address with a variable for each load on chip that it depends on: of two kernels that match,
// the accesses of one number have read the same.
class Unpacked : public ExprMutator {
 public:
  explicit Unpacked(const Accesses& accesses) {
    for (size_t i = 0; i < accesses.found.size(); ++i) {
      numbers_.try_emplace(accesses.found[i].node, i);
    }
  }

  PrimExpr Of(const PrimExpr& offset, std::map<size_t, Var>* loaded) {
    loaded_ = loaded;
    return VisitExpr(offset);
  }

 private:
  PrimExpr VisitExpr_(const BufferLoadNode* load) final {
    const auto at = numbers_.find(load);
    if (at == numbers_.end()) return ExprMutator::VisitExpr_(load);
    const Var& value = loaded_->try_emplace(at->second, "loaded", load->dtype).first->second;
    return value.dtype() == load->dtype ? PrimExpr(value) : tvm::ffi::GetRef<PrimExpr>(load);
  }

  std::unordered_map<const tvm::ffi::Object*, size_t> numbers_;
  std::map<size_t, Var>* loaded_ = nullptr;
};

// Fills `all` and `of`; otherwise says why that cannot be done.
std::string Match(const Accesses& packed, const Accesses& before, Buffers* buffers) {
  if (packed.found.size() != before.found.size()) {
    return "it has " + std::to_string(packed.found.size()) + " accesses on chip, and " +
           std::to_string(before.found.size()) + " before packing";
  }
  tvm::arith::Analyzer analyzer;
  Unpacked of_packed(packed), of_before(before);
  std::map<size_t, Var> loaded;
  std::unordered_map<const VarNode*, int> numbers;
  for (size_t i = 0; i < packed.found.size(); ++i) {
    const Access& now = packed.found[i];
    const Access& old = before.found[i];
    const std::string name = before.NameOf(old.data);
    const std::string moved = "an access to buffer " + name + " is another one after packing";
    if (now.bits != old.bits || now.offset.dtype() != old.offset.dtype()) return moved;
    if (SpaceOf(now.data) != SpaceOf(old.data)) return moved;
    const PrimExpr difference =
        analyzer.Simplify(of_packed.Of(now.offset, &loaded) - of_before.Of(old.offset, &loaded));
    const auto* elements = difference.as<IntImmNode>();
    if (elements == nullptr || elements->value * now.bits % 8 != 0) return moved;
    const int64_t begin = elements->value * now.bits / 8;
    auto [at, is_new] = numbers.try_emplace(old.data.get(), static_cast<int>(buffers->all.size()));
    if (is_new) {
      buffers->all.push_back({name, *SpaceOf(old.data), begin, before.BytesOf(old.data)});
    }
    if (buffers->all[at->second].begin != begin) {
      return "buffer " + name + " lies at byte " + std::to_string(buffers->all[at->second].begin) +
             " and at byte " + std::to_string(begin);
    }
    buffers->of[now.node] = at->second;
  }
  SortShared(buffers);
  if (buffers->shared <= Buffers::kMostShared) return "";
  return std::to_string(buffers->shared) +
         " buffers share bytes with others, and the check tells " +
         std::to_string(Buffers::kMostShared) + " apart";
}

}  // namespace

std::optional<Space> SpaceOf(const Var& data) {
  static const std::map<std::string, Space> kScopes = {
      {"shared", Space::kUb0},     {"shared.l1", Space::kL1},   {"shared.l0a", Space::kL0a},
      {"shared.l0b", Space::kL0b}, {"shared.l0c", Space::kL0c},
  };
  const auto* type = data->type_annotation.as<tvm::PointerTypeNode>();
  if (type == nullptr) return std::nullopt;
  std::string scope = type->storage_scope;
  if (scope.ends_with(".dyn")) scope.resize(scope.size() - 4);
  const auto at = kScopes.find(scope);
  return at == kScopes.end() ? std::nullopt : std::optional<Space>(at->second);
}

Buffers FindBuffers(const PrimFunc& kernel, const tvm::ffi::Optional<PrimFunc>& unpacked) {
  Accesses packed, before;
  packed(kernel->body);
  Buffers buffers;
  if (unpacked) {
    before(unpacked.value()->body);
    buffers.unknown = Match(packed, before, &buffers);
    if (!buffers.unknown.empty()) buffers = {{}, 0, {}, {}, buffers.unknown};
  }
  for (const auto& [data, bytes] : packed.allocated) {
    if (bytes) buffers.allocated.push_back({*SpaceOf(data), *bytes});
  }
  return buffers;
}

}  // namespace tilelang_ascend_sched::verify
