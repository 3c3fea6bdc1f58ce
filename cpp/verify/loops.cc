// Loops: what is asked of their ends, and whether the state at a head was walked from before.
#include <algorithm>

#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

void Run::StartLoop(int core, Frame* frame) {
  frame->choices = path_.choices().size();
  ++cores_[core].loops;
  if (frame->node->kind != NodeKind::kFor) return;
  frame->extent = ExtentOf(core, *frame->node);
  const Slot slot = frame->node->slot;
  const bool open = !frame->extent.known();
  // What counted the last pass through the loop may still be known to others.
  if (open && path_.counters().count(search_.symbols->Counter(core, slot)) != 0) Recount(kNone);
  Assign(core, slot, frame->node->minimum);
  if (open) Open(core, frame);
}

Value Run::ExtentOf(int core, const Node& loop) {
  const auto least = search_.periods.LeastTurns(&loop);
  if (inputs_ != nullptr || !least) return path_.Told(EvalLoose(core, loop.value));
  return search_.symbols->Turns(core, {*least, kUnbounded});
}

// The number of the present turn of an open loop, made of counters.
Value Run::TurnOf(int core, const Frame& frame) const {
  const OpenLoop& loop = open_loops_.at(cores_[core].open[frame.open]);
  return ValueOf(loop.counter) + Value(frame.index() - loop.index);
}

// Whether a loop that is counted ends here. Whether it has turns at all says the same of all loops
// to this end; that it ends after some turns says nothing of others.
bool Run::Ends(int core, Frame* frame) {
  if (frame->extent.known()) return frame->extent.constant <= frame->turn;
  const int loops = cores_[core].loops;
  if (frame->turn > 0) {
    return path_.AtMostZero(frame->extent - TurnOf(core, *frame) - Value(1), loops);
  }
  if (path_.AtMostZero(frame->extent, DepthOf(core, frame->node->value))) return true;
  // What is known of the end counts by its distance from now on, if it is not far.
  constexpr int64_t kNear = 16;
  const Range turns = path_.Bounds(frame->extent);
  const Value left = frame->extent - TurnOf(core, *frame);
  const int number = open_loops_.at(cores_[core].open[frame->open]).number;
  if (turns.low <= kNear) path_.Conclude(Value(turns.low) - left, number);
  if (turns.high <= kNear) path_.Conclude(left - Value(turns.high), number);
  return false;
}

// The sum of run-time inputs that decides how many turns a loop has.
std::vector<Term> Run::EndOf(const Frame& frame) const {
  return path_.Asked(path_.Now(frame.extent)).terms;
}

void Run::Open(int core, Frame* frame) {
  CoreState& state = cores_[core];
  const std::vector<Term> end = EndOf(*frame);
  const Symbol counter = search_.symbols->Counter(core, frame->node->slot);
  const LoopKey key = {end, state.loops_to[end]++};
  uint32_t& cores = search_.cores_to[end];
  if ((cores >> core & 1) == 0 && search_.closed.count(end) != 0) search_.closed_early = true;
  cores |= 1u << core;
  frame->open = static_cast<int>(state.open.size());
  state.open.push_back(key);
  const auto [loop, is_new] = open_loops_.try_emplace(key, OpenLoop{loops_begun_, counter, 0});
  if (is_new) {
    ++loops_begun_;
    path_.Count(counter, {0, {0, 0}});
  }
  Value& loose = state.loose[frame->node->slot];
  loose = path_.Told(loose) + TurnOf(core, *frame);
}

// At the end of a loop: what was found out inside of it is not known of the turns that were not
// walked. Other cores may still be inside a loop to the same end.
void Run::Close(int core, const Frame& frame) {
  CoreState& state = cores_[core];
  if (inputs_ != nullptr) return;
  const bool counted = frame.node->kind == NodeKind::kFor && frame.extent.known();
  if (search_.forgets && !counted) path_.ForgetFrom(state.loops);
  if (frame.open < 0) return;
  const LoopKey loop = state.open[frame.open];
  state.open.resize(frame.open);
  for (int other = 0; other < kCores; ++other) {
    if (other == core || (search_.cores_to[loop.first] >> other & 1) == 0) continue;
    const CoreState& its = cores_[other];
    const auto begun = its.loops_to.find(loop.first);
    if (begun == its.loops_to.end() || begun->second <= loop.second) return;
    if (std::find(its.open.begin(), its.open.end(), loop) != its.open.end()) return;
  }
  path_.ForgetEnd(open_loops_.at(loop).number);
  open_loops_.erase(loop);
  search_.closed.insert(loop.first);
}

// At the head of a loop: false if the path need not be walked further.
bool Run::Head(int core, Frame* frame) {
  at_head_ = true;
  // Turns without instructions cost as well.
  if (++search_.events > search_.limits.events) {
    Finding finding{"budget", false};
    finding.message = "the kernel takes more than " + std::to_string(search_.limits.events) +
                      " turns and instructions to check";
    finding.first = Site{frame->node->source, static_cast<Core>(core), Pipe::kS, {}};
    Report(std::move(finding));
    stopped_ = true;
    return false;
  }
  const bool depends_on_inputs = frame->node->kind == NodeKind::kFor
                                     ? !frame->extent.known()
                                     : path_.choices().size() > frame->choices;
  if (!depends_on_inputs && path_.choices().size() == frame->choices) {
    SkipAhead(core, frame);
    return true;
  }
  if (frame->turn <= search_.limits.turns) {
    if (inputs_ != nullptr) return true;
    if (search_.forgets) path_.ForgetFrom(cores_[core].loops);
    Recount(core);
    if (!path_.replaying()) covered_ = SeenBefore(StateAt(core, *frame, true));
    return !covered_;
  }
  Finding finding{"not periodic", false};
  finding.message = "after " + std::to_string(frame->turn) +
                    " turns the loop has not come back to a state that it was in before";
  finding.first = Site{frame->node->source, static_cast<Core>(core), Pipe::kS, {}};
  Report(std::move(finding));
  stopped_ = true;
  return false;
}

// Whether all that can follow was walked: from a state that is the same but for threads that knew
// no more. Who knows less goes wrong wherever one who knows more does.
bool Run::SeenBefore(const State& state) {
  std::vector<std::string>& earlier = search_.seen[state.text];
  auto knows_all = [](const std::string& more, const std::string& less) {
    for (size_t i = 0; i < less.size(); ++i) {
      if ((less[i] & ~more[i]) != 0) return false;
    }
    return true;
  };
  for (const std::string& known : earlier) {
    if (knows_all(state.known, known)) return true;
  }
  std::erase_if(earlier, [&](const std::string& known) { return knows_all(known, state.known); });
  earlier.push_back(state.known);
  return false;
}

}  // namespace tilelang_ascend_sched::verify
