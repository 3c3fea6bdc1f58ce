// Interleaves the scalar programs and the pipes of the running blocks.
//
// One step is one of: a scalar program runs until it has issued an instruction or must wait; a
// pipe starts the instruction at its head; an instruction started on an asynchronous pipe takes
// effect. The policy picks among the steps that are possible.
#include <cstring>

#include "runtime/findings.h"
#include "runtime/ledger.h"
#include "runtime/machine.h"

namespace emu {
namespace {

constexpr size_t kScalarStack = 1 << 20;

enum class Kind : uint8_t { Complete, Start, Scalar };

struct Step {
  Kind kind;
  Core* core;
  Pipe pipe = Pipe::S;
};

void run_scalar(void*) {
  const Kernel& kernel = *machine().kernel;
  kernel.entry(reinterpret_cast<const unsigned long*>(kernel.slots.data()));
}

bool present(const Kernel& kernel, int core) {
  switch (kernel.kind) {
    case KernelKind::Mix:
      return true;
    case KernelKind::Cube:
      return core == 0;
    case KernelKind::Vector:
      return core == 1;
  }
  return false;
}

void set_up(Block& block, uint32_t index, int position) {
  const Kernel& kernel = *machine().kernel;
  block.index = index;
  for (int i = 0; i < kCores; ++i) {
    Core& core = block.cores[i];
    core.index = i;
    core.block = position;
    core.present = present(kernel, i);
    core.finished = !core.present;
    if (!core.present) continue;
    if (i == 0) {
      core.memory[int(Space::L1)].allocate(kL1Bytes);
      core.memory[int(Space::L0A)].allocate(kL0Bytes);
      core.memory[int(Space::L0B)].allocate(kL0Bytes);
      core.memory[int(Space::L0C)].allocate(kL0cBytes);
      core.memory[int(Space::MXA)].allocate(kScaleBytes);
      core.memory[int(Space::MXB)].allocate(kScaleBytes);
    } else {
      map_ub_of(core);
      core.memory[int(Space::UB)].allocate(kernel.simt ? kUbSimtBytes : kUbBytes);
    }
    core.fiber = std::make_unique<Fiber>(kScalarStack);
    core.fiber->start(run_scalar, nullptr);
  }
}

bool drains(const Entry& entry, uint64_t begin, uint64_t end) {
  for (int i = 0; i < entry.instr.access_count; ++i) {
    const Access& a = entry.instr.access[i];
    if (a.space != Space::L0C) continue;
    const uint64_t last = a.begin + (a.rows - 1) * a.stride + a.row_bytes;
    if (a.begin < end && begin < last) return true;
  }
  return false;
}

bool unit_ready(const Core& core, const Entry& entry) {
  if (entry.unit == 0) return true;
  const bool fills = entry.instr.pipe == Pipe::M;
  for (int i = 0; i < entry.instr.access_count; ++i) {
    const Access& a = entry.instr.access[i];
    if (a.space != Space::L0C) continue;
    const uint64_t end = a.begin + (a.rows - 1) * a.stride + a.row_bytes;
    bool full = false;
    for (const UnitRegion& r : core.unit_full) full |= a.begin < r.end && r.begin < end;
    if (full == fills) return false;  // M waits until drained, FIX until filled
    // What another copy is draining is not full for this one.
    for (const Entry& other : core.pipes[int(Pipe::FIX)].running) {
      if (other.unit != 0 && drains(other, a.begin, end)) return false;
    }
  }
  return true;
}

bool head_ready(Core& core, Pipe pipe) {
  PipeQueue& queue = core.pipes[int(pipe)];
  if (queue.waiting.empty()) return false;
  const Entry& head = queue.waiting.front();
  if (head.op != Op::Run) return sync_ready(core, head);
  return queue.running.size() < kQueueDepth && unit_ready(core, head);
}

void take_effect(Core& core, Entry& entry) {
  Machine& m = machine();
  m.core = &core;
  m.entry = &entry;
  if (entry.instr.body && !entry.bad) entry.instr.body();
  if (entry.unit != 0) {
    for (int i = 0; i < entry.instr.access_count; ++i) {
      const Access& a = entry.instr.access[i];
      if (a.space != Space::L0C) continue;
      const uint64_t end = a.begin + (a.rows - 1) * a.stride + a.row_bytes;
      ledger().unit_flag(core, entry, a.begin, end);
    }
  }
  m.entry = nullptr;
}

void start(Core& core, Pipe pipe) {
  Machine& m = machine();
  PipeQueue& queue = core.pipes[int(pipe)];
  m.core = &core;
  m.entry = &queue.waiting.front();
  Block& block = m.block_of(core);
  BlockStats& stats = m.stats[block.index];
  Entry& head = queue.waiting.front();
  if (head.op == Op::Run) {
    ++stats.executed[core.index][int(pipe)];
    check_bounds(core, head);
    if (is_async(pipe)) {
      ledger().start(core, head);
      queue.running.push_back(std::move(head));
    } else if (head.instr.work.kind == kVfSimt || head.instr.work.kind == kVfSimd) {
      // What a vector function touches is known once it has run.
      ledger().start_vector(core, head);
      take_effect(core, head);
      ledger().finish_vector(core, head);
    } else {
      ledger().start(core, head);
      take_effect(core, head);
    }
  } else {
    ++stats.syncs[core.index];
    sync_execute(core, head);
  }
  queue.waiting.pop_front();
  m.entry = nullptr;
}

void complete(Core& core, Pipe pipe, size_t which) {
  auto& running = core.pipes[int(pipe)].running;
  take_effect(core, running[which]);
  running.erase(running.begin() + which);
}

void run_scalar_step(Core& core) {
  Machine& m = machine();
  core.blocked = Blocked::No;
  m.core = &core;
  core.fiber->resume();
  m.core = nullptr;
  if (core.fiber->done()) core.finished = true;
}

uint64_t next_random() {  // splitmix64
  uint64_t z = machine().random += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void collect(std::vector<Step>& steps) {
  steps.clear();
  for (auto& block : machine().blocks) {
    for (Core& core : block->cores) {
      if (!core.present) continue;
      if (!core.finished && scalar_ready(core)) steps.push_back({Kind::Scalar, &core});
      for (int p = 0; p < kPipes; ++p) {
        if (!core.pipes[p].running.empty()) steps.push_back({Kind::Complete, &core, Pipe(p)});
        if (head_ready(core, Pipe(p))) steps.push_back({Kind::Start, &core, Pipe(p)});
      }
    }
  }
}

// Eager: effects as soon as possible, scalar programs held back to let pipes run.
// Lazy: scalar programs run ahead; effects wait until something needs them.
size_t first_of(const std::vector<Step>& steps, Kind a, Kind b) {
  for (Kind wanted : {a, b}) {
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].kind == wanted) return i;
    }
  }
  return 0;
}

