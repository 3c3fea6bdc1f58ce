#include "runtime/ledger.h"

#include <algorithm>

#include "runtime/race.h"
#include "runtime/time_model.h"
#include "runtime/vf_trace.h"

namespace emu {

Ledger& ledger() {
  static Ledger instance;
  return instance;
}

Ledger::Ledger() : race_(new RaceCheck), time_(new TimeModel) {}
Ledger::~Ledger() = default;

void Ledger::begin(int blocks) {
  agents_.assign(size_t(blocks) * kCores * kPipes, {});
  scalar_knowledge_.assign(size_t(blocks) * kCores, {Clock()});
  sequence_.assign(size_t(blocks) * kCores, 0);
  race_->begin(blocks);
  time_->begin(blocks);
}

void Ledger::end() {
  race_->end();
  time_->end();
}

void Ledger::learn(const Core& core, Pipe pipe, const Clock& clock) {
  const bool news = agent(core, pipe).known.join(clock);
  if (news && pipe == Pipe::S) {
    scalar_knowledge_[core.block * kCores + core.index].push_back(agent(core, pipe).known);
  }
}

Issue Ledger::issue(Core& core, Pipe pipe) {
  Issue issued = time_->issue(index(core, Pipe::S), index(core, pipe));
  issued.sequence = ++sequence_[core.block * kCores + core.index];
  issued.knowledge = uint32_t(scalar_knowledge_[core.block * kCores + core.index].size() - 1);
  return issued;
}

// The instruction's own place on its pipe, and what its issuer knew.
void Ledger::advance(Core& core, const Entry& entry) {
  const Pipe pipe = entry.instr.pipe;
  Agent& a = agent(core, pipe);
  learn(core, pipe, scalar_knowledge_[core.block * kCores + core.index][entry.issued.knowledge]);
  ++a.tick;
  // In-order pipes complete what came before; others only by a barrier or a round trip.
  if (!is_async(pipe) && a.tick > 1) a.known.raise(index(core, pipe), a.tick - 1);
}

void Ledger::record(Core& core, const Entry& entry, const Access& access) {
  const int self = index(core, entry.instr.pipe);
  race_->access({self, agents_[self].tick, entry.issued.sequence}, core, entry.instr, access,
                agents_[self].known);
}

void Ledger::start(Core& core, const Entry& entry) {
  advance(core, entry);
  if (entry.unit != 0) learn_unit(core, entry);
  time_->run(index(core, entry.instr.pipe), core, entry, cost_of(entry.instr.work));
  if (!machine().options.race || entry.bad) return;
  for (int i = 0; i < entry.instr.access_count; ++i) record(core, entry, entry.instr.access[i]);
}

void Ledger::start_vector(Core& core, const Entry& entry) {
  advance(core, entry);
  vf_trace().begin(core, entry);
}

void Ledger::finish_vector(Core& core, const Entry& entry) {
  const std::vector<Access>& touched = vf_trace().finish();
  time_->run(index(core, entry.instr.pipe), core, entry,
             cost_of_vector(entry.instr.work, vf_counts()));
  if (!machine().options.race) return;
  for (const Access& access : touched) record(core, entry, access);
}

void Ledger::scalar_access(Core& core, const Access& access, const Loc& at) {
  if (!machine().options.race) return;
  Agent& a = agent(core, Pipe::S);
  const int self = index(core, Pipe::S);
  if (a.tick > 0) a.known.raise(self, a.tick);
  ++a.tick;
  // What is issued from now on comes after this access.
  Clock news;
  news.raise(self, a.tick);
  Instr instr("scalar access", Pipe::S, std::source_location());
  instr.loc = at;
  const uint32_t sequence = ++sequence_[core.block * kCores + core.index];
  race_->access({self, a.tick, sequence}, core, instr, access, a.known);
  learn(core, Pipe::S, news);
}

Token Ledger::leave(Core& core, const Entry& entry, uint64_t cycles) {
  const Pipe pipe = entry.instr.pipe;
  Agent& a = agent(core, pipe);
  learn(core, pipe, scalar_knowledge_[core.block * kCores + core.index][entry.issued.knowledge]);
  Token token;
  token.clock = a.known;
  token.clock.raise(index(core, pipe), a.tick);
  time_->leave(index(core, pipe), core, entry, cycles, token);
  return token;
}

void Ledger::take(Core& core, const Entry& entry, const Token& token) {
  learn(core, entry.instr.pipe, token.clock);
  time_->take(index(core, entry.instr.pipe), core, entry, token);
}

void Ledger::barrier(Core& core, const Entry& entry) {
  const Pipe pipe = entry.instr.pipe;
  Agent& a = agent(core, pipe);
  a.known.raise(index(core, pipe), a.tick);
  time_->barrier(index(core, pipe), core, entry);
}

void Ledger::barrier_all(Core& core, const Entry& entry) {
  Clock everything;
  for (int p = 0; p < kPipes; ++p) {
    const Agent& a = agent(core, Pipe(p));
    everything.join(a.known);
    everything.raise(index(core, Pipe(p)), a.tick);
  }
  learn(core, Pipe::S, everything);
  time_->barrier_all(index(core, Pipe::S), core, entry);
}

void Ledger::learn_unit(Core& core, const Entry& entry) {
  if (entry.instr.pipe == Pipe::M) {
    take(core, entry, core.unit_drained);
    return;
  }
  for (int i = 0; i < entry.instr.access_count; ++i) {
    const Access& a = entry.instr.access[i];
    if (a.space != Space::L0C) continue;
    const uint64_t end = a.begin + (a.rows - 1) * a.stride + a.row_bytes;
    for (const UnitRegion& r : core.unit_full) {
      if (a.begin < r.end && r.begin < end) take(core, entry, r.token);
    }
  }
}

void Ledger::unit_flag(Core& core, const Entry& entry, uint64_t begin, uint64_t end) {
  const Token token = leave(core, entry);
  auto& full = core.unit_full;
  if (entry.instr.pipe == Pipe::M) {
    if (entry.unit == 3) full.push_back({begin, end, token, entry.instr.loc});
    return;
  }
  std::vector<UnitRegion> kept;
  for (const UnitRegion& r : full) {
    if (end <= r.begin || r.end <= begin) {
      kept.push_back(r);
      continue;
    }
    if (r.begin < begin) kept.push_back({r.begin, begin, r.token, r.by});
    if (end < r.end) kept.push_back({end, r.end, r.token, r.by});
  }
  full = std::move(kept);
  core.unit_drained.join(token);
}

}  // namespace emu
