#include "verify/state_known.h"

#include <algorithm>
#include <climits>
#include <map>
#include <utility>

namespace tilelang_ascend_sched::verify {

void KnownWriter::Write() {
  WriteDecisions();
  WriteLeft();
  WriteBegun();
  WriteIndices();
}

void KnownWriter::WriteDecisions() {
  std::map<std::pair<std::vector<Term>, int>, Range> known;
  for (const Decision& decision : run_.path_.decisions()) {
    Range& range = known
                       .try_emplace({decision.terms, decision.loop < 0 ? decision.depth : -1},
                                    Range{-kUnbounded, kUnbounded})
                       .first->second;
    if (decision.holds) {
      range.high = std::min(range.high, decision.bound);
    } else {
      range.low = std::max(range.low, decision.bound + 1);
    }
  }
  out_.Number(static_cast<int64_t>(known.size()));
  for (const auto& [key, range] : known) {
    out_.Terms(key.first);
    out_.Number(key.second);
    out_.Number(range.low);
    out_.Number(range.high);
  }
}

// Which elements are read next, of tensors of which some are known.
void KnownWriter::WriteIndices() {
  for (const int tensor : run_.told_elements_) {
    out_.Number(tensor);
    run_.search_.rates.ForEachIndex(tensor, [&](Slot slot, auto class_of) {
      for (int core = 0; core < kCores; ++core) {
        const bool live = run_.cores_[core].present && run_.Live(core, slot, core == head_);
        if (!live || !run_.cores_[core].slots[slot].known()) continue;
        out_.Number(class_of(run_.cores_[core].slots[slot].constant));
      }
    });
  }
}

// Loops that no core is in at present, for the cores that are still to come.
void KnownWriter::WriteLeft() {
  for (const auto& [key, loop] : run_.open_loops_) {
    const bool inside =
        std::any_of(std::begin(run_.cores_), std::end(run_.cores_), [&](const auto& core) {
          return std::find(core.open.begin(), core.open.end(), key) != core.open.end();
        });
    if (inside) continue;
    out_.Terms(key.first);
    out_.Number(key.second - FirstOpen(key.first));
    out_.Number(loop.counter);
    out_.Number(loop.index);
  }
}

// How many more loops to an end some cores have begun than others.
void KnownWriter::WriteBegun() {
  out_.Number(-1);
  for (const auto& [end, cores] : run_.search_.cores_to) {
    const int least = FirstOpen(end);
    for (int core = 0; core < kCores; ++core) {
      const auto begun = run_.cores_[core].loops_to.find(end);
      if (begun == run_.cores_[core].loops_to.end() || begun->second == least) continue;
      out_.Terms(end);
      out_.Number(core);
      out_.Number(begun->second - least);
    }
  }
}

int KnownWriter::FirstOpen(const std::vector<Term>& end) const {
  int least = INT_MAX;
  const auto cores = run_.search_.cores_to.find(end);
  for (int core = 0; core < kCores; ++core) {
    if (cores == run_.search_.cores_to.end() || (cores->second >> core & 1) == 0) continue;
    const auto begun = run_.cores_[core].loops_to.find(end);
    least = std::min(least, begun == run_.cores_[core].loops_to.end() ? 0 : begun->second);
  }
  return least;
}

}  // namespace tilelang_ascend_sched::verify
