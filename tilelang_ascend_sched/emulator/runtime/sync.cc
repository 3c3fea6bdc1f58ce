// Flags, barriers, cross-core flags and locks. Where a rule is the machine's, FACTS of the
// device are quoted by what they demand: set_flag runs after everything before it on its pipe.
#include "emu/sync.h"

#include "runtime/findings.h"
#include "runtime/ledger.h"
#include "runtime/machine.h"

namespace emu {
namespace {

Pipe to_pipe(pipe_t pipe) {
  if (pipe < PIPE_S || pipe > PIPE_FIX) failf("pipe %d is not a single pipe", int(pipe));
  return Pipe(pipe);
}

void check_id(const char* what, int id, int limit) {
  if (id < 0 || id >= limit) failf("%s: id %d is not in 0..%d", what, id, limit - 1);
}

Flag& flag_of(Core& core, const Entry& entry) {
  return core.flags[int(entry.from)][int(entry.to)][entry.id];
}

std::string flag_text(const Entry& entry) {
  return std::string(pipe_name(entry.from)) + "_" + pipe_name(entry.to) + " id " +
         std::to_string(entry.id);
}

// Lock tickets -----------------------------------------------------------------------------

bool lock_ready(const Core& core, const Entry& entry) {
  if (!entry.block) return true;
  const Lock& lock = core.locks[entry.id];
  for (uint64_t t = lock.first; t < entry.ticket; ++t) {
    if (!lock.holds[t - lock.first].released) return false;
  }
  return true;
}

void lock_release(Core& core, Entry& entry) {
  Lock& lock = core.locks[entry.id];
  Lock::Hold& hold = lock.holds[entry.ticket - lock.first];
  hold.released = true;
  hold.token = ledger().leave(core, entry);
  while (!lock.holds.empty() && lock.holds.front().released) {
    lock.released.join(lock.holds.front().token);
    lock.holds.pop_front();
    ++lock.first;
  }
}

void lock_take(Core& core, Entry& entry) {
  // A lock that does not block learns nothing of those who held it before.
  if (entry.block) ledger().take(core, entry, core.locks[entry.id].released);
}

// Cross-core flags -------------------------------------------------------------------------

// Index of a counter in the waiting core's table.
int counter_index(const Core& waiter, int sub, int id) {
  return waiter.aic() ? sub * kCrossIds + id : id;
}

void cross_raise(Core& target, int index, const Token& token, const Entry& entry) {
  CrossCounter& counter = target.cross[index];
  if (counter.tokens.size() >= kCrossLimit) {
    Finding finding("flag-overflow");
    finding.message = "cross-core flag " + std::to_string(entry.id) + " of " + target.name() +
                      " raised more than " + std::to_string(kCrossLimit) + " times without a wait";
    finding.at(*machine().core, entry.instr);
    report(std::move(finding));
    return;
  }
  counter.tokens.push_back(token);
  counter.by.push_back(entry.instr.loc);
}

// One token a group member; the group's counters rise when every member has arrived.
void group_arrive(GroupArrivals& group, Block& block, int from, std::initializer_list<int> members,
                  std::initializer_list<int> targets, const Token& token, const Entry& entry) {
  group.by_core[from].push_back({token, entry.instr.loc});
  for (int m : members) {
    if (group.by_core[m].empty()) return;
  }
  Token joined;
  for (int m : members) {
    joined.join(group.by_core[m].front().token);
    group.by_core[m].pop_front();
  }
  for (int t : targets)
    cross_raise(block.cores[t], counter_index(block.cores[t], 0, entry.id), joined, entry);
}

// Every core of this kind in every block must have arrived.
void inter_arrive(Core& core, const Token& token, const Entry& entry) {
  Machine& m = machine();
  auto arrived = [&](const Core& c) -> std::deque<Arrival>& {
    return m.block_of(c).inter[entry.id].by_core[c.index];
  };
  std::vector<Core*> members;
  for (auto& block : m.blocks) {
    for (Core& c : block->cores) {
      if (c.present && c.aic() == core.aic()) members.push_back(&c);
    }
  }
  arrived(core).push_back({token, entry.instr.loc});
  for (Core* c : members) {
    if (arrived(*c).empty()) return;
  }
  Token joined;
  for (Core* c : members) {
    joined.join(arrived(*c).front().token);
    arrived(*c).pop_front();
  }
  for (Core* c : members) cross_raise(*c, counter_index(*c, 0, entry.id), joined, entry);
}

void cross_execute_arrive(Core& core, Entry& entry) {
  Block& block = machine().block_of(core);
  const Token token = ledger().leave(core, entry, kCrossCycles);
  switch (entry.mode) {
    case CrossMode::Intra: {
      if (core.aic()) {
        const int sub = entry.id / kCrossIds;
        cross_raise(block.cores[1 + sub], entry.id % kCrossIds, token, entry);
      } else {
        cross_raise(block.cores[0], core.sub() * kCrossIds + entry.id, token, entry);
      }
      return;
    }
    case CrossMode::Subblock:
      group_arrive(block.subblock[entry.id], block, core.index, {1, 2}, {1, 2}, token, entry);
      return;
    case CrossMode::Block:
      if (core.aic()) {
        for (int aiv : {1, 2}) cross_raise(block.cores[aiv], entry.id, token, entry);
      } else {
        group_arrive(block.block[entry.id], block, core.index, {1, 2}, {0}, token, entry);
      }
      return;
    case CrossMode::Inter:
      inter_arrive(core, token, entry);
      return;
  }
}

CrossCounter& cross_counter(Core& core, const Entry& entry) { return core.cross[entry.id]; }

Entry make(Op op, const char* name, Pipe pipe, At at) { return Entry(op, Instr(name, pipe, at)); }

// An entry of pipe S is executed by the scalar program where it stands.
void perform(Entry&& entry) {
  refuse_in_vector_function(entry.instr.name);
  if (entry.instr.pipe != Pipe::S) {
    enqueue(std::move(entry));
    return;
  }
  Core& core = *machine().core;
  while (!sync_ready(core, entry)) {
    block_scalar(Blocked::Sync, entry.instr.loc, Pipe::S, &entry);
  }
  ++machine().stats[machine().block_of(core).index].syncs[core.index];
  entry.issued = ledger().issue(core, Pipe::S);
  sync_execute(core, entry);
}

}  // namespace

bool sync_ready(Core& core, const Entry& entry) {
  const PipeQueue& queue = core.pipes[int(entry.instr.pipe)];
  switch (entry.op) {
    case Op::SetFlag:
    case Op::Barrier:
    case Op::CrossArrive:
    case Op::Unlock:
      return queue.running.empty();
    case Op::WaitFlag:
      return flag_of(core, entry).set;
    case Op::CrossWait:
      return !cross_counter(core, entry).tokens.empty();
    case Op::Lock:
      return lock_ready(core, entry);
    case Op::Run:
      break;
  }
  return true;
}

void sync_execute(Core& core, Entry& entry) {
  switch (entry.op) {
    case Op::SetFlag: {
      Flag& flag = flag_of(core, entry);
      if (flag.set) {
        Finding finding("flag-set-twice");
        finding.message = "flag " + flag_text(entry) + " is set at line " +
                          line_of(entry.instr.loc) + " while still set from line " +
                          line_of(flag.by);
        finding.at(core, entry.instr);
        finding.add_site(core.name(), entry.from, "asc_sync_notify", flag.by);
        report(std::move(finding));
      }
      flag.set = true;
      flag.by = entry.instr.loc;
      flag.token = ledger().leave(core, entry, kFlagCycles);
      return;
    }
    case Op::WaitFlag: {
      Flag& flag = flag_of(core, entry);
      flag.set = false;
      ledger().take(core, entry, flag.token);
      return;
    }
    case Op::Barrier:
      ledger().barrier(core, entry);
      return;
    case Op::CrossArrive:
      cross_execute_arrive(core, entry);
      return;
    case Op::CrossWait: {
      CrossCounter& counter = cross_counter(core, entry);
      ledger().take(core, entry, counter.tokens.front());
      counter.tokens.pop_front();
      counter.by.pop_front();
      return;
    }
    case Op::Lock:
      lock_take(core, entry);
      return;
    case Op::Unlock:
      lock_release(core, entry);
      return;
    case Op::Run:
      return;
  }
}

bool scalar_ready(Core& core) {
  switch (core.blocked) {
    case Blocked::No:
      return true;
    case Blocked::QueueFull:
      return core.pipes[int(core.blocked_pipe)].waiting.size() < kQueueDepth;
    case Blocked::Sync:
      return sync_ready(core, *core.pending);
    case Blocked::All:
      for (const PipeQueue& queue : core.pipes) {
        if (!queue.idle()) return false;
      }
      return true;
  }
  return true;
}

void check_left_over(Block& block) {
  for (Core& core : block.cores) {
    if (!core.present) continue;
    auto left = [&](const std::string& message, const char* name, Pipe pipe, const Loc& by) {
      Finding finding("flag-left-set");
      finding.block = int(block.index);
      finding.message =
          message + ", set at line " + line_of(by) + ", is still set at the end of " + core.name();
      finding.add_site(core.name(), pipe, name, by);
      report(std::move(finding));
    };
    for (int from = 0; from < kPipes; ++from) {
      for (int to = 0; to < kPipes; ++to) {
        for (int id = 0; id < kFlagIds; ++id) {
          const Flag& flag = core.flags[from][to][id];
          if (!flag.set) continue;
          left(std::string("flag ") + pipe_name(Pipe(from)) + "_" + pipe_name(Pipe(to)) + " id " +
                   std::to_string(id),
               "asc_sync_notify", Pipe(from), flag.by);
        }
      }
    }
    for (int id = 0; id < 2 * kCrossIds; ++id) {
      if (core.cross[id].tokens.empty()) continue;
      left("cross-core flag " + std::to_string(id), "arrive", Pipe::S, core.cross[id].by.front());
    }
    for (const auto& [groups, what] :
         {std::pair{block.subblock, "the other AIV"}, std::pair{block.block, "the other AIV"},
          std::pair{block.inter, "every block"}}) {
      for (int id = 0; id < kCrossIds; ++id) {
        const auto& arrivals = groups[id].by_core[core.index];
        if (arrivals.empty()) continue;
        left("cross-core flag " + std::to_string(id) + " still waits for " + what, "arrive",
             Pipe::S, arrivals.front().at);
      }
    }
    for (const UnitRegion& region : core.unit_full) {
      left("the unit flag of L0C bytes " + std::to_string(region.begin) + ".." +
               std::to_string(region.end - 1),
           "asc_mmad", Pipe::M, region.by);
    }
    for (int id = 0; id < kLockIds; ++id) {
      for (const Lock::Hold& hold : core.locks[id].holds) {
        if (hold.released) continue;
        Finding finding("lock-left-held");
        finding.block = int(block.index);
        finding.message = "lock " + std::to_string(id) + " taken by " + pipe_name(hold.pipe) +
                          " at line " + line_of(hold.by) + " is never released";
        finding.add_site(core.name(), hold.pipe, "asc_lock", hold.by);
        report(std::move(finding));
      }
    }
  }
}

// The instructions ---------------------------------------------------------------------------

void set_flag(pipe_t from, pipe_t to, int id, At at) {
  check_id("asc_sync_notify", id, kFlagIds);
  Entry entry = make(Op::SetFlag, "asc_sync_notify", to_pipe(from), at);
  entry.from = to_pipe(from);
  entry.to = to_pipe(to);
  entry.id = id;
  perform(std::move(entry));
}

void wait_flag(pipe_t from, pipe_t to, int id, At at) {
  check_id("asc_sync_wait", id, kFlagIds);
  Entry entry = make(Op::WaitFlag, "asc_sync_wait", to_pipe(to), at);
  entry.from = to_pipe(from);
  entry.to = to_pipe(to);
  entry.id = id;
  perform(std::move(entry));
}

void pipe_barrier(pipe_t pipe, At at) {
  if (pipe != PIPE_ALL && pipe != PIPE_S) {
    perform(make(Op::Barrier, "asc_sync_pipe", to_pipe(pipe), at));
    return;
  }
  Core& core = *machine().core;
  Entry entry = make(Op::Barrier, "asc_sync", Pipe::S, at);
  refuse_in_vector_function(entry.instr.name);
  core.blocked = Blocked::All;
  while (!scalar_ready(core)) block_scalar(Blocked::All, entry.instr.loc);
  core.blocked = Blocked::No;
  ++machine().stats[machine().block_of(core).index].syncs[core.index];
  ledger().barrier_all(core, entry);
}

void cross_arrive(CrossMode mode, pipe_t pipe, int id, At at) {
  const Core& core = *machine().core;
  const bool twin = mode == CrossMode::Intra && core.aic();
  check_id("cross-core arrive", id, twin ? 2 * kCrossIds : kCrossIds);
  Entry entry = make(Op::CrossArrive, "cross-core arrive", to_pipe(pipe), at);
  entry.mode = mode;
  entry.id = id;
  perform(std::move(entry));
}

void cross_wait(CrossMode mode, pipe_t pipe, int id, At at) {
  const Core& core = *machine().core;
  const bool twin = mode == CrossMode::Intra && core.aic();
  check_id("cross-core wait", id, twin ? 2 * kCrossIds : kCrossIds);
  Entry entry = make(Op::CrossWait, "cross-core wait", to_pipe(pipe), at);
  entry.mode = mode;
  entry.id = id;
  perform(std::move(entry));
}

void lock(pipe_t pipe, int id, bool block, At at) {
  check_id("asc_lock", id, kLockIds);
  Core& core = *machine().core;
  Entry entry = make(Op::Lock, "asc_lock", to_pipe(pipe), at);
  Lock& lock = core.locks[id];
  int64_t& open = lock.open[int(entry.instr.pipe)];
  if (open >= 0) {
    failf("asc_lock: lock %d is already held by %s", id, pipe_name(entry.instr.pipe));
  }
  entry.id = id;
  entry.block = block;
  entry.ticket = lock.first + lock.holds.size();
  open = int64_t(entry.ticket);
  lock.holds.push_back({entry.instr.pipe, false, {}, entry.instr.loc});
  perform(std::move(entry));
}

void unlock(pipe_t pipe, int id, bool block, At at) {
  check_id("asc_unlock", id, kLockIds);
  Core& core = *machine().core;
  Entry entry = make(Op::Unlock, "asc_unlock", to_pipe(pipe), at);
  int64_t& open = core.locks[id].open[int(entry.instr.pipe)];
  if (open < 0) failf("asc_unlock: lock %d is not held by %s", id, pipe_name(entry.instr.pipe));
  entry.id = id;
  entry.block = block;
  entry.ticket = uint64_t(open);
  open = -1;
  perform(std::move(entry));
}

}  // namespace emu
