#pragma once

#include <tvm/tirx/stmt.h>

#include <string>
#include <vector>

#include "analysis/cost/cost.h"
#include "analysis/cost/hf32_mode.h"
#include "hw/machine.h"
#include "ir/facts.h"

namespace tilelang_ascend_sched {

// Estimates statements of one kernel.
class StatementCosts {
 public:
  StatementCosts(const Machine& machine, CallSet hf32_calls)
      : machine_(machine), hf32_calls_(std::move(hf32_calls)) {}

  // Statements follow each other, serial loops repeat their body, a branch costs as much as its
  // longer side; anything else is one piece of work: its copies and multiplies and its Vector body
  // or scalar work. The cost is {0, 0} if no iteration of a loop is ever run.
  Cost CostOf(const tvm::tirx::Stmt& stmt, const Facts& facts);

  // Names of called operations without a figure, met so far, each once.
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  Cost Compose(const tvm::tirx::Stmt& stmt, Facts* facts);
  Cost Sequence(const tvm::tirx::SeqStmtNode* sequence, Facts* facts);
  Cost Loop(const tvm::tirx::ForNode* loop, Facts* facts);
  Cost Branch(const tvm::tirx::IfThenElseNode* branch, Facts* facts);
  Cost Leaf(const tvm::tirx::Stmt& stmt, const Facts& facts);
  void AddUnknown(const std::vector<std::string>& names);

  const Machine& machine_;
  CallSet hf32_calls_;
  std::vector<std::string> unknown_;
};

}  // namespace tilelang_ascend_sched