size_t pick(const std::vector<Step>& steps) {
  const Options& options = machine().options;
  switch (options.policy) {
    case Policy::Eager: {
      const size_t i = first_of(steps, Kind::Complete, Kind::Start);
      if (steps[i].kind != Kind::Scalar) return i;
      return machine().steps % steps.size();
    }
    case Policy::Lazy:
      return first_of(steps, Kind::Scalar, Kind::Start);
    case Policy::Random:
      return next_random() % steps.size();
    case Policy::Starve: {
      size_t others = 0;
      auto starved = [&](const Step& s) {
        return s.pipe == options.starved && (s.kind != Kind::Scalar || s.pipe == Pipe::S);
      };
      for (const Step& s : steps) others += !starved(s);
      if (others == 0) return next_random() % steps.size();
      size_t n = next_random() % others;
      for (size_t i = 0;; ++i) {
        if (!starved(steps[i]) && n-- == 0) return i;
      }
    }
  }
  return 0;
}

size_t pick_completion(size_t running) {
  switch (machine().options.policy) {
    case Policy::Eager:
      return 0;
    case Policy::Lazy:
      return running - 1;  // the last started first: nothing promises otherwise
    default:
      return next_random() % running;
  }
}

std::string describe_waits(const Core& core) {
  std::string text;
  auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (!core.finished) {
    add("S at line " + line_of(core.blocked_at) + " waits for " + wait_reason(core));
  }
  for (int p = 0; p < kPipes; ++p) {
    if (core.pipes[p].waiting.empty()) continue;
    const Entry& head = core.pipes[p].waiting.front();
    add(std::string(pipe_name(Pipe(p))) + " at line " + line_of(head.instr.loc) + ": " +
        describe(head));
  }
  return text;
}

