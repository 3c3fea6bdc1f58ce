#pragma once

#include <tvm/arith/analyzer.h>
#include <tvm/ffi/container/map.h>
#include <tvm/tirx/stmt.h>

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace tilelang_ascend_sched {

// Both ends included.
struct IntRange {
  int64_t min;
  int64_t max;
};

// What is known at one place of a kernel: ranges of loops and launch indices around it, bindings
// and assertions before it, conditions and assumptions that guard it. In the order in which control
// meets them, since each is understood in the light of those before it.
class Facts {
 public:
  void AddRange(const tvm::tirx::Var& var, const tvm::Range& range);
  void AddValue(const tvm::tirx::Var& var, const tvm::PrimExpr& value);
  void AddCondition(const tvm::PrimExpr& condition, bool assumed = false);

  // What holds inside a loop: its variable's range, and that there is an iteration.
  void AddLoop(const tvm::tirx::ForNode* loop);

  // What an attribute promises its body: launch extents and assumptions.
  void AddAttribute(const tvm::tirx::AttrStmtNode* attr);

  // What a statement promises those that follow it in its sequence: the value of a binding, also of
  // one inside a task's marker or schedule unit, the condition of an assertion on no memory, and of
  // a call of `assume`.
  void AddAfter(const tvm::tirx::Stmt& stmt);

  // A scope ends by going back to the size that it began with.
  size_t size() const { return facts_.size(); }
  void Truncate(size_t size) { facts_.erase(facts_.begin() + size, facts_.end()); }

  void Append(const Facts& more) {
    facts_.insert(facts_.end(), more.facts_.begin(), more.facts_.end());
  }

  // The facts from number `first` on, told of another execution of the same code: variables are
  // replaced by expressions, and what conditions read from memory is unknown.
  Facts Replaced(const tvm::ffi::Map<tvm::tirx::Var, tvm::PrimExpr>& values, size_t first) const;

  // Those that bear on a variable of `exprs` or on a condition from number `guards` on, directly or
  // through others.
  Facts Relevant(const std::vector<tvm::PrimExpr>& exprs, size_t guards) const;

  // Tells `analyzer` all of it. Values that were read from memory or from calls with effects are
  // told as unknown: they need not be the same the next time.
  void Populate(tvm::arith::Analyzer* analyzer) const;

  // The range of an integer expression; nothing if either end is open.
  std::optional<IntRange> RangeOf(const tvm::PrimExpr& expr) const;

 private:
  struct Ranged {
    tvm::tirx::Var var;
    tvm::Range range;
  };
  struct Bound {
    tvm::tirx::Var var;
    tvm::PrimExpr value;
  };
  struct Holds {
    tvm::PrimExpr condition;
    bool assumed;
  };

  using Fact = std::variant<Ranged, Bound, Holds>;

  std::vector<Fact> facts_;
};

// Forgets at its end what was learned since its begin.
class FactScope {
 public:
  explicit FactScope(Facts* facts) : facts_(facts), outside_(facts->size()) {}
  ~FactScope() { facts_->Truncate(outside_); }
  FactScope(const FactScope&) = delete;
  FactScope& operator=(const FactScope&) = delete;

 private:
  Facts* facts_;
  size_t outside_;
};

// An analyzer that learns the facts at the first question.
class FactAnalyzer {
 public:
  explicit FactAnalyzer(const Facts& facts) : facts_(facts) {}

  tvm::arith::Analyzer* get() {
    if (!analyzer_) {
      analyzer_.emplace();
      facts_.Populate(&*analyzer_);
    }
    return &*analyzer_;
  }
  tvm::arith::Analyzer* operator->() { return get(); }

 private:
  const Facts& facts_;
  std::optional<tvm::arith::Analyzer> analyzer_;
};

// `expr` with every read of memory and every call with effects replaced by a variable of its own.
tvm::PrimExpr WithoutReads(const tvm::PrimExpr& expr);

}  // namespace tilelang_ascend_sched
