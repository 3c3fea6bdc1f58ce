// Loops whose number of turns is known, and that do the same over and over.
//
// Two states at the head of a loop with the same text differ in turns, variables and addresses
// only. If every number that decides anything is the same after the way from the first to the
// second once more, that way can be repeated as long as no loop ends and no comparison changes; all
// that moves has then moved as many times as far.
#include <algorithm>
#include <map>
#include <optional>

#include "verify/run.h"
#include "verify/shift.h"

namespace tilelang_ascend_sched::verify {

namespace {

constexpr int64_t kFirstTurn = 4;    // loops settle before that
constexpr int64_t kWorthwhile = 12;  // turns that are left
constexpr int64_t kWindow = 64;      // turns in which a loop is watched
constexpr int64_t kPause = 1024;     // turns from the start of one window to the next
constexpr size_t kAttempts = 16;

// Collects how the addresses of each tensor move; false if they do not move together.
using Moves = std::map<int, int64_t>;

bool Together(Moves* moves, int tensor, std::optional<int64_t> moved) {
  return moved && moves->try_emplace(tensor, *moved).first->second == *moved;
}

// Whether everything in the code repeats itself.
bool Repeats(const Program& program, const Reads& reads, const Node* node, const Motion& motion,
             Shift* shift, Moves* moves) {
  if (node == nullptr) return true;
  auto same = [&](Expr expr) { return expr == kNone || shift->Of(expr) == 0; };
  switch (node->kind) {
    case NodeKind::kFor: {
      const auto first = shift->Of(node->minimum);
      const Motion::OfSlot& slot = motion.slots[node->slot];
      if (!first || !same(node->value) || (slot.live && slot.moved != *first)) return false;
      break;
    }
    case NodeKind::kWhile:
    case NodeKind::kIf:
      if (!shift->Stays(node->value)) return false;
      break;
    case NodeKind::kAssign: {
      const auto moved = shift->Of(node->value);
      const Motion::OfSlot& slot = motion.slots[node->slot];
      if (slot.live && moved != slot.moved) return false;
      if (slot.symbolic && moved != 0) return false;
      // Alive or not, it has to be made of the same reads.
      if (reads.Names(node->value) && reads.Chooses(node->value) && !moved) return false;
      break;
    }
    case NodeKind::kFresh:
      if (motion.slots[node->slot].live) return false;
      break;
    case NodeKind::kInstruction:
      if (!same(node->instruction.id) || !same(node->instruction.unit_flag)) return false;
      for (const AccessPattern& access : node->instruction.accesses) {
        const bool gm = access.space == Space::kGm;
        if (gm && !program.tensors[access.tensor].written) continue;
        if (access.condition != kNone && !shift->Stays(access.condition)) return false;
        if (!same(access.rows) || !same(access.row_bytes) || !same(access.stride)) return false;
        if (!gm && !same(access.begin)) return false;
        if (gm && !Together(moves, access.tensor, shift->Of(access.begin))) return false;
      }
      break;
    default:
      break;
  }
  return std::all_of(node->children.begin(), node->children.end(), [&](const Node* child) {
    return Repeats(program, reads, child, motion, shift, moves);
  });
}

}  // namespace

// How often the way from `past` to `now`, at the head of a loop of core `head`, repeats itself; 0
// if that is not sure.
int64_t Run::Repetitions(int head, const State& past, const State& now) const {
  int64_t most = INT64_MAX;
  const Node* repeated[kCores] = {};  // the loop that each core goes on in
  int depth[kCores] = {};
  Motion motions[kCores];
  for (Motion& motion : motions) motion.slots.resize(program_.slots.size());
  for (size_t i = 0; i < now.numbers.size(); ++i) {
    const State::Number& number = now.numbers[i];
    const int64_t moved = number.value - past.numbers[i].value;
    if (number.kind != State::Kind::kTurn || moved == 0) continue;
    // One loop of a core may have gone on; those inside it have come back to the same turn.
    if (moved < 0 || repeated[number.of] != nullptr) return 0;
    const Frame& frame = cores_[number.of].frames[number.index];
    repeated[number.of] = frame.node;
    depth[number.of] = number.index;
    if (frame.node->kind == NodeKind::kFor) {
      most = std::min(most, (frame.extent.constant - 1 - number.value) / moved);
    }
  }
  for (size_t i = 0; i < now.numbers.size(); ++i) {
    const State::Number& number = now.numbers[i];
    if (number.kind != State::Kind::kSlot) continue;
    const int64_t before = past.numbers[i].value;
    Motion::OfSlot& slot = motions[number.of].slots[number.index];
    slot.live = true;
    slot.moved = number.value - before;
    const SlotInfo& info = program_.slots[number.index];
    const Node* loop = info.kind == SlotKind::kLoop ? info.definition : nullptr;
    const std::vector<Frame>& frames = cores_[number.of].frames;
    for (size_t j = 0; j < frames.size() && loop != nullptr; ++j) {
      // Inside the loop that goes on a variable may have any of its values.
      if (frames[j].node != loop ||
          (repeated[number.of] != nullptr && j > static_cast<size_t>(depth[number.of]))) {
        continue;
      }
      slot.range = {std::min(before, number.value), std::max(before, number.value)};
    }
  }
  Moves moves;
  for (int core = 0; core < kCores; ++core) {
    if (repeated[core] == nullptr) continue;
    for (size_t slot = 0; slot < program_.slots.size(); ++slot) {
      motions[core].slots[slot].symbolic =
          !cores_[core].slots[slot].known() && Live(core, static_cast<Slot>(slot), core == head);
    }
    Shift shift(program_, motions[core]);
    if (repeated[core]->kind == NodeKind::kWhile && !shift.Stays(repeated[core]->value)) return 0;
    for (const Node* child : repeated[core]->children) {
      if (!Repeats(program_, search_.reads, child, motions[core], &shift, &moves)) return 0;
    }
    most = std::min(most, shift.most());
  }
  for (size_t i = 0; i < now.numbers.size(); ++i) {
    const State::Number& number = now.numbers[i];
    if (number.kind != State::Kind::kAddress) continue;
    const auto move = moves.find(number.of);
    const int64_t expected = move == moves.end() ? 0 : move->second;
    if (number.value - past.numbers[i].value != expected) return 0;
  }
  return most;
}

// At the head of a loop: passes over turns that are like those before.
void Run::SkipAhead(int core, Frame* frame) {
  const bool counted = frame->node->kind == NodeKind::kFor;
  if (!search_.skips || frame->turn < kFirstTurn) return;
  // What goes wrong may leave more behind at every turn, so that no state comes back and each takes
  // longer to write; with inputs given, all that the run was to show is known by then.
  if (inputs_ != nullptr && std::any_of(findings_.begin(), findings_.end(),
                                        [](const Finding& each) { return each.certain; })) {
    return;
  }
  if (counted && (!frame->extent.known() || frame->extent.constant - frame->turn < kWorthwhile)) {
    return;
  }
  const int64_t turn = (frame->turn - kFirstTurn) % kPause;
  if (turn >= kWindow) return;
  if (turn == 0 || frame->history == nullptr) frame->history = std::make_shared<History>();
  State now = StateAt(core, *frame, false);
  const size_t choices = path_.choices().size();
  size_t attempts = 0;
  std::vector<History::Past>& states = frame->history->states;
  for (size_t i = states.size(); i-- > 0 && attempts < kAttempts;) {
    if (states[i].choices != choices) break;
    const State& past = states[i].state;
    if (past.text != now.text || past.known != now.known) continue;
    ++attempts;
    const int64_t times = Repetitions(core, past, now);
    if (times <= 0 || times == INT64_MAX) continue;
    for (size_t j = 0; j < now.numbers.size(); ++j) {
      const State::Number& number = now.numbers[j];
      const int64_t moved = times * (number.value - past.numbers[j].value);
      *number.at += moved;
      if (number.kind != State::Kind::kSlot) continue;
      Value& loose = cores_[number.of].loose[number.index];
      loose = loose + Value(moved);
    }
    frame->history = nullptr;
    return;
  }
  states.push_back({std::move(now), choices});
}

}  // namespace tilelang_ascend_sched::verify
