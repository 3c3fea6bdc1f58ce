#include "runtime/time_model.h"

#include <algorithm>

#include "runtime/ledger.h"

namespace emu {
namespace {

constexpr uint64_t kVectorStart = 30;
constexpr uint64_t kSimdDrain = 12;
constexpr double kVectorBytes = 256;  // a load or a store slot
constexpr double kAluLanes = 51, kDivLanes = 13, kSpecialLanes = 8;

uint64_t cycles(double amount, double rate) {
  const double c = amount / rate;
  const auto whole = uint64_t(c);
  return whole + (double(whole) < c);
}

Cost move(uint64_t bytes, double rate, uint64_t latency, uint64_t least = 1) {
  const uint64_t t = std::max(cycles(double(bytes), rate), least);
  return {t, t + latency};
}

// `rate` counts two operations a multiply-add.
Cost multiply(uint64_t macs, double rate, uint64_t latency) {
  const uint64_t t = std::max<uint64_t>(cycles(2.0 * double(macs), rate), 1);
  return {t, t + latency};
}

}  // namespace

Cost cost_of(const Work& w) {
  switch (w.kind) {
    case kGmToL1:
      return move(w.bytes, 100, 190, 64);
    case kGmToUb:
      return move(w.bytes, 50, 90, 13);
    case kUbToGm:
      return move(w.bytes, 57.5, 180, 10);
    case kUbToL1:
      return move(w.bytes, 128, 43);
    case kL1ToL0: {
      Cost c = move(w.bytes, 256, 5);
      c.interval += 3 * w.descriptors;
      c.latency += 3 * w.descriptors;
      return c;
    }
    case kL1Fill:
      return move(w.bytes, 100, 5);
    case kL0cToUb:
      return move(w.bytes, 128, 58);
    case kL0cToUbDual:
      return move(w.bytes, 256, 55);
    case kL0cToGm:
      return move(w.bytes, 128, 200);
    case kMxScale:
      return move(w.bytes, 32, 28);
    case kMmadB16:
      return multiply(w.mmad_macs, 8192, 8);
    case kMmadF8:
      return multiply(w.mmad_macs, 16384, 8);
    case kMmadF4:
      return multiply(w.mmad_macs, 32768, 8);
    case kMmadHf32:
      return multiply(w.mmad_macs, 4096, 8);
    case kMmadF32:
      return multiply(w.mmad_macs, 512, 67);
    case kMmadMx8:
      return multiply(w.mmad_macs, 16384, 25);
    case kMmadMx4:
      return multiply(w.mmad_macs, 32768, 25);
    default:
      return {kScalarIssueCycles, kScalarIssueCycles};
  }
}

Cost cost_of_vector(const Work& w, const VfCounts& n) {
  const double load = w.kind == kVfSimt ? double(n.loads) / kVectorBytes : double(n.loads);
  const double store = w.kind == kVfSimt ? double(n.stores) / kVectorBytes : double(n.stores);
  const double work = load + store + double(n.alu) / kAluLanes + double(n.div) / kDivLanes +
                      double(n.special) / kSpecialLanes;
  const uint64_t t = kVectorStart + cycles(work, 1.0) + (w.kind == kVfSimd ? kSimdDrain : 0);
  return {t, t};
}

void TimeModel::begin(int blocks) {
  agents_.assign(size_t(blocks) * kCores * kPipes, {});
  events_.clear();
}

int64_t TimeModel::add(Event event) {
  if (!machine().options.time) return -1;
  events_.push_back(event);
  return int64_t(events_.size()) - 1;
}

Issue TimeModel::issue(int scalar_agent, int agent) {
  AgentTime& s = agents_[scalar_agent];
  Issue issued;
  if (agent != scalar_agent) {
    // The queue holds 32: this one enters when the one 32 before it has started.
    const AgentTime& p = agents_[agent];
    if (p.starts.size() >= kQueueDepth) {
      s.free = std::max(s.free, p.starts[p.starts.size() - kQueueDepth]);
    }
    s.free += kScalarIssueCycles;
    s.busy += kScalarIssueCycles;
  }
  issued.time = s.free;
  issued.event = s.free_by;
  return issued;
}

void TimeModel::run(int agent, const Core& core, const Entry& entry, const Cost& cost) {
  AgentTime& a = agents_[agent];
  const uint64_t start = std::max(a.free, entry.issued.time);
  const int64_t cause = a.free >= entry.issued.time ? a.free_by : entry.issued.event;
  const uint64_t end = start + cost.interval;
  const uint64_t done = start + std::max(cost.latency, cost.interval);
  const int64_t event =
      add({uint32_t(agent % (kCores * kPipes)), machine().blocks[core.block]->index,
           entry.instr.name, entry.instr.loc, start, end, done, cause});
  a.free = end;
  a.free_by = event;
  a.busy += cost.interval;
  if (done >= a.done) a.done = done, a.done_by = event;
  a.starts.push_back(start);
}

void TimeModel::leave(int agent, const Core&, const Entry& entry, uint64_t cycles, Token& token) {
  AgentTime& a = agents_[agent];
  const uint64_t ready = std::max({a.free, a.done, entry.issued.time});
  token.time = ready + cycles;
  token.event = ready == a.done ? a.done_by : ready == a.free ? a.free_by : entry.issued.event;
  a.starts.push_back(std::max(a.free, entry.issued.time));
}

void TimeModel::take(int agent, const Core& core, const Entry& entry, const Token& token) {
  AgentTime& a = agents_[agent];
  const uint64_t from = std::max(a.free, entry.issued.time);
  a.starts.push_back(from);
  if (token.time <= from) {
    if (entry.issued.time > a.free) a.free = from, a.free_by = entry.issued.event;
    return;
  }
  Event wait{uint32_t(agent % (kCores * kPipes)),
             machine().blocks[core.block]->index,
             entry.instr.name,
             entry.instr.loc,
             from,
             token.time,
             token.time,
             token.event};
  wait.wakes = token.event;
  wait.sync = true;
  a.free = token.time;
  a.free_by = add(wait);
}

void TimeModel::barrier(int agent, const Core&, const Entry& entry) {
  AgentTime& a = agents_[agent];
  a.starts.push_back(std::max(a.free, entry.issued.time));
  if (a.done > a.free) a.free = a.done, a.free_by = a.done_by;
}

void TimeModel::barrier_all(int scalar_agent, const Core& core, const Entry&) {
  AgentTime& s = agents_[scalar_agent];
  const int first = scalar_agent - int(Pipe::S);
  for (int p = 0; p < kPipes; ++p) {
    const AgentTime& a = agents_[first + p];
    if (a.done > s.free) s.free = a.done, s.free_by = a.done_by;
  }
  (void)core;
}

void TimeModel::end() {
  if (!machine().options.time) return;
  const size_t per_block = size_t(kCores) * kPipes;
  for (size_t b = 0; b * per_block < agents_.size(); ++b) {
    BlockTime t;
    t.block = machine().blocks[b]->index;
    for (size_t i = 0; i < per_block; ++i) {
      const AgentTime& a = agents_[b * per_block + i];
      t.cycles = std::max({t.cycles, a.done, a.free});
      t.busy[i / kPipes][i % kPipes] = a.busy;
    }
    const int wanted = machine().options.timeline_block;
    const bool keep = wanted >= 0 ? int(t.block) == wanted : t.cycles > kept_cycles_;
    if (keep && machine().blocks.size() == 1) kept_ = events_, kept_cycles_ = t.cycles;
    blocks_.push_back(t);
  }
  if (machine().blocks.size() > 1 && kept_.empty()) kept_ = events_;
}

std::vector<int64_t> TimeModel::critical_path() const {
  std::vector<int64_t> path;
  int64_t last = -1;
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (last < 0 || kept_[i].done > kept_[last].done) last = int64_t(i);
  }
  for (; last >= 0 && path.size() <= kept_.size(); last = kept_[last].cause) path.push_back(last);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace emu
