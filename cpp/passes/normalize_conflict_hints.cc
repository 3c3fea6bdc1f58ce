#include "passes/normalize_conflict_hints.h"

#include <op/utils.h>
#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/ffi/reflection/registry.h>
#include <tvm/ir/cast.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>
#include <tvm/tirx/transform.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/named_accesses.h"
#include "ir/attrs.h"
#include "ir/kernels.h"
#include "report/error.h"
#include "report/note.h"
#include "report/place.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::Bool;
using tvm::DataType;
using tvm::Downcast;
using tvm::IntImm;
using tvm::IntImmNode;
using tvm::Op;
using tvm::PrimExpr;
using tvm::Span;
using tvm::ffi::Any;
using tvm::ffi::Array;

namespace {

constexpr const char* kPass = "NormalizeConflictHints";

// Levels that are no loop's number.
constexpr int64_t kEveryLevel = -2;
constexpr int64_t kRootLevel = -1;

struct Hint {
  HintOperand a;
  HintOperand b;
  int64_t level;  // a loop counted from the outermost, or one of the above
  int64_t cross;
  std::string group;  // empty unless the hint is one of two halves
  bool conflict;
  Span span;

  const char* name() const { return conflict ? "assume_conflict" : "assume_no_conflict"; }
};

HintOperand DecodeOperand(const PrimExpr& arg) {
  if (auto storage = arg.as<Var>()) return *storage;
  return tvm::tl::NormalizeToBufferRegion(arg);
}

Hint Decode(const CallNode* call, const Span& span) {
  TVM_FFI_ICHECK_EQ(call->args.size(), 6U);
  auto integer = [&](size_t arg) { return Downcast<IntImm>(call->args[arg])->value; };
  return {DecodeOperand(call->args[0]),
          DecodeOperand(call->args[1]),
          integer(2),
          integer(3),
          Downcast<StringImm>(call->args[4])->value,
          integer(5) != 0,
          span};
}

Any EncodeOperand(const HintOperand& operand) {
  return std::visit([](const auto& named) { return Any(named); }, operand);
}

// The hints recorded at one level; in the IR those against conflicts come first.
struct Level {
  Array<Any> no_conflict;
  Array<Any> conflict;

  Array<Any> Entries() const {
    Array<Any> entries = no_conflict;
    for (const Any& entry : conflict) entries.push_back(entry);
    return entries;
  }
};

class HintTaker : public StmtMutator {
 public:
  HintTaker(const PrimFunc& kernel, SBlock root) : kernel_(kernel), root_block_(std::move(root)) {}

  SBlock Take() {
    SBlock root = root_block_;
    Stmt body = VisitStmt(root->body);
    for (const auto& [key, half] : halves_) {
      Fail(kPass, Text(half.hint.name(), " group '", half.hint.group,
                       "' appears only once; each group must appear exactly twice",
                       Place(half.hint.span)));
    }
    if (body.same_as(root->body)) return root;
    SBlockNode* edit = root.CopyOnWrite();
    edit->body = std::move(body);
    if (Array<Any> entries = root_.Entries(); !entries.empty()) {
      edit->annotations.Set(attrs::kRootConflictHints, entries);
    }
    return root;
  }

 private:
  struct Half {
    Hint hint;
    std::vector<const ForNode*> loops;
  };

  Stmt VisitStmt_(const EvaluateNode* op) final {
    static const Op& hint_op = Op::Get(attrs::kConflictHintOp);
    const auto* call = op->value.as<CallNode>();
    if (call == nullptr || !call->op.same_as(hint_op)) return tvm::ffi::GetRef<Stmt>(op);
    const Hint hint = Decode(call, op->span.defined() ? op->span : call->span);
    hint.group.empty() ? Record(hint, loops_.size()) : Pair(hint);
    return Evaluate(0);
  }

  Stmt VisitStmt_(const SeqStmtNode* op) final {
    Stmt sequence = StmtMutator::VisitStmt_(op);
    return SeqStmt::Flatten(Array<Stmt>{std::move(sequence)});
  }

  Stmt VisitStmt_(const ForNode* op) final {
    // A thread binding is no loop to count.
    if (op->kind == ForKind::kThreadBinding) return StmtMutator::VisitStmt_(op);
    loops_.push_back(op);
    levels_.emplace_back();
    Stmt loop = StmtMutator::VisitStmt_(op);
    Array<Any> entries = levels_.back().Entries();
    loops_.pop_back();
    levels_.pop_back();
    if (entries.empty()) return loop;
    For annotated = Downcast<For>(std::move(loop));
    annotated.CopyOnWrite()->annotations.Set(attrs::kConflictHint, entries);
    return annotated;
  }

