// What the rest of a path depends on, written so that two states from which the same happens are
// the same text.
#include "verify/state.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "verify/run.h"
#include "verify/state_known.h"
#include "verify/state_text.h"

namespace tilelang_ascend_sched::verify {

// Whether a later statement may read what a variable holds now.
bool Run::Live(int core, Slot slot, bool at_head) const {
  const SlotInfo& info = program_.slots[slot];
  if (info.kind == SlotKind::kMutable || info.loop == nullptr) return true;
  const std::vector<Frame>& frames = cores_[core].frames;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].node != info.loop) continue;
    // At the head of its loop a bound variable is about to be set anew.
    return info.kind == SlotKind::kLoop || !at_head || i + 1 != frames.size();
  }
  return false;
}

// Builds the state at a loop's head. `open` states are compared over all paths, and hold for any
// number of further turns: how often a loop still turns counts only where that is known. Others are
// compared within one pass through the loop: turns, variables and addresses are kept aside, for
// what they do may be found out from how they move.
class StateWriter {
 public:
  StateWriter(Run* run, int core, const Run::Frame& head, bool open)
      : run_(*run),
        core_(core),
        head_(head),
        open_(open),
        out_(*run->search_.symbols),
        starts_(run->tensors_.size()) {}

  State Take() {
    ForgetKnown();
    if (open_) FindStarts();
    out_.Number(core_);
    out_.Number(head_.node->number);
    for (int core = 0; core < kCores; ++core) {
      if (run_.cores_[core].present) WriteCore(core);
    }
    WriteFlags();
    WriteLocks();
    for (int space = 0; space < kOnChipSpaces; ++space) WriteRecords(&run_.memories_[space], -1);
    for (size_t tensor = 0; tensor < run_.tensors_.size(); ++tensor) {
      WriteRecords(&run_.tensors_[tensor], static_cast<int>(tensor));
    }
    if (open_) KnownWriter(run_, core_, &out_).Write();
    state_.text = out_.Take();
    WriteKnowledge();
    state_.known = out_.Take();
    return std::move(state_);
  }

 private:
  // Accesses that nobody can come into conflict with any more.
  void ForgetKnown() {
    auto forget = [&](Memory* memory, Space space, int tensor) {
      const uint32_t readers = run_.search_.periods.accessors(space, tensor);
      memory->Forget([&](const Record& record) { return run_.KnownToAll(record, readers); });
    };
    for (int space = 0; space < kOnChipSpaces; ++space) {
      forget(&run_.memories_[space], static_cast<Space>(space), -1);
    }
    for (size_t tensor = 0; tensor < run_.tensors_.size(); ++tensor) {
      forget(&run_.tensors_[tensor], Space::kGm, static_cast<int>(tensor));
    }
  }

  // Open states tell addresses apart by their distance from one address of the same tensor.
  void FindStarts() {
    const bool outermost = run_.cores_[core_].loops == 1 && run_.Alone();
    for (size_t tensor = 0; tensor < starts_.size(); ++tensor) {
      const auto& [reader, expr, guarded] = run_.search_.periods.reference(tensor);
      if (expr == kNone || !SetDead(reader, expr)) continue;
      Region start;
      run_.Place(run_.EvalLoose(reader, expr), &start);
      starts_[tensor] = start.begin;
      if (!outermost || !run_.search_.periods.Ascends(tensor, head_.node)) continue;
      // What lies behind the present address is never touched again.
      run_.tensors_[tensor].Forget([&](const Record& record) {
        return record.region.base == start.base && record.region.end() <= start.begin;
      });
    }
  }

  // Sets the variables in `expr` that are about to be set anew to what they would be at their
  // loops' first turns, so that its value depends on what is alive alone. False if it takes tests.
  bool SetDead(int core, Expr expr) {
    const ExprNode& node = run_.program_.exprs[expr];
    if (node.kind == ExprKind::kUnknown ||
        (node.kind >= ExprKind::kLess && node.kind <= ExprKind::kSelect)) {
      return false;
    }
    if (node.kind == ExprKind::kSlot) {
      const Slot slot = static_cast<Slot>(node.number);
      if (slot == kSubBlockSlot || run_.Live(core, slot, core == core_)) return true;
      const Node* definition = run_.program_.slots[slot].definition;
      Value& value = run_.cores_[core].slots[slot];
      if (definition == nullptr || definition->kind == NodeKind::kFresh) return false;
      const bool loop = definition->kind == NodeKind::kFor;
      const Expr first = loop ? definition->minimum : definition->value;
      if (!SetDead(core, first)) return false;
      value = run_.Eval(core, first);
      run_.cores_[core].loose[slot] = value;
    }
    for (const Expr child : {node.a, node.b, node.c}) {
      if (child != kNone && !SetDead(core, child)) return false;
    }
    return true;
  }

  void Keep(int64_t* at, State::Kind kind, int of = 0, int index = 0) {
    if (!open_) state_.numbers.push_back({at, *at, kind, of, index});
  }

