#pragma once

#include <tvm/arith/analyzer.h>
#include <tvm/tirx/buffer.h>
#include <tvm/tirx/stmt.h>

#include <string>
#include <variant>
#include <vector>

#include "analysis/dependence/prover.h"

namespace tilelang_ascend_sched {

// What the operand of a conflict hint names: all of a storage, by its data variable, or a region.
using HintOperand = std::variant<tvm::tirx::Var, tvm::tirx::BufferRegion>;

// As the user would write it: `x`, or `x[0:16, i]`.
std::string DescribeOperand(const HintOperand& operand);

// The accesses of a kernel, as far as hints can name them.
class NamedAccesses {
 public:
  // Those of `body`, leaving out the operands of hints.
  explicit NamedAccesses(const tvm::tirx::Stmt& body);

  // The operand itself, and for a region each region of the same buffer that the kernel accesses
  // from the same corner with extents that are not greater: what is left of the named access where
  // it was cut off at the edge of its buffer. A claim about a region holds for its parts.
  std::vector<HintOperand> WithClampedForms(const HintOperand& operand);

  // False if no access can be one that `operand` names.
  bool MayMatch(const HintOperand& operand);

 private:
  bool IsPartOf(const tvm::tirx::BufferRegion& access, const tvm::tirx::BufferRegion& named);

  std::vector<tvm::tirx::BufferRegion> regions_;
  std::vector<tvm::tirx::Buffer> elementwise_;  // accessed by loads, stores or pointers
  tvm::arith::Analyzer analyzer_;
  Prover prover_;
};

}  // namespace tilelang_ascend_sched
