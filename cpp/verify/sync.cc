// The pipes: when an instruction may run, and what its thread knows from then on.
#include <algorithm>

#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

namespace {

// Flags are told apart by core, pipes and id; cross-core flags by both cores and id.
int FlagKey(int core, Pipe set, Pipe wait, int64_t id) {
  return ((core * kPipes + static_cast<int>(set)) * kPipes + static_cast<int>(wait)) * kMostIds +
         static_cast<int>(id);
}
int CrossKey(int from, int to, int64_t id) {
  return (from * kCores + to) * kMostIds + static_cast<int>(id);
}
}  // namespace

bool Run::Drain() {
  bool any = false, progress = true;
  while (progress) {
    progress = false;
    for (int core = 0; core < kCores; ++core) {
      for (int pipe = 0; pipe < kPipes; ++pipe) progress = DrainPipe(core, pipe) || progress;
    }
    any = any || progress;
  }
  return any;
}

bool Run::DrainPipe(int core, int pipe) {
  std::deque<Event>& queue = cores_[core].queues[pipe];
  bool progress = false;
  while (!queue.empty() && Try(core, &queue.front())) {
    queue.pop_front();
    --cores_[core].waiting;
    progress = true;
  }
  return progress;
}

// Runs an instruction unless it has to wait.
bool Run::Try(int core, Event* event) {
  const Instruction& instruction = *event->instruction;
  const Pipe pipe = instruction.pipe;
  const Thread thread = ThreadOf(static_cast<Core>(core), pipe);
  Clock& clock = clocks_[thread];
  auto start = [&]() {
    if (event->snapshot > joined_[thread]) {
      clock.Join(snapshots_[event->snapshot]);
      joined_[thread] = event->snapshot;
    }
    return ++counts_[thread];
  };
  auto after_wait = [&]() {
    if (pipe != Pipe::kS) return;
    // All that is issued from now on comes after the wait, and after what was read and needed.
    Tell(core, instruction.awaited ? counts_[thread] : OverFor(core));
  };
  switch (instruction.action) {
    case Action::kAccess:
      Touch(*event, thread, start());
      if (instruction.awaited) after_wait();
      return true;
    case Action::kSetFlag:
      return SetFlag(core, *event, thread, start());
    case Action::kCrossSet:
      return CrossSet(core, *event, thread, start());
    case Action::kWaitFlag:
    case Action::kCrossWait: {
      Flag* flag;
      if (instruction.action == Action::kWaitFlag) {
        if (event->id < 0 || event->id >= program_.chip.flag_ids)
          return SetFlag(core, *event, thread, start());
        flag = &flags_[FlagKey(core, instruction.peer, pipe, event->id)];
      } else {
        const bool cube = core == 0;
        if (!IsCrossId(event->id, cube)) return CrossSet(core, *event, thread, start());
        const int from = !cube ? 0 : event->id < kCrossFlagIds ? 1 : 2;
        flag = &cross_flags_[CrossKey(from, core, event->id % kCrossFlagIds)];
      }
      if (flag->tokens.empty()) return false;
      const uint32_t index = start();
      clock.Join(flag->tokens.front().clock);
      flag->tokens.pop_front();
      const auto [waiter, at] = pipe == Pipe::kS ? Met(core) : std::pair(thread, index);
      flag->waits.push_back({waiter, at, &instruction, event->turns});
      ++flag->waited;
      if (std::ssize(flag->waits) > program_.chip.cross_flag_maximum + 1) flag->waits.pop_front();
      after_wait();
      return true;
    }
    case Action::kLock: {
      Lock& lock = locks_[core * program_.chip.lock_ids + static_cast<int>(event->id)];
      if (instruction.blocking && lock.released < event->sequence) return false;
      start();
      if (instruction.blocking && event->sequence > 0) {
        clock.Join(lock.tokens.at(event->sequence - 1).clock);
      }
      after_wait();
      return true;
    }
    case Action::kUnlock: {
      Lock& lock = locks_[core * program_.chip.lock_ids + static_cast<int>(event->id)];
      lock.tokens[event->sequence] = MakeToken(*event, thread, start());
      while (lock.tokens.count(lock.released) != 0) ++lock.released;
      // Only the latest release without a gap before it can still matter.
      while (!lock.tokens.empty() && lock.tokens.begin()->first + 1 < lock.released) {
        lock.tokens.erase(lock.tokens.begin());
      }
      return true;
    }
    case Action::kBarrier:
      start();
      clock.known[thread] = counts_[thread];
      return true;
    case Action::kBarrierAll:
      return true;
  }
  return true;
}

