// What states leave open: the turns of loops that run-time inputs end, and variables that go with
// them. At each state all that is kept is made of the numbers of this moment, so that a state says
// the same of all turns that it stands for.
#include <algorithm>
#include <utility>

#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

namespace {

// Exact regions of accesses of former turns are kept for so many states. Each turn that goes by
// makes another region of them, so that there would be no end of states.
constexpr int kOldest = 2;

}  // namespace

// What a state says of the number of a turn of an open loop.
Range Run::ToldTurn(int core, const Frame& frame) const {
  if (frame.turn == 0) return {0, 0};
  const Value& value = cores_[core].slots[frame.node->slot];
  if (!value.known()) return {0, kUnbounded};
  const Range told = search_.periods.Told(frame.node->slot, value.constant);
  const int64_t first = value.constant - frame.index();
  return {std::max(told.low - first, int64_t{0}), told.high - first};
}

// Loops that several cores are in count by the turn of the first one; one that no core is in by the
// number of the last turn, for the cores that are still to come.
void Run::CountLoops(std::map<Symbol, Counter>* counters, std::map<Symbol, Value>* moved) {
  int left = 0;
  for (auto& [key, loop] : open_loops_) {
    Symbol symbol = kNone;
    Counter counter{loop.index, {-kUnbounded, kUnbounded}};
    for (int core = 0; core < kCores; ++core) {
      for (const Frame& frame : cores_[core].frames) {
        if (frame.open < 0 || cores_[core].open[frame.open] != key) continue;
        if (symbol == kNone) {
          symbol = search_.symbols->Counter(core, frame.node->slot);
          counter.value = frame.index();
        }
        const Range told = ToldTurn(core, frame);
        const int64_t ahead = counter.value - frame.index();
        counter.told = {std::max(counter.told.low, told.low + ahead),
                        std::min(counter.told.high, told.high + ahead)};
      }
    }
    if (symbol == kNone) {
      symbol = search_.symbols->CounterLeft(left++);
      counter.told = {counter.value, counter.value};
    }
    (*moved)[loop.counter] = ValueOf(symbol) + Value(loop.index - counter.value);
    (*counters)[symbol] = counter;
    loop.counter = symbol;
    loop.index = counter.value;
  }
}

// The number of a turn tells the variable of its loop.
bool Run::CountTurns(int core, Slot slot) {
  const SlotInfo& info = program_.slots[slot];
  CoreState& state = cores_[core];
  const Value& value = state.slots[slot];
  if (info.kind != SlotKind::kLoop || !value.known()) return false;
  for (const Frame& frame : state.frames) {
    if (frame.node != info.definition) continue;
    state.loose[slot] = value;
    if (frame.open >= 0) state.loose[slot] = value - Value(frame.index()) + TurnOf(core, frame);
    return true;
  }
  return false;
}

// A variable whose value a state does not tell is a counter itself.
void Run::CountVariable(int core, Slot slot, std::map<Symbol, Counter>* counters,
                        std::map<Symbol, Value>* moved) {
  Value& loose = cores_[core].loose[slot];
  loose = cores_[core].slots[slot];
  if (!loose.known()) return;
  const int64_t value = loose.constant;
  const Range told = search_.periods.Told(slot, value);
  if (told.low == told.high) return;
  const Symbol symbol = search_.symbols->Counter(core, slot);
  const auto before = path_.counters().find(symbol);
  if (before != path_.counters().end()) {
    (*moved)[symbol] = ValueOf(symbol) + Value(before->second.value - value);
  }
  (*counters)[symbol] = {value, told};
  loose = ValueOf(symbol);
}