  void WriteTurns(Turns* turns) {
    for (int i = 0; i < Turns::kKept && turns->loops[i] != nullptr; ++i) {
      Keep(&turns->turns[i], State::Kind::kNote);
    }
  }

  void WriteRegion(Region* region, int tensor) {
    out_.Terms(run_.bases_[region->base]);
    out_.Number(region->row_bytes);
    out_.Number(region->rows);
    out_.Number(region->stride);
    if (tensor < 0) return out_.Number(region->begin);
    touched_.resize(run_.tensors_.size());
    if (!open_ && !touched_[tensor]) starts_[tensor] = region->begin;
    touched_[tensor] = true;
    out_.Number(region->begin - starts_[tensor]);
    Keep(&region->begin, State::Kind::kAddress, tensor);
  }

  void WriteExact(int exact) {
    if (exact < 0) return;
    const Run::ExactRegion& region = run_.exact_[exact];
    out_.Of(region.begin);
    out_.Of(region.row_bytes);
    out_.Of(region.extent);
    out_.Number(region.stride);
    out_.Number(region.age);
  }

  void WriteCore(int core) {
    Run::CoreState& state = run_.cores_[core];
    for (Run::Frame& frame : state.frames) {
      const int depth = static_cast<int>(&frame - state.frames.data());
      out_.Number(frame.node->number);
      out_.Number(frame.stage);
      if (frame.loops()) open_ ? WriteOpenTurn(state, frame) : WriteTurn(&frame, core, depth);
    }
    out_.Number(-1);
    for (size_t i = 0; i < state.slots.size(); ++i) {
      const Slot slot = static_cast<Slot>(i);
      if (!run_.Live(core, slot, core == core_)) continue;
      if (run_.search_.reads.Holds(slot)) needs_.push_back({core, state.needs[slot].sure});
      Value& value = state.slots[slot];
      out_.Bit(value.known());
      const bool counts = run_.search_.symbols->Counts(state.loose[slot]);
      if (counts || !value.known()) out_.Of(open_ || counts ? state.loose[slot] : value);
      if (!value.known()) continue;
      if (open_) {
        const auto [first, second] = run_.search_.periods.Class(slot, value.constant);
        out_.Number(first);
        out_.Number(second);
      } else {
        out_.Number(run_.search_.periods.Phase(slot, value.constant));
        Keep(&value.constant, State::Kind::kSlot, core, slot);
      }
    }
    out_.Number(state.atomic);
    out_.Number(state.pending == nullptr ? -1 : state.pending->number);
    out_.Number(state.snapshot >= 0);
    if (state.snapshot >= 0) holders_.push_back(&run_.snapshots_[state.snapshot]);
    for (std::deque<Run::Event>& queue : state.queues) {
      out_.Number(static_cast<int64_t>(queue.size()));
      for (Run::Event& event : queue) WriteEvent(core, &event);
    }
  }

  void WriteEvent(int core, Run::Event* event) {
    out_.Number(event->instruction->number);
    out_.Number(event->id);
    out_.Number(event->unit_flag);
    const Action action = event->instruction->action;
    if (action == Action::kLock || action == Action::kUnlock) {
      const auto lock =
          run_.locks_.find(core * run_.program_.chip.lock_ids + static_cast<int>(event->id));
      out_.Number(static_cast<int64_t>(event->sequence) - lock->second.released);
    }
    out_.Number(event->snapshot >= 0);
    if (event->snapshot >= 0) holders_.push_back(&run_.snapshots_[event->snapshot]);
    for (Run::Access& access : event->accesses) {
      out_.Number(static_cast<int64_t>(access.space));
      out_.Number(access.tensor);
      out_.Number(access.writes | access.atomic << 1 | access.approximate << 2);
      WriteRegion(&access.region, access.space == Space::kGm ? access.tensor : -1);
      WriteExact(access.exact);
    }
    WriteTurns(&event->turns);
  }

  // The turn of a loop with a known end says how much is left. How much is left of others is open:
  // the path decides at each head. The same loop of several cores counts by how far they are apart.
  void WriteOpenTurn(const Run::CoreState& state, const Run::Frame& frame) {
    out_.Number(frame.turn > 0);
    if (frame.node->kind != NodeKind::kFor || frame.stage == 0) return;
    out_.Of(frame.extent);
    if (frame.extent.known()) return out_.Number(frame.turn);
    const Run::OpenLoop& loop = run_.open_loops_.at(state.open[frame.open]);
    out_.Number(loop.counter);
    out_.Number(frame.index() - loop.index);
  }

  void WriteTurn(Run::Frame* frame, int core, int depth) {
    out_.Of(frame->extent);
    if (!frame->extent.known()) return out_.Number(frame->turn);
    Keep(&frame->turn, State::Kind::kTurn, core, depth);
  }