// A wait of the scalar unit is met: everybody who follows it, or hears of that, knows.
std::pair<Thread, uint32_t> Run::Met(int core) {
  const Thread waits = WaitsOf(core);
  const uint32_t number = ++counts_[waits];
  clocks_[ThreadOf(static_cast<Core>(core), Pipe::kS)].known[waits] = number;
  return {waits, number};
}

Run::Token Run::MakeToken(const Event& event, Thread thread, uint32_t index) const {
  Token token{clocks_[thread], thread, index, event.instruction, event.turns};
  token.clock.known[thread] = counts_[thread];
  return token;
}

// Raises a flag; `most` is how often it may be up at a time. `alone` says that one set raises it.
void Run::PushToken(Flag* flag, const Event& event, Token token, int most, const std::string& name,
                    bool alone) {
  const Core core = CoreOf(token.thread);
  uint32_t known_waits = flag->waited;
  for (auto wait = flag->waits.rbegin(); wait != flag->waits.rend(); ++wait) {
    if (token.clock.known[wait->thread] >= wait->index) break;
    --known_waits;
  }
  auto report = [&](const char* kind, bool certain, std::string message) {
    Finding finding{kind, certain, std::move(message)};
    finding.second = SiteOf(*event.instruction, core, event.turns);
    if (!flag->tokens.empty()) {
      const Token& other = flag->tokens.back();
      finding.first = SiteOf(*other.instruction, CoreOf(other.thread), other.turns);
      finding.distance = Distance(other.turns, CoreOf(other.thread), event.turns, core);
      const Instruction& set = *event.instruction;
      const bool in_core = set.action == Action::kSetFlag;
      if (certain && in_core) OrderMissing(ThreadOf(core, set.peer), token.thread, &finding);
      if (certain) {
        finding.supply =
            (in_core ? WaitCall(event.id, set.pipe, set.peer) : "cross_core_wait_flag") +
            " after the first, and the second ordered behind that wait";
      }
    } else if (!flag->waits.empty()) {
      // The wait for the earlier set has to be over for sure.
      const Wait& wait = flag->waits.back();
      const bool scalar = wait.thread >= kThreads;
      const Core waiter = scalar ? static_cast<Core>(wait.thread - kThreads) : CoreOf(wait.thread);
      finding.first = SiteOf(*wait.instruction, waiter, wait.turns);
      finding.distance = Distance(wait.turns, waiter, event.turns, core);
      OrderMissing(ThreadOf(waiter, wait.instruction->pipe), token.thread, &finding);
    }
    Report(std::move(finding));
  };
  if (flag->sets - known_waits >= static_cast<uint32_t>(most)) {
    if (most == 1) {
      report("set twice", true, name + " may be set while it is set");
    } else {
      report("range", true,
             name + " may be raised more than " + std::to_string(most) +
                 " times before the other core waits for it");
    }
  }
  if (!flag->tokens.empty() && alone) {
    const Token& other = flag->tokens.back();
    if (other.thread != token.thread && token.clock.known[other.thread] < other.index) {
      report("ambiguous flag", false, name + " is raised by two pipes, in any order");
    }
  }
  flag->tokens.push_back(std::move(token));
  ++flag->sets;
}

// Whether a cross-core flag has this id; `both`: also those that reach AIV1.
bool Run::IsCrossId(int64_t id, bool both) const {
  if (both && id >= kCrossFlagIds) id -= kCrossFlagIds;
  return id >= 0 && id < program_.chip.cross_flag_ids;
}