// At a state at the head of a loop of core `head`, or of none.
void Run::Recount(int head) {
  std::map<Symbol, Counter> counters;
  std::map<Symbol, Value> moved;
  CountLoops(&counters, &moved);
  // Of a variable that was set to a sum of counters that is still one, states tell that.
  std::vector<std::pair<int, Slot>> made;
  for (int core = 0; core < kCores; ++core) {
    CoreState& state = cores_[core];
    for (size_t i = 1; i < state.slots.size(); ++i) {
      const Slot slot = static_cast<Slot>(i);
      const bool kept = program_.slots[slot].kind != SlotKind::kMutable &&
                        search_.symbols->Counts(state.loose[slot]);
      if (!Live(core, slot, core == head)) {
        state.loose[slot] = state.slots[slot];
      } else if (CountTurns(core, slot)) {
        continue;
      } else if (kept) {
        made.push_back({core, slot});
      } else {
        CountVariable(core, slot, &counters, &moved);
      }
    }
  }
  auto remade = [&](Value* value) {
    std::set<Symbol> found;
    search_.symbols->Counters(*value, &found);
    if (!std::all_of(found.begin(), found.end(), [&](Symbol each) { return moved.count(each); })) {
      return false;
    }
    *value = search_.symbols->Replaced(*value, moved);
    return true;
  };
  for (const auto& [core, slot] : made) {
    if (!remade(&cores_[core].loose[slot])) CountVariable(core, slot, &counters, &moved);
  }
  auto remake = [&](Value* value) {
    if (!remade(value)) *value = path_.Now(*value);
  };
  std::vector<ExactRegion> exact;
  auto keep = [&](int* index) {
    if (*index < 0) return;
    const int old = std::exchange(*index, -1);
    if (exact_[old].age >= kOldest) return;
    *index = static_cast<int>(exact.size());
    exact.push_back(exact_[old]);
    ++exact.back().age;
    for (Value* value : {&exact.back().begin, &exact.back().row_bytes, &exact.back().extent}) {
      remake(value);
    }
  };
  std::vector<std::pair<Region*, Value>> addresses;
  auto move = [&](Region* region) {
    if (region->base == 0) return;
    addresses.push_back({region, BaseOf(*region)});
    remake(&addresses.back().second);
  };
  for (CoreState& state : cores_) {
    for (Frame& frame : state.frames) remake(&frame.extent);
    for (std::deque<Event>& queue : state.queues) {
      for (Event& event : queue) {
        for (Access& access : event.accesses) {
          keep(&access.exact);
          move(&access.region);
        }
      }
    }
  }
  for (Memory& tensor : tensors_) {
    for (Record& record : tensor.records()) move(&record.region);
  }
  for (Memory& memory : memories_) {
    for (Record& record : memory.records()) keep(&record.exact);
  }
  exact_ = std::move(exact);
  path_.Recount(std::move(counters), moved, EndQuestions());
  bases_.resize(1);
  for (const auto& [region, base] : addresses) {
    const int64_t begin = region->begin;
    Place(base, region);
    region->begin += begin;
  }
  ForgetReadings();
  TellElements();
}

// What was decided of numbers that were read, and that nothing holds any more.
void Run::ForgetReadings() {
  std::set<Symbol> held;
  auto holds = [&](const Value& value) { search_.symbols->FreshIn(value, &held); };
  for (const CoreState& state : cores_) {
    for (const Value& value : state.loose) holds(value);
    for (const Frame& frame : state.frames) holds(frame.extent);
  }
  for (const ExactRegion& region : exact_) {
    holds(region.begin);
    holds(region.row_bytes);
    holds(region.extent);
  }
  for (const std::vector<Term>& terms : bases_) holds(SumOf(terms));
  path_.ForgetReadings(held);
}

// Where something is known of some elements of a tensor, states tell which ones are read next, if
// those come again.
void Run::TellElements() {
  std::set<int> known;
  for (const Decision& decision : path_.decisions()) {
    if (!search_.symbols->Counts(SumOf(decision.terms)))
      search_.symbols->Tensors(decision.terms, &known);
  }
  std::erase_if(known, [&](int tensor) { return !search_.rates.ComeAgain(tensor); });
  told_elements_ = std::move(known);
}

// Which questions are about the ends of open loops.
Path::Ends Run::EndQuestions() const {
  Path::Ends ends;
  for (int core = 0; core < kCores; ++core) {
    for (const Frame& frame : cores_[core].frames) {
      if (frame.open < 0) continue;
      const Path::Question question = path_.Asked(frame.extent - TurnOf(core, frame));
      ends[question.terms] = open_loops_.at(cores_[core].open[frame.open]).number;
    }
  }
  return ends;
}

}  // namespace tilelang_ascend_sched::verify
