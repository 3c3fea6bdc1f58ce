#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "verify/linear.h"
#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// How the addresses of a GM tensor move while loops go on. If all of them move alike, what one
// access is to another is the same at every turn.
class Rates {
 public:
  explicit Rates(const Program& program);

  // Whether the addresses of all accesses to the tensor differ by numbers that no variable changes.
  bool Uniform(int tensor) const { return tensors_[tensor].uniform; }

  // The variables that addresses of the tensor are made of.
  std::vector<Slot> Variables(int tensor) const;

  // What of the value of a variable the addresses of the tensor depend on: how many of them, now
  // that guards keep some from being touched again in this pass through the variable's loop, and
  // what of the value they take.
  std::pair<int64_t, int64_t> Class(int tensor, Slot slot, int64_t value) const;

 private:
  using Form = std::map<std::string, int64_t>;  // factors of variables, or of what they stand in

  // A variable in an address.
  struct Use {
    int64_t period;  // after which distance the address repeats; 0 for never
    int64_t most;    // beyond this value nothing is touched there
  };
  struct OfTensor {
    bool touched = false;
    bool uniform = true;
    Form form;
    std::map<Slot, std::vector<Use>> uses;
  };

  void Name(const Node* node, std::map<std::string, int>* numbers);
  void Walk(const Node* node, const std::vector<Most>& guards);
  void Note(const AccessPattern& access, const std::vector<Most>& guards);
  Form FormOf(Expr expr) const;
  void Collect(Expr expr, std::map<Slot, int64_t>* slots, int64_t period = 0) const;
  std::string Text(Expr expr) const;

  const Program& program_;
  std::vector<std::string> names_;  // of variables
  std::vector<OfTensor> tensors_;
};

}  // namespace tilelang_ascend_sched::verify