  void WriteFlags() {
    for (auto& [key, flag] : run_.flags_) {
      out_.Number(key);
      out_.Number(static_cast<int64_t>(flag.tokens.size()));
      for (Run::Token& token : flag.tokens) WriteToken(&token);
      out_.Bit(flag.waits.empty());
      if (!flag.waits.empty()) WriteWait(&flag.waits.back());
    }
    for (auto& [key, flag] : run_.cross_flags_) {
      out_.Number(key);
      out_.Number(static_cast<int64_t>(flag.tokens.size()));
      for (Run::Token& token : flag.tokens) {
        WriteToken(&token);
        marks_.push_back({token.thread, token.index});
      }
      for (Run::Wait& wait : flag.waits) WriteWait(&wait);
      out_.Number(static_cast<int64_t>(flag.waits.size()));
    }
    for (auto& [key, tokens] : run_.arrivals_) {
      out_.Number(key);
      out_.Number(static_cast<int64_t>(tokens.size()));
      for (Run::Token& token : tokens) {
        WriteToken(&token);
        marks_.push_back({token.thread, token.index});
      }
    }
  }

  void WriteWait(Run::Wait* wait) {
    marks_.push_back({wait->thread, wait->index});
    WriteTurns(&wait->turns);
  }

  void WriteToken(Run::Token* token) {
    out_.Number(token->thread);
    holders_.push_back(&token->clock);
    WriteTurns(&token->turns);
  }

  // Hints may speak of accesses in the same turn, or in different ones.
  void WriteDistance(const Record& record) {
    constexpr int64_t kFar = 4;  // beyond which cores are not apart
    for (const Run::Frame& frame : run_.cores_[static_cast<int>(CoreOf(record.thread))].frames) {
      for (int i = 0; i < Turns::kKept; ++i) {
        if (record.turns.loops[i] != frame.node) continue;
        out_.Number(std::min(frame.turn - 1 - record.turns.turns[i], kFar));
      }
    }
  }

  void WriteLocks() {
    for (auto& [key, lock] : run_.locks_) {
      out_.Number(key);
      out_.Number(lock.holder);
      out_.Number(lock.issued - lock.released);
      for (auto& [sequence, token] : lock.tokens) {
        out_.Number(static_cast<int64_t>(sequence) - lock.released);
        WriteToken(&token);
      }
    }
  }

  void WriteRecords(Memory* memory, int tensor) {
    out_.Number(static_cast<int64_t>(memory->records().size()));
    for (Record& record : memory->records()) {
      WriteRegion(&record.region, tensor);
      out_.Number(record.instruction->number);
      out_.Number(record.thread);
      out_.Number(static_cast<int64_t>(record.lost));
      out_.Number(record.writes | record.atomic << 1 | record.approximate << 2 |
                  record.unit_flag << 3);
      WriteExact(record.exact);
      WriteTurns(&record.turns);
      if (open_ && !record.pattern->hinted.empty()) WriteDistance(record);
      marks_.push_back({record.thread, record.index});
    }
    if (!open_ || tensor < 0 || memory->records().empty()) return;
    // Addresses that do not move alike may still meet, at one turn of many.
    const Rates& rates = run_.search_.rates;
    for (int core = 0; core < kCores; ++core) {
      if (!run_.cores_[core].present) continue;
      for (const Slot slot : rates.Variables(tensor)) {
        if (!run_.Live(core, slot, core == core_)) continue;
        const Value& value = run_.cores_[core].slots[slot];
        if (!value.known()) {
          out_.Of(value);
          continue;
        }
        const auto [open, phase] = rates.Class(tensor, slot, value.constant);
        out_.Number(open);
        out_.Number(phase);
      }
    }
  }

  // Event numbers only matter in so far as somebody knows that the event is complete. So each
  // number that is still asked for (a "mark") is written as one bit for everyone who may be asked.
  void WriteKnowledge() {
    for (int core = 0; core < kCores; ++core) {
      if (!run_.cores_[core].present) continue;
      for (int pipe = 0; pipe < kPipes; ++pipe) {
        holders_.push_back(
            &run_.clocks_[ThreadOf(static_cast<Core>(core), static_cast<Pipe>(pipe))]);
      }
    }
    for (const auto& [thread, index] : marks_) {
      for (const Clock* holder : holders_) out_.Bit(holder->known[thread] >= index);
      // Who waits for what a variable was made of will know, too.
      for (const auto& [core, need] : needs_) {
        if (thread != ThreadOf(static_cast<Core>(core), Pipe::kS)) continue;
        out_.Bit(std::max(need, run_.OverFor(core)) >= index);
      }
    }
  }

  Run& run_;
  const int core_;
  const Run::Frame& head_;
  const bool open_;
  State state_;
  StateText out_;
  std::vector<int64_t> starts_;  // of tensors
  std::vector<bool> touched_;    // tensors
  std::vector<std::pair<Thread, uint32_t>> marks_;
  std::vector<const Clock*> holders_;
  std::vector<std::pair<int, uint32_t>> needs_;  // of live variables of a core
};

State Run::StateAt(int core, const Frame& head, bool open) {
  return StateWriter(this, core, head, open).Take();
}

}  // namespace tilelang_ascend_sched::verify