bool Run::SetFlag(int core, const Event& event, Thread thread, uint32_t index) {
  const Instruction& instruction = *event.instruction;
  if (event.id < 0 || event.id >= program_.chip.flag_ids) {
    Finding finding{"range"};
    finding.message = "flag id " + std::to_string(event.id) + " is not one of 0 to " +
                      std::to_string(program_.chip.flag_ids - 1);
    finding.first = SiteOf(instruction, static_cast<Core>(core), event.turns);
    Report(std::move(finding));
    return true;
  }
  Flag& flag = flags_[FlagKey(core, instruction.pipe, instruction.peer, event.id)];
  PushToken(&flag, event, MakeToken(event, thread, index), 1,
            FlagName(event.id, instruction.pipe, instruction.peer), true);
  return true;
}

bool Run::CrossSet(int core, const Event& event, Thread thread, uint32_t index) {
  const bool cube = core == 0;
  const bool one = event.instruction->scope == FlagScope::kOneCore;
  const bool waits = event.instruction->action == Action::kCrossWait;
  const bool both = cube && (one || waits);
  if (!IsCrossId(event.id, both)) {
    const int64_t last = program_.chip.cross_flag_ids - 1;
    Finding finding{"range"};
    finding.message = "cross-core flag id " + std::to_string(event.id) + " is not one of 0 to " +
                      std::to_string(last) +
                      (both ? " and " + std::to_string(kCrossFlagIds) + " to " +
                                  std::to_string(kCrossFlagIds + last)
                            : std::string()) +
                      " of " + NameOf(static_cast<Core>(core));
    finding.first = SiteOf(*event.instruction, static_cast<Core>(core), event.turns);
    Report(std::move(finding));
    return true;
  }
  const Token token = MakeToken(event, thread, index);
  if (!one) {
    Arrive(core, event, token);
    return true;
  }
  const int to = !cube ? 0 : event.id < kCrossFlagIds ? 1 : 2;
  PushToken(&cross_flags_[CrossKey(core, to, event.id % kCrossFlagIds)], event, token,
            program_.chip.cross_flag_maximum, CrossName(event.id), true);
  return true;
}

// A flag that reaches several cores, once all who have to have set it.
void Run::Arrive(int core, const Event& event, const Token& token) {
  const FlagScope scope = event.instruction->scope;
  const bool cube = core == 0;
  auto raise = [&](int to, const Token& joined) {
    // Whoever waits finds it where the flags of one core are: an AIV with those of the AIC.
    if (!cores_[to].present) return;
    PushToken(&cross_flags_[CrossKey(to == 0 ? 1 : 0, to, event.id)], event, joined,
              program_.chip.cross_flag_maximum, CrossName(event.id), false);
  };
  if (cube && scope != FlagScope::kVectors) {
    if (scope == FlagScope::kAllBlocks) return raise(0, token);
    raise(1, token);
    return raise(2, token);
  }
  auto arrived = [&](int from) -> std::deque<Token>& {
    return arrivals_[(static_cast<int>(scope) * kCores + from) * kCrossFlagIds +
                     static_cast<int>(event.id)];
  };
  arrived(core).push_back(token);
  Token joined = token;
  for (const int from : {1, 2}) {
    if (cores_[from].present && arrived(from).empty()) return;
  }
  for (const int from : {1, 2}) {
    if (!cores_[from].present) continue;
    joined.clock.Join(arrived(from).front().clock);
    arrived(from).pop_front();
  }
  if (scope == FlagScope::kBlock) return raise(0, joined);
  raise(1, joined);
  raise(2, joined);
}

// The scalar unit waits until every pipe of its core is idle.
bool Run::BarrierAll(int core) {
  Drain();
  for (const std::deque<Event>& queue : cores_[core].queues) {
    if (!queue.empty()) return false;
  }
  Clock all;
  for (int pipe = 0; pipe < kPipes; ++pipe) {
    const Thread thread = ThreadOf(static_cast<Core>(core), static_cast<Pipe>(pipe));
    all.Join(clocks_[thread]);
    all.known[thread] = std::max(all.known[thread], counts_[thread]);
  }
  for (int pipe = 0; pipe < kPipes; ++pipe) {
    clocks_[ThreadOf(static_cast<Core>(core), static_cast<Pipe>(pipe))] = all;
  }
  return true;
}

}  // namespace tilelang_ascend_sched::verify
