// Two accesses that nothing orders may be the ones that a hint speaks of.
#include <algorithm>

#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

namespace {

// A loop around both of two accesses, and by how many iterations the second is later.
struct CommonLoop {
  const Node* loop;
  std::optional<int64_t> distance;
};

bool IsLoopOf(const Hint& hint, const Node* loop) {
  return hint.loop == loop->name &&
         (hint.loop_line == 0 || loop->source.line == 0 || hint.loop_line == loop->source.line);
}

// Outermost first. In a staged loop a turn does parts of several iterations.
std::vector<CommonLoop> CommonLoops(const Turns& earlier, const Turns& later) {
  std::vector<CommonLoop> common;
  for (int i = Turns::kKept; i-- > 0;) {
    const Node* loop = earlier.loops[i];
    for (int j = 0; j < Turns::kKept && loop != nullptr; ++j) {
      if (later.loops[j] == nullptr || !SameLoop(loop, later.loops[j])) continue;
      const int64_t distance = later.turns[j] - earlier.turns[i];
      common.push_back({loop, loop->staged ? std::nullopt : std::optional<int64_t>(distance)});
      break;
    }
  }
  return common;
}

}  // namespace

Run::Excuse Run::ExcuseOf(const Record& earlier, const Record& later) const {
  Excuse best;
  for (const HintedAs& one : earlier.pattern->hinted) {
    for (const HintedAs& other : later.pattern->hinted) {
      const bool sides = (one.a && other.b) || (one.b && other.a);
      if (one.hint != other.hint || !sides) continue;
      const Answer named = one.certain && other.certain ? Answer::kYes : Answer::kMaybe;
      const Answer answer = std::min(named, SpeaksOf(program_.hints[one.hint], earlier, later));
      if (answer > best.answer) best = {answer, one.hint};
    }
  }
  return best;
}

// Whether the hint holds for accesses at these turns, given that it names them.
Run::Answer Run::SpeaksOf(const Hint& hint, const Record& earlier, const Record& later) const {
  if (hint.everywhere && hint.across == Hint::Across::kBoth) return Answer::kYes;
  const std::vector<CommonLoop> common = CommonLoops(earlier.turns, later.turns);
  const Node* between = nullptr;  // the outermost loop of which they are in different iterations
  bool differ = false, decided = !earlier.turns.more && !later.turns.more;
  for (size_t i = 0; i < common.size() && decided && !differ; ++i) {
    decided = common[i].distance.has_value();
    if (!decided || *common[i].distance == 0) continue;
    differ = true;
    between = common[i].loop;
  }
  auto repeatable = [&](const Record& record) {
    return search_.symbols->IsRepeatable(bases_[record.region.base]);
  };
  if (!decided && hint.same_sides) {
    // One operand names both: in one iteration their addresses are the same.
    if (earlier.region.base == later.region.base) {
      if (hint.across == Hint::Across::kBetween) return Answer::kNo;
    } else if (repeatable(earlier) && repeatable(later)) {
      differ = decided = true;
      if (common.size() == 1) between = common[0].loop;
    }
  }
  if (!decided) return Answer::kMaybe;
  if (hint.across == (differ ? Hint::Across::kWithin : Hint::Across::kBetween)) return Answer::kNo;
  if (hint.everywhere) return Answer::kYes;
  auto answer = [](bool yes) { return yes ? Answer::kYes : Answer::kNo; };
  if (!differ && !common.empty()) return answer(IsLoopOf(hint, common.back().loop));
  if (!differ) return answer(hint.loop.empty());
  return between == nullptr ? Answer::kMaybe : answer(IsLoopOf(hint, between));
}

// Notes that the proof rests on a hint; false if it did before.
bool Run::Use(int hint) {
  std::vector<bool>& used = *search_.used_hints;
  if (used[hint]) return false;
  return used[hint] = true;
}

// Whether an access is free from all others by hints that are needed anyway.
bool Run::Excused(const AccessPattern& pattern) const {
  return !pattern.apart_by.empty() &&
         std::all_of(pattern.apart_by.begin(), pattern.apart_by.end(),
                     [this](int hint) { return (*search_.used_hints)[hint]; });
}

}  // namespace tilelang_ascend_sched::verify
