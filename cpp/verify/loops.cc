// Loops: what is asked of their ends, and whether the state at a head was walked from before.
#include <algorithm>

#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

void Run::StartLoop(int core, Frame* frame) {
  frame->choices = path_.choices().size();
  ++cores_[core].loops;
}

Value Run::ExtentOf(int core, const Node& loop) {
  const auto least = search_.periods.LeastTurns(&loop);
  if (inputs_ != nullptr || !least) return Eval(core, loop.value);
  return search_.symbols->Turns(core, {*least, kUnbounded});
}

// Whether a loop that is counted ends here. Whether it has turns at all says the same of all loops
// to this end; that it ends after some turns says nothing of others.
bool Run::Ends(int core, Frame* frame) {
  const Value remaining = frame->extent - Value(frame->turn);
  if (remaining.known()) return remaining.constant <= 0;
  if (frame->turn > 0) return path_.AtMostZero(remaining, cores_[core].loops, true);
  if (path_.AtMostZero(remaining, DepthOf(core, frame->node->value))) return true;
  Open(core, frame);
  return false;
}

void Run::Open(int core, Frame* frame) {
  CoreState& state = cores_[core];
  const Path::Question now = EndOf(*frame);
  const Path::Question next = path_.Asked(frame->extent - Value(frame->turn + 1));
  // From another start, the variable is not the turn.
  const bool counts = program_.exprs[frame->node->minimum].kind == ExprKind::kConstant;
  frame->open = static_cast<int>(state.open.size());
  state.open.push_back({now.terms, state.loops_to[now.terms]++, counts ? frame->node->slot : -1,
                        next.bound - now.bound});
  uint32_t& cores = search_.cores_to[now.terms];
  if ((cores >> core & 1) == 0 && search_.closed.count(now.terms) != 0) search_.closed_early = true;
  cores |= 1u << core;
  path_.AskFrom(state.open);
}

// At the end of a loop: what was found out inside of it is not known of the turns that were not
// walked. Other cores may still be inside a loop to the same end.
void Run::Close(int core, const Frame& frame) {
  CoreState& state = cores_[core];
  if (inputs_ != nullptr) return;
  const bool counted = frame.node->kind == NodeKind::kFor && frame.extent.known();
  if (search_.forgets && !counted) path_.ForgetFrom(state.loops);
  if (frame.open < 0) return;
  const OpenLoop loop = state.open[frame.open];
  state.open.resize(frame.open);
  path_.AskFrom(state.open);
  for (int other = 0; other < kCores; ++other) {
    if (other == core || (search_.cores_to[loop.end] >> other & 1) == 0) continue;
    const CoreState& its = cores_[other];
    const auto begun = its.loops_to.find(loop.end);
    if (begun == its.loops_to.end()) return;
    const auto inside = std::count_if(its.open.begin(), its.open.end(),
                                      [&](const OpenLoop& open) { return open.end == loop.end; });
    if (begun->second - inside <= loop.generation) return;
  }
  path_.Close(loop);
  search_.closed.insert(loop.end);
}

// What the head of a loop asks, as a bound on its run-time end; no terms if the end is known.
Path::Question Run::EndOf(const Frame& frame) const {
  if (frame.node->kind != NodeKind::kFor || frame.extent.known()) return {};
  return path_.Asked(frame.extent - Value(frame.turn));
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
    if (!path_.replaying()) covered_ = SeenBefore(StateAt(core, *frame, true));
    Loosen();
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
