#include "verify/run.h"

#include <algorithm>
#include <utility>

namespace tilelang_ascend_sched::verify {

Run::Run(Search* search, Path* path, const Inputs* inputs)
    : search_(*search),
      program_(search->program),
      path_(*path),
      inputs_(inputs),
      tensors_(search->program.tensors.size()) {
  search_.symbols->RestartFresh();
  bases_.emplace_back();
  std::fill(std::begin(joined_), std::end(joined_), -1);
  for (int core = 0; core < kCores; ++core) {
    CoreState& state = cores_[core];
    state.present = program_.cores[core].present;
    if (!state.present) continue;
    state.slots.assign(program_.slots.size(), Value());
    state.slots[kSubBlockSlot] = Value(core == static_cast<int>(Core::kAiv1) ? 1 : 0);
    state.loose = state.slots;
    state.needs.resize(program_.slots.size());
    if (program_.cores[core].body != nullptr) {
      state.frames.push_back({program_.cores[core].body});
    }
  }
}

// The order in which cores run decides nothing. They take turns, each one until the next head of a
// loop or until more of what it has issued waits than has to, so that they stay close to each other
// and come back to few states.
void Run::Execute() {
  int ahead = 0;
  while (!covered_ && !stopped_) {
    bool progress = false;
    for (int core = 0; core < kCores; ++core) {
      if (cores_[core].present) progress = Advance(core, ahead) || progress;
    }
    progress = Drain() || progress;
    if (!progress && ahead >= kPipes * kQueueDepth) break;
    ahead = progress ? 0 : 2 * ahead + 1;
  }
  if (!covered_ && !stopped_) Finish();
}

// Runs a core's scalar program until it ends, comes to the head of a loop, has to wait, or more
// than `ahead` events of the core wait.
bool Run::Advance(int core, int ahead) {
  bool progress = false;
  while (!covered_ && !stopped_ && cores_[core].waiting <= ahead) {
    // The scalar unit stands still at a flag that is not set.
    if (!cores_[core].queues[static_cast<int>(Pipe::kS)].empty()) return progress;
    if (cores_[core].pending != nullptr) {
      const Node* node = cores_[core].pending;
      if (!Issue(core, node)) return progress;
      cores_[core].pending = nullptr;
    } else if (cores_[core].frames.empty()) {
      return progress;
    } else if (!Step(core)) {
      return progress;
    }
    progress = true;
    if (std::exchange(at_head_, false)) return true;
  }
  return progress;
}

// One step of the innermost statement that is not finished. False if it has to wait.
bool Run::Step(int core) {
  CoreState& state = cores_[core];
  Frame& frame = state.frames.back();
  const Node& node = *frame.node;
  switch (node.kind) {
    case NodeKind::kSequence:
      if (frame.stage == static_cast<int>(node.children.size())) {
        state.frames.pop_back();
        return true;
      }
      return Enter(core, node.children[frame.stage++]);
    case NodeKind::kFor: {
      if (frame.stage == 0) {
        StartLoop(core, &frame);
        AwaitDecision(core, node);
        frame.stage = 1;
      }
      if (frame.stage == 2) {
        // A turn is over, by `continue` too.
        frame.stage = 1;
        return Enter(core, node.children[1]);
      }
      if (!Head(core, &frame)) return false;
      if (Ends(core, &frame) || node.children.empty()) {
        Leave(core, false);
        return true;
      }
      if (frame.turn > 0) {
        state.slots[node.slot] = state.slots[node.slot] + Value(1);
        state.loose[node.slot] = state.loose[node.slot] + Value(1);
      }
      ++frame.turn;
      if (node.children.size() > 1) frame.stage = 2;
      return Enter(core, node.children[0]);
    }
    case NodeKind::kWhile: {
      if (frame.stage == 0) {
        if (frame.turn == 0) StartLoop(core, &frame);
        if (!Head(core, &frame)) return false;
        frame.stage = 1;
        if (node.children.size() > 1) return Enter(core, node.children[1]);
      }
      frame.stage = 0;
      ++frame.turn;
      const bool holds = Test(core, node.value);
      AwaitDecision(core, node);
      if (holds) return Enter(core, node.children[0]);
      Leave(core, false);
      return true;
    }
    case NodeKind::kIf: {
      if (frame.stage++ > 0) {
        state.frames.pop_back();
        return true;
      }
      const bool holds = Test(core, node.value);
      AwaitDecision(core, node);
      if (holds) return Enter(core, node.children[0]);
      return node.children.size() < 2 || Enter(core, node.children[1]);
    }
    default:
      state.frames.pop_back();
      return Enter(core, &node);
  }
}

bool Run::Enter(int core, const Node* node) {
  CoreState& state = cores_[core];
  switch (node->kind) {
    case NodeKind::kSequence:
    case NodeKind::kFor:
    case NodeKind::kWhile:
    case NodeKind::kIf:
      state.frames.push_back({node});
      return true;
    case NodeKind::kInstruction:
      if (Issue(core, node)) return true;
      state.pending = node;
      return false;
    case NodeKind::kAssign:
      Assign(core, node->slot, node->value);
      return true;
    case NodeKind::kFresh:
      state.slots[node->slot] = NumberRead(core, *node);
      state.loose[node->slot] = state.slots[node->slot];
      state.needs[node->slot] = NeedOfRead(core);
      return true;
    case NodeKind::kBreak:
      Leave(core, false);
      return true;
    case NodeKind::kContinue:
      Leave(core, true);
      return true;
    case NodeKind::kAtomicOn:
    case NodeKind::kAtomicOff:
      state.atomic = node->kind == NodeKind::kAtomicOn;
      return true;
    case NodeKind::kNotModelled: {
      Finding finding{"not modelled", false};
      finding.message = "the check does not model " + node->name;
      finding.first = Site{node->source, static_cast<Core>(core), Pipe::kS, {}};
      Report(std::move(finding));
      return true;
    }
  }
  return true;
}

// What the scalar read before it has read.
Value Run::NumberRead(int core, const Node& read) {
  const Value number = search_.symbols->Fresh(read.name, read.range);
  if (inputs_ == nullptr) return number;
  const auto at = inputs_->find(number.terms[0].symbol);
  const int64_t fresh = at == inputs_->end() ? 0 : at->second;
  return Value(contents_.Number(core, read.name, read.range, fresh));
}

// Leaves the innermost loop, or its present turn only.
void Run::Leave(int core, bool continues) {
  CoreState& state = cores_[core];
  while (!state.frames.empty()) {
    const Frame& frame = state.frames.back();
    const bool is_loop = frame.loops();
    if (is_loop && continues) return;
    if (is_loop) Close(core, frame);
    state.loops -= is_loop;
    state.frames.pop_back();
    if (is_loop) return;
  }
}

}  // namespace tilelang_ascend_sched::verify
