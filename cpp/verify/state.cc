// What the rest of a path depends on, written so that two states from which the same happens are
// the same text.
#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

namespace {

class Writer {
 public:
  void Number(int64_t number) {
    for (int i = 0; i < 8; ++i) text_.push_back(static_cast<char>(number >> (8 * i)));
  }
  void Of(const Value& value) {
    Number(value.constant);
    Number(static_cast<int64_t>(value.terms.size()));
    for (const Term& term : value.terms) {
      Number(term.symbol);
      Number(term.factor);
    }
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

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

// Event numbers only matter in so far as somebody knows that the event is complete. So each number
// that is still asked for (a "mark") is written as one bit for everyone who may be asked.
std::string Run::State(int core, const Frame& head) {
  Writer writer;
  writer.Number(core);
  writer.Number(head.node->number);
  const Path::Question end = EndOf(head);
  std::vector<std::pair<Thread, uint32_t>> marks;
  std::vector<const Clock*> holders;
  std::vector<Value> starts(tensors_.size());
  for (size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
    const auto [reader, expr] = search_.periods.reference(static_cast<int>(tensor));
    if (expr != kNone) starts[tensor] = Eval(reader, expr);
  }
  auto region = [&](const Access& access, const Value& start) {
    writer.Number(static_cast<int>(access.space));
    writer.Number(access.region.begin - start.constant);
    writer.Number(access.region.row_bytes);
    writer.Number(access.region.rows);
    writer.Number(access.region.stride);
    writer.Number(access.writes | access.atomic << 1 | access.approximate << 2);
  };

  for (int other = 0; other < kCores; ++other) {
    const CoreState& state = cores_[other];
    if (!state.present) continue;
    for (const Frame& frame : state.frames) {
      writer.Number(frame.node->number);
      writer.Number(frame.stage);
      // The turn of a loop with a known end says how much is left.
      const bool counts = frame.node->kind == NodeKind::kFor && frame.stage > 0;
      if (!counts) {
        writer.Number(frame.turn > 0);
        continue;
      }
      writer.Of(frame.extent);
      const Path::Question own = EndOf(frame);
      if (frame.extent.known()) {
        writer.Number(frame.turn);
      } else if (&frame == &head || Alone()) {
        // How much is left is open: the path decides at each head.
        writer.Number(frame.turn > 0);
      } else if (own.terms == end.terms) {
        writer.Number(own.bound - end.bound);  // how far it is behind this head
      } else {
        writer.Number(frame.turn);
      }
    }
    writer.Number(-1);
    for (size_t slot = 0; slot < state.slots.size(); ++slot) {
      if (!Live(other, static_cast<Slot>(slot), other == core)) continue;
      const Value& value = state.slots[slot];
      if (value.known()) {
        const auto [first, second] = search_.periods.Class(static_cast<Slot>(slot), value.constant);
        writer.Number(first);
        writer.Number(second);
      } else {
        writer.Of(value);
      }
    }
    writer.Number(state.atomic);
    writer.Number(state.pending == nullptr ? -1 : state.pending->number);
    if (state.snapshot >= 0) holders.push_back(&snapshots_[state.snapshot]);
    for (const std::deque<Event>& queue : state.queues) {
      writer.Number(static_cast<int64_t>(queue.size()));
      for (const Event& event : queue) {
        writer.Number(event.instruction->number);
        writer.Number(event.id);
        if (event.snapshot >= 0) holders.push_back(&snapshots_[event.snapshot]);
        for (const Access& access : event.accesses) {
          region(access, access.space == Space::kGm ? starts[access.tensor] : Value(0));
        }
      }
    }
  }
  for (const auto& [key, flag] : flags_) {
    writer.Number(key);
    writer.Number(static_cast<int64_t>(flag.tokens.size()));
    for (const Token& token : flag.tokens) holders.push_back(&token.clock);
    if (!flag.waits.empty()) marks.push_back(flag.waits.back());
  }
  for (const auto& [key, flag] : cross_flags_) {
    writer.Number(key);
    writer.Number(static_cast<int64_t>(flag.tokens.size()));
    for (const Token& token : flag.tokens) {
      holders.push_back(&token.clock);
      marks.push_back({token.thread, token.index});
    }
    for (const auto& wait : flag.waits) marks.push_back(wait);
    writer.Number(static_cast<int64_t>(flag.waits.size()));
  }
  for (const auto& [key, lock] : locks_) {
    writer.Number(key);
    writer.Number(lock.holder);
    writer.Number(lock.issued - lock.released);
    for (const auto& [sequence, token] : lock.tokens) {
      writer.Number(static_cast<int64_t>(sequence) - lock.released);
      holders.push_back(&token.clock);
    }
  }
  auto records = [&](const Memory& memory, const Value& start) {
    writer.Number(static_cast<int64_t>(memory.records().size()));
    for (const Record& record : memory.records()) {
      writer.Number(record.region.base);
      writer.Number(record.region.begin - start.constant);
      writer.Number(record.region.row_bytes);
      writer.Number(record.region.rows);
      writer.Number(record.region.stride);
      writer.Number(record.instruction->number);
      writer.Number(record.thread);
      writer.Number(static_cast<int64_t>(record.lost));
      writer.Number(record.writes | record.atomic << 1 | record.approximate << 2 |
                    record.unit_flag << 3);
      marks.push_back({record.thread, record.index});
    }
  };
  auto forget = [&](Memory* memory, Space space, int tensor) {
    const uint32_t readers = search_.periods.accessors(space, tensor);
    memory->Forget([&](const Record& other) { return KnownToAll(other, readers); });
  };
  for (int space = 0; space < kOnChipSpaces; ++space) {
    forget(&memories_[space], static_cast<Space>(space), -1);
    records(memories_[space], Value(0));
  }
  for (size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
    forget(&tensors_[tensor], Space::kGm, static_cast<int>(tensor));
    if (cores_[core].loops == 1 && Alone() && search_.periods.Ascends(tensor, head.node)) {
      // What lies behind the present address is never touched again.
      const auto base = bases_.find(starts[tensor].terms);
      tensors_[tensor].Forget([&](const Record& other) {
        return base != bases_.end() && other.region.base == base->second &&
               other.region.end() <= starts[tensor].constant;
      });
    }
    records(tensors_[tensor], starts[tensor]);
  }
  // What is known of this loop's end counts by its distance from the present turn.
  const auto fact = path_.facts().find(end.terms);
  if (!end.terms.empty() && fact != path_.facts().end()) {
    const Range& range = fact->second;
    writer.Number(range.low <= -kUnbounded ? range.low : range.low - end.bound);
    writer.Number(range.high >= kUnbounded ? range.high : range.high - end.bound);
  }
  for (const Decision& decision : path_.decisions()) {
    if (!end.terms.empty() && decision.terms == end.terms) continue;
    for (const Term& term : decision.terms) {
      writer.Number(term.symbol);
      writer.Number(term.factor);
    }
    writer.Number(decision.bound * 2 + decision.holds);
  }
  for (const Clock& clock : clocks_) holders.push_back(&clock);
  for (const auto& [thread, index] : marks) {
    for (const Clock* holder : holders) writer.Number(holder->known[thread] >= index);
  }
  return writer.Take();
}

}  // namespace tilelang_ascend_sched::verify
