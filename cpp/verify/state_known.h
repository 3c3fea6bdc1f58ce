#pragma once

#include <vector>

#include "verify/run.h"
#include "verify/state_text.h"

namespace tilelang_ascend_sched::verify {

// Writes what a path knows at a state at the head of a loop of core `head`.
class KnownWriter {
 public:
  KnownWriter(const Run& run, int head, StateText* out) : run_(run), head_(head), out_(*out) {}

  void Write();

 private:
  void WriteDecisions();
  void WriteLeft();
  void WriteBegun();
  void WriteIndices();
  int FirstOpen(const std::vector<Term>& end) const;

  const Run& run_;
  const int head_;
  StateText& out_;
};

}  // namespace tilelang_ascend_sched::verify
