#pragma once

#include <tvm/ffi/container/array.h>
#include <tvm/tirx/stmt.h>

#include <variant>
#include <vector>

#include "analysis/access.h"
#include "analysis/dependence/prover.h"
#include "analysis/named_accesses.h"

namespace tilelang_ascend_sched {

// What `T.assume_conflict` and `T.assume_no_conflict` say at one level: of the body of a loop, or
// of the kernel.
class ConflictHints {
 public:
  enum class Verdict { kNothing, kConflict, kNoConflict };

  // An access and what is known there.
  struct Site {
    const Access& access;
    const Facts& facts;
  };

  struct Hint {
    HintOperand a;
    HintOperand b;
    std::optional<bool> across;  // between iterations, within one; not set: both
    bool conflict;

    bool SpeaksOf(bool across_iterations) const {
      return !across.has_value() || *across == across_iterations;
    }
  };

  // From the annotation that NormalizeConflictHints leaves (ir/attrs.h); nothing for an undefined
  // one.
  explicit ConflictHints(const tvm::ffi::Optional<tvm::ffi::Any>& annotation);

  // What the hints say of two accesses; a conflict counts more.
  Verdict Of(const Site& a, const Site& b, bool across_iterations);

  // True if the operand names the access. A storage names all accesses to it, a region those that
  // are known to lie within.
  bool Names(const HintOperand& operand, const Site& site);

  const std::vector<Hint>& all() const { return hints_; }

 private:
  std::vector<Hint> hints_;
  Prover prover_;
};

}  // namespace tilelang_ascend_sched