[[noreturn]] void report_deadlock() {
  Finding finding("deadlock");
  std::string text;
  for (auto& block : machine().blocks) {
    for (Core& core : block->cores) {
      if (!core.present) continue;
      const std::string waits = describe_waits(core);
      if (waits.empty()) continue;
      if (finding.block < 0) finding.block = block->index;
      text += (text.empty() ? "" : " | ") + core.name() + ": " + waits;
      for (int p = 0; p < kPipes; ++p) {
        if (!core.pipes[p].waiting.empty()) {
          finding.add_site(core.name(), Pipe(p), core.pipes[p].waiting.front().instr.name,
                           core.pipes[p].waiting.front().instr.loc);
        }
      }
      if (!core.finished) {
        finding.add_site(core.name(), Pipe::S, "wait", core.blocked_at);
      }
    }
  }
  finding.message = "nothing can go on: " + text;
  stop_with(std::move(finding));
}

bool all_done() {
  for (auto& block : machine().blocks) {
    for (Core& core : block->cores) {
      if (!core.finished) return false;
      for (PipeQueue& queue : core.pipes) {
        if (!queue.idle()) return false;
      }
    }
  }
  return true;
}

void run_together(const std::vector<uint32_t>& indices) {
  Machine& m = machine();
  while (m.blocks.size() < indices.size()) m.blocks.push_back(nullptr);
  for (size_t i = 0; i < indices.size(); ++i) {
    m.blocks[i] = std::make_unique<Block>();
    set_up(*m.blocks[i], indices[i], int(i));
  }
  m.random = m.options.seed * 0x2545f4914f6cdd1d + indices.front();
  m.steps = 0;
  ledger().begin(int(indices.size()));
  std::vector<Step> steps;
  while (!all_done()) {
    collect(steps);
    if (steps.empty()) report_deadlock();
    if (++m.steps > m.options.step_budget) {
      Finding finding("budget");
      finding.block = int(indices.front());
      finding.message = "stopped after " + std::to_string(m.options.step_budget) +
                        " scheduler steps (step_budget)";
      stop_with(std::move(finding));
    }
    const Step& step = steps[pick(steps)];
    switch (step.kind) {
      case Kind::Complete:
        complete(*step.core, step.pipe,
                 pick_completion(step.core->pipes[int(step.pipe)].running.size()));
        break;
      case Kind::Start:
        start(*step.core, step.pipe);
        break;
      case Kind::Scalar:
        run_scalar_step(*step.core);
        break;
    }
  }
  for (auto& block : m.blocks) check_left_over(*block);
  ledger().end();
  m.blocks.clear();
}

}  // namespace

Machine the_machine;

void run_blocks(const std::vector<uint32_t>& indices) {
  if (indices.empty()) return;
  if (machine().kernel->together) {
    run_together(indices);
    return;
  }
  for (uint32_t index : indices) run_together({index});
}

void block_scalar(Blocked why, const Loc& at, Pipe full, const Entry* pending) {
  Core& core = *machine().core;
  core.blocked = why;
  core.blocked_pipe = full;
  core.pending = pending;
  core.blocked_at = at;
  Fiber::suspend();
}

void refuse_in_vector_function(const char* name) {
  if (machine().entry) failf("%s is issued inside a vector function", name);
}

void enqueue(Entry&& entry) {
  refuse_in_vector_function(entry.instr.name);
  Core& core = *machine().core;
  PipeQueue& queue = core.pipes[int(entry.instr.pipe)];
  const Loc at = entry.instr.loc;
  if (queue.waiting.size() >= kQueueDepth) {
    block_scalar(Blocked::QueueFull, at, entry.instr.pipe);
  }
  entry.issued = ledger().issue(core, entry.instr.pipe);
  queue.waiting.push_back(std::move(entry));
  // Give the scheduler its choice after every instruction.
  if (machine().options.policy != Policy::Lazy) block_scalar(Blocked::No, at);
}

void issue(Instr&& instr) {
  if (instr.pipe == Pipe::S) fail("an instruction of pipe S is executed where it stands");
  enqueue(Entry(Op::Run, std::move(instr)));
}

void call_site(uint32_t line) { machine().core->call_site = line; }

Loc make_loc(const std::source_location& at) {
  Core* core = machine().core;
  const Loc loc{at.file_name(), at.line(), core ? core->call_site : 0};
  if (core) core->last_at = loc;
  return loc;
}

bool is_aic() { return machine().core->aic(); }
int sub_block() { return machine().core->sub(); }
uint32_t block_index() { return machine().block_of(*machine().core).index; }
uint32_t block_count() { return machine().kernel->blocks; }

}  // namespace emu
