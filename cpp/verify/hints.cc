#include "verify/hints.h"

#include <tvm/arith/analyzer.h>
#include <tvm/tirx/function.h>

#include <algorithm>
#include <map>
#include <set>

#include "verify/hint_reader.h"

namespace tilelang_ascend_sched::verify {

using tvm::ffi::Array;
using tvm::tirx::PrimFuncNode;

namespace {

enum class Naming { kNo, kMaybe, kYes };

// What lowering leaves of a statement's access, by which it is found again.
struct Mark {
  Place place;
  bool writes = false;
  std::set<std::string> loads;  // tensors whose elements decide the address
};

// Which accesses of the lowered kernel one operand names.
class NamedByOperand {
 public:
  NamedByOperand(const Operand& operand, const HintsAndUses& kernel) : operand_(operand) {
    const auto storages = kernel.storages.find(operand.storage);
    unique_ = storages != kernel.storages.end() && storages->second.size() == 1;
    if (!operand.buffer) return;
    for (const Use& use : kernel.uses) {
      if (use.buffer->data->name_hint != operand.storage) continue;
      const bool named = Within(use);
      for (const Place& place : use.places) {
        if (use.reads) marks_.push_back({{place, false, use.loads}, named});
        if (use.writes) marks_.push_back({{place, true, use.loads}, named});
      }
    }
  }

  // `storage` is nothing if it may be any on chip.
  Naming Of(bool on_chip, const std::optional<std::string>& storage, const Mark& access) const {
    if (on_chip != operand_.on_chip) return Naming::kNo;
    if (!storage) return Naming::kMaybe;
    if (*storage != operand_.storage) return Naming::kNo;
    if (!operand_.buffer) return unique_ ? Naming::kYes : Naming::kMaybe;
    // Passes may have lost the line of one, or have changed what its address is read from.
    std::optional<Naming> naming = OfMark(access, true, true);
    if (naming && unique_) return *naming;
    if (!naming) naming = OfMark(access, false, true);
    if (!naming) naming = OfMark(access, false, false);
    return std::min(naming.value_or(Naming::kNo), Naming::kMaybe);
  }

 private:
  // Statements that stand on one line are told apart by what their addresses are read from. Nothing
  // if there is no such statement.
  std::optional<Naming> OfMark(const Mark& access, bool by_place, bool by_loads) const {
    bool all = true, some = false, none = true;
    for (const auto& [mark, named] : marks_) {
      if (mark.writes != access.writes) continue;
      if (by_place && mark.place.line != 0 && access.place.line != 0 &&
          mark.place != access.place) {
        continue;
      }
      if (by_loads && mark.loads != access.loads) continue;
      none = false;
      all = all && named;
      some = some || named;
    }
    if (none) return std::nullopt;
    return all ? Naming::kYes : some ? Naming::kMaybe : Naming::kNo;
  }

  // A region stays a named one where it is cut off at the edge of its buffer.
  bool Within(const Use& use) {
    if (!use.box || !use.buffer.same_as(operand_.buffer.value())) return false;
    const Array<tvm::Range> box = use.box.value();
    for (size_t axis = 0; axis < operand_.box.size(); ++axis) {
      const tvm::Range &part = box[axis], &whole = operand_.box[axis];
      if (!analyzer_.CanProve(whole->min <= part->min) ||
          !analyzer_.CanProve(part->min - whole->min + part->extent <= whole->extent)) {
        return false;
      }
    }
    return true;
  }

  const Operand& operand_;
  bool unique_ = false;                       // no other storage has this name
  std::vector<std::pair<Mark, bool>> marks_;  // of its storage's uses; whether they are named
  tvm::arith::Analyzer analyzer_;
};

// The tensors whose elements decide the value of an expression.
void FindLoads(const Program& program, Expr expr, std::set<std::string>* loads) {
  if (expr == kNone) return;
  const ExprNode& node = program.exprs[expr];
  if (node.kind == ExprKind::kLoad) loads->insert(program.tensors[node.number].name);
  if (node.kind == ExprKind::kSlot) {
    const Node* definition = program.slots[node.number].definition;
    if (definition == nullptr) return;
    if (definition->kind == NodeKind::kFresh) loads->insert(definition->name);
    if (definition->kind == NodeKind::kAssign) FindLoads(program, definition->value, loads);
  }
  for (const Expr child : {node.a, node.b, node.c}) FindLoads(program, child, loads);
}

// Marks the accesses that hints free, wherever they stand, from all that they could conflict with.
// On chip that can only be if their buffer shares no bytes with another one.
void FindFreed(Program* program) {
  std::map<std::pair<int, int>, std::vector<AccessPattern*>> together;  // by tensor or buffer
  for (const auto& node : program->nodes) {
    for (AccessPattern& access : node->instruction.accesses) {
      if (access.space == Space::kGm || access.buffer >= program->shared_buffers) {
        together[{access.tensor, access.buffer}].push_back(&access);
      }
    }
  }
  auto free = [&](const AccessPattern& p, const AccessPattern& q) {
    for (const HintedAs& one : p.hinted) {
      for (const HintedAs& other : q.hinted) {
        const Hint& hint = program->hints[one.hint];
        if (one.hint == other.hint && ((one.a && other.b) || (one.b && other.a)) && one.certain &&
            other.certain && hint.everywhere && hint.across == Hint::Across::kBoth) {
          return one.hint;
        }
      }
    }
    return -1;
  };
  for (auto& [storage, accesses] : together) {
    for (AccessPattern* access : accesses) {
      std::set<int> hints;
      for (const AccessPattern* other : accesses) {
        if (access->writes || other->writes) hints.insert(free(*access, *other));
      }
      if (hints.count(-1) == 0) access->apart_by = {hints.begin(), hints.end()};
    }
  }
}

}  // namespace

void ApplyHints(const tvm::IRModule& hinted, Program* program) {
  std::map<std::string, const PrimFuncNode*> kernels;
  for (const auto& [var, base] : hinted->functions) {
    if (const auto* kernel = base.as<PrimFuncNode>()) kernels[var->name_hint] = kernel;
  }
  for (const auto& [name, kernel] : kernels) {
    const HintsAndUses read = ReadHints(kernel->body);
    for (const FoundHint& found : read.hints) {
      const int number = static_cast<int>(program->hints.size());
      program->hints.push_back(found.hint);
      const NamedByOperand a(found.a, read), b(found.b, read);
      for (const auto& node : program->nodes) {
        for (AccessPattern& access : node->instruction.accesses) {
          const bool gm = access.space == Space::kGm;
          if (!gm && access.buffer < 0 && !program->buffers.empty()) continue;
          std::optional<std::string> storage;
          if (gm) storage = program->tensors[access.tensor].name;
          if (access.buffer >= 0) storage = program->buffers[access.buffer].name;
          Mark mark{{node->source.file, node->source.line}, access.writes, {}};
          FindLoads(*program, access.begin, &mark.loads);
          const Naming as_a = a.Of(!gm, storage, mark), as_b = b.Of(!gm, storage, mark);
          if (as_a == Naming::kNo && as_b == Naming::kNo) continue;
          program->hints[number].names_something = true;
          access.hinted.push_back({number, as_a != Naming::kNo, as_b != Naming::kNo,
                                   as_a != Naming::kMaybe && as_b != Naming::kMaybe});
        }
      }
    }
  }
  if (!program->hints.empty()) FindFreed(program);
}

}  // namespace tilelang_ascend_sched::verify
