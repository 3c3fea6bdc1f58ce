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

  // The variables that decide what two accesses to the tensor are to each other. If all addresses
  // differ by numbers that no variable changes, only those that choose elements in them do; else
  // all that addresses are made of.
  std::vector<Slot> Variables(int tensor) const;

  // What of the value of a variable the addresses of the tensor depend on: how many of them, now
  // that guards keep some from being touched again in this pass through the variable's loop, and
  // what of the value they take.
  std::pair<int64_t, int64_t> Class(int tensor, Slot slot, int64_t value) const;

  // Whether the elements of the tensor that are read come again after some turns.
  bool ComeAgain(int tensor) const;

  // Calls `each(slot, class)` for the variables that decide which elements of a tensor the scalar
  // programs read, where `class(value)` is what of a value decides.
  template <typename Each>
  void ForEachIndex(int tensor, Each each) const {
    for (const auto& [slot, uses] : elements_[tensor]) {
      each(slot, [&uses](int64_t value) { return ClassOf(uses, value).second; });
    }
  }

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
    std::map<Slot, std::vector<Use>> chosen;  // of elements of tensors that addresses rest on
  };

  void Name(const Node* node, std::map<std::string, int>* numbers);
  void Walk(const Node* node, const std::vector<Most>& guards);
  void Note(const AccessPattern& access, const std::vector<Most>& guards);
  Form FormOf(Expr expr) const;
  static std::pair<int64_t, int64_t> ClassOf(const std::vector<Use>& uses, int64_t value);
  void Chosen(Expr expr, std::map<Slot, int64_t>* slots) const;
  const std::map<Slot, std::vector<Use>>& UsesOf(int tensor) const {
    return tensors_[tensor].uniform ? tensors_[tensor].chosen : tensors_[tensor].uses;
  }
  std::string Text(Expr expr) const;

  const Program& program_;
  std::vector<std::string> names_;  // of variables
  std::vector<OfTensor> tensors_;
  std::vector<std::map<Slot, std::vector<Use>>> elements_;  // of tensors, by what chooses them
};

}  // namespace tilelang_ascend_sched::verify