  // The first half of a group waits for the second, which speaks of the loops around both.
  void Pair(const Hint& hint) {
    const auto key = std::make_pair(hint.conflict, hint.group);
    auto group = [&] { return Text(hint.name(), " group '", hint.group, "'"); };
    if (paired_.count(key) != 0) {
      Fail(kPass, Text(group(), " appears more than twice; each group must appear exactly twice",
                       Place(hint.span)));
    }
    auto found = halves_.find(key);
    if (found == halves_.end()) {
      halves_.emplace(key, Half{hint, loops_});
      return;
    }
    const Half& first = found->second;
    CheckSame(group(), "level", first.hint.level, hint.level, hint.span);
    CheckSame(group(), "cross", first.hint.cross, hint.cross, hint.span);
    const auto shared =
        std::mismatch(loops_.begin(), loops_.end(), first.loops.begin(), first.loops.end()).first;
    Hint whole = hint;
    whole.a = first.hint.a;
    whole.b = hint.a;
    Record(whole, shared - loops_.begin());
    halves_.erase(found);
    paired_.insert(key);
  }

  static void CheckSame(const std::string& group, const char* what, int64_t first, int64_t second,
                        const Span& span) {
    if (first == second) return;
    Fail(kPass, Text(group, " has mismatched ", what, " in its two halves: ", first, " and ",
                     second, Place(span)));
  }

  // Records at the levels that the hint speaks of, out of the outermost `depth` loops and the root.
  void Record(const Hint& hint, size_t depth) {
    const Array<Any> entries = Encode(hint);
    auto add = [&](Level* level) {
      Array<Any>& list = hint.conflict ? level->conflict : level->no_conflict;
      for (const Any& entry : entries) list.push_back(entry);
    };
    if (hint.level < kEveryLevel) {
      Fail(kPass, Text(hint.name(), " level must be >= ", kEveryLevel, ", got ", hint.level,
                       Place(hint.span)));
    }
    if (hint.level == kEveryLevel) {
      for (size_t level = 0; level < depth; ++level) add(&levels_[level]);
    }
    if (hint.level < 0) {
      add(&root_);
    } else if (static_cast<size_t>(hint.level) < depth) {
      add(&levels_[hint.level]);
    } else {
      Fail(kPass, Text(hint.name(), " level ", hint.level, " is out of range: ", depth,
                       " loops enclose it", Place(hint.span)));
    }
  }

  Array<Any> Encode(const Hint& hint) {
    TellIfUseless(hint, hint.a);
    const bool same = Same(hint.a, hint.b);
    if (!same) TellIfUseless(hint, hint.b);
    const std::vector<HintOperand> as = Accesses().WithClampedForms(hint.a);
    const std::vector<HintOperand> bs = same ? as : Accesses().WithClampedForms(hint.b);
    Array<Any> entries;
    for (size_t i = 0; i < as.size(); ++i) {
      // Entries count in both directions.
      for (size_t j = same ? i : 0; j < bs.size(); ++j) {
        entries.push_back(Array<Any>{EncodeOperand(as[i]), EncodeOperand(bs[j]),
                                     IntImm(DataType::Int(32), hint.cross), Bool(hint.conflict)});
      }
    }
    return entries;
  }

  static bool Same(const HintOperand& a, const HintOperand& b) {
    return tvm::ffi::StructuralEqual::Equal(EncodeOperand(a), EncodeOperand(b));
  }

  void TellIfUseless(const Hint& hint, const HintOperand& operand) {
    if (Accesses().MayMatch(operand)) return;
    const std::string named = DescribeOperand(operand);
    Note(kPass, kernel_, NoteKind::kDegraded,
         Text(hint.name(), " has no effect: the kernel accesses nothing that is ", named,
              Place(hint.span)),
         {{"hint", tvm::ffi::String(hint.name())}, {"operand", named}});
  }

  // Most kernels have no hints, and so need no accesses.
  NamedAccesses& Accesses() {
    if (!accesses_.has_value()) accesses_.emplace(root_block_->body);
    return *accesses_;
  }

  const PrimFunc& kernel_;
  const SBlock root_block_;
  std::optional<NamedAccesses> accesses_;
  std::vector<const ForNode*> loops_;
  std::vector<Level> levels_;  // of loops_
  Level root_;
  std::map<std::pair<bool, std::string>, Half> halves_;
  std::set<std::pair<bool, std::string>> paired_;
};

}  // namespace

tvm::transform::Pass NormalizeConflictHints() {
  auto run = [](PrimFunc kernel, const tvm::IRModule&, const tvm::transform::PassContext&) {
    return RewriteKernels(kernel, [&kernel](const SBlock& root, const KernelPlace&) {
      return HintTaker(kernel, root).Take();
    });
  };
  return transform::CreatePrimFuncPass(run, 0, "tl.NormalizeConflictHints", {});
}

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef().def("tl.ascend_sched.transform.NormalizeConflictHints",
                                        NormalizeConflictHints);
}

}  // namespace tilelang_ascend_sched
