// Once nothing moves any more: waits that never end, and what is left behind.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

namespace {

// The first instruction of a statement, in program order, that `is` holds for.
template <typename Predicate>
const Instruction* Find(const Node* node, Predicate is) {
  if (node->kind == NodeKind::kInstruction) {
    return is(node->instruction) ? &node->instruction : nullptr;
  }
  for (const Node* child : node->children) {
    if (const Instruction* found = Find(child, is)) return found;
  }
  return nullptr;
}

std::string Waited(const Instruction& wait, int64_t id) {
  if (wait.action == Action::kWaitFlag) return FlagName(id, wait.peer, wait.pipe);
  if (wait.action == Action::kCrossWait) return CrossName(id);
  return "lock " + std::to_string(id);
}

}  // namespace

// Whether an instruction of `setter` sets the flag that `wait` waits for, or gives the lock back;
// any instruction without a known `id` may.
bool Run::Answers(int setter, const Instruction& instruction, std::optional<int64_t> id, int core,
                  const Event& wait) const {
  const Instruction& waiting = *wait.instruction;
  auto has = [&](int64_t wanted) { return !id || *id == wanted; };
  if (waiting.action == Action::kWaitFlag) {
    return setter == core && instruction.action == Action::kSetFlag &&
           instruction.pipe == waiting.peer && instruction.peer == waiting.pipe && has(wait.id);
  }
  if (waiting.action == Action::kLock) {
    return setter == core && instruction.action == Action::kUnlock && has(wait.id);
  }
  if (instruction.action != Action::kCrossSet) return false;
  if (instruction.scope != FlagScope::kOneCore) return has(wait.id % kCrossFlagIds);
  // Among the ids of the AIC, those of AIV1 come after those of AIV0.
  if (setter == 0) return core != 0 && has(wait.id + (core == 2 ? kCrossFlagIds : 0));
  return core == 0 && has(wait.id - (setter == 2 ? kCrossFlagIds : 0));
}

std::optional<Run::Release> Run::ReleaseOf(int core, const Event& wait) const {
  for (int setter = 0; setter < kCores; ++setter) {
    for (int pipe = 0; pipe < kPipes; ++pipe) {
      for (const Event& event : cores_[setter].queues[pipe]) {
        if (!Answers(setter, *event.instruction, event.id, core, wait)) continue;
        // Of the releases of a lock, one that was taken earlier.
        if (wait.instruction->action == Action::kLock && event.sequence >= wait.sequence) continue;
        const Core at = static_cast<Core>(setter);
        return Release{event.instruction, SiteOf(*event.instruction, at, event.turns),
                       ThreadOf(at, static_cast<Pipe>(pipe))};
      }
    }
  }
  if (wait.instruction->action == Action::kLock) return std::nullopt;
  for (int setter = 0; setter < kCores; ++setter) {
    const CoreState& state = cores_[setter];
    if (!state.present || (state.pending == nullptr && state.frames.empty())) continue;
    const Instruction* later =
        Find(program_.cores[setter].body, [&](const Instruction& instruction) {
          std::optional<int64_t> id;
          if (instruction.id != kNone) {
            const ExprNode& expr = program_.exprs[instruction.id];
            if (expr.kind == ExprKind::kConstant) id = expr.number;
          }
          return Answers(setter, instruction, id, core, wait);
        });
    if (later == nullptr) continue;
    return Release{later, SiteOf(*later, static_cast<Core>(setter), {}), HeldUpBy(setter)};
  }
  return std::nullopt;
}

// The thread at whose wait the scalar program of a core stands still.
int Run::HeldUpBy(int core) const {
  const CoreState& state = cores_[core];
  auto waits = [&](Pipe pipe) { return !state.queues[static_cast<int>(pipe)].empty(); };
  if (waits(Pipe::kS)) return ThreadOf(static_cast<Core>(core), Pipe::kS);
  if (state.pending == nullptr) return -1;
  const Instruction& pending = state.pending->instruction;
  for (int pipe = 0; pipe < kPipes; ++pipe) {
    const bool held =
        pending.action == Action::kBarrierAll || static_cast<int>(pending.pipe) == pipe;
    if (held && waits(static_cast<Pipe>(pipe))) {
      return ThreadOf(static_cast<Core>(core), static_cast<Pipe>(pipe));
    }
  }
  return -1;
}

// Who waits for one that waits itself explains nothing, unless they wait in a circle. False if
// nobody waits.
bool Run::ReportStuck() {
  std::map<int, std::optional<Release>> releases;  // of the threads that wait
  for (int core = 0; core < kCores; ++core) {
    for (int pipe = 0; pipe < kPipes; ++pipe) {
      const std::deque<Event>& queue = cores_[core].queues[pipe];
      if (queue.empty()) continue;
      const Thread thread = ThreadOf(static_cast<Core>(core), static_cast<Pipe>(pipe));
      releases[thread] = ReleaseOf(core, queue.front());
    }
  }
  const bool in_circles = std::all_of(releases.begin(), releases.end(),
                                      [](const auto& each) { return each.second.has_value(); });
  auto is_cause = [&](int thread) {
    if (!in_circles) return !releases.at(thread).has_value();
    std::set<int> passed;
    int next = thread;
    do {
      const auto at = releases.find(next);
      if (at == releases.end() || !passed.insert(next).second) return false;
      next = at->second->held_up_by;
    } while (next != thread);
    return true;
  };
  std::vector<int> causes;
  for (const auto& [thread, release] : releases) {
    if (is_cause(thread)) causes.push_back(thread);
  }
  for (const auto& [thread, release] : releases) {
    if (!causes.empty() && std::find(causes.begin(), causes.end(), thread) == causes.end()) {
      continue;
    }
    const Thread waiting = static_cast<Thread>(thread);
    const int core = static_cast<int>(CoreOf(waiting));
    ReportStuck(core, cores_[core].queues[static_cast<int>(PipeOf(waiting))].front(), release);
  }
  return !releases.empty();
}

void Run::ReportStuck(int core, const Event& wait, const std::optional<Release>& release) {
  const Instruction& instruction = *wait.instruction;
  const std::string here = std::string(NameOf(static_cast<Core>(core))) + " ";
  const std::string to = here + NameOf(instruction.pipe), id = std::to_string(wait.id);
  Finding finding{"deadlock"};
  finding.first = SiteOf(instruction, static_cast<Core>(core), wait.turns);
  finding.message = "waits for ever for " + Waited(instruction, wait.id);
  if (release) {
    finding.second = release->site;
    const char* what = instruction.action == Action::kLock ? "release" : "set";
    finding.message += std::string(", whose ") + what;
    finding.missing = std::string(NameOf(release->site.core)) + " " +
                      NameOf(release->instruction->pipe) + " -> " + to;
    if (release->held_up_by < 0) {
      finding.message += " is never reached";
      Report(std::move(finding));
      return;
    }
    const Thread thread = static_cast<Thread>(release->held_up_by);
    const int other = static_cast<int>(CoreOf(thread));
    const Event& earlier = cores_[other].queues[static_cast<int>(PipeOf(thread))].front();
    const std::string whose = std::string(NameOf(CoreOf(thread))) + " " + NameOf(PipeOf(thread));
    const std::string what_for = Waited(*earlier.instruction, earlier.id);
    finding.message += " comes after a wait of " + whose + " for " + what_for;
    finding.supply = "the second before " + whose + " waits for " + what_for;
  } else if (instruction.action == Action::kLock) {
    finding.message += ", which is never given back";
  } else if (instruction.action == Action::kWaitFlag) {
    finding.message += ", which is not set as often as it is waited for";
    finding.missing = here + NameOf(instruction.peer) + " -> " + to;
    finding.supply = "set_flag(\"" + PairName(instruction.peer, instruction.pipe) + "\", " + id +
                     ") before this wait";
  } else {
    const Core from = core != 0 ? Core::kAic : wait.id < kCrossFlagIds ? Core::kAiv0 : Core::kAiv1;
    const int64_t its_id = wait.id % kCrossFlagIds + (core == 2 ? kCrossFlagIds : 0);
    finding.message += ", which is not set as often as it is waited for";
    finding.missing = std::string(NameOf(from)) + " -> " + to;
    finding.supply = "cross_core_set_flag with id " + std::to_string(its_id) + " by " +
                     NameOf(from) + " before this wait";
  }
  Report(std::move(finding));
}

void Run::Finish() {
  bool stuck = ReportStuck();
  for (int core = 0; core < kCores; ++core) {
    const CoreState& state = cores_[core];
    if (state.pending == nullptr || stuck) continue;
    Finding finding{"deadlock"};
    finding.message = "never gets to run";
    finding.first =
        Site{state.pending->source, static_cast<Core>(core), state.pending->instruction.pipe, {}};
    Report(std::move(finding));
    stuck = true;
  }
  if (stuck) return;
  auto left = [&](const Token& token, const std::string& name, const std::string& wait) {
    Finding finding{"left set"};
    finding.message = name + " is set when the kernel ends: nobody waits for it";
    finding.first = SiteOf(*token.instruction, CoreOf(token.thread), token.turns);
    finding.supply = wait + " after this set, or no set here";
    Report(std::move(finding));
  };
  for (const auto& [key, flag] : flags_) {
    if (flag.tokens.empty()) continue;
    const Token& token = flag.tokens.front();
    const Instruction& set = *token.instruction;
    const int id = key % kMostIds;
    left(token, FlagName(id, set.pipe, set.peer), WaitCall(id, set.pipe, set.peer));
  }
  for (const auto& [key, flag] : cross_flags_) {
    if (flag.tokens.empty()) continue;
    const int id = key % kMostIds, from = key / kMostIds / kCores, to = key / kMostIds % kCores;
    left(flag.tokens.front(), CrossName(id),
         "cross_core_wait_flag with id " + std::to_string(id + (from == 2 ? kCrossFlagIds : 0)) +
             " by " + NameOf(static_cast<Core>(to)));
  }
  for (const auto& [key, tokens] : arrivals_) {
    if (tokens.empty()) continue;
    const Token& token = tokens.front();
    Finding finding{"left set"};
    finding.message = CrossName(key % kCrossFlagIds) +
                      " is set when the kernel ends, and the other core never sets it";
    finding.first = SiteOf(*token.instruction, CoreOf(token.thread), token.turns);
    Report(std::move(finding));
  }
  for (const auto& [key, lock] : locks_) {
    if (lock.holder < 0) continue;
    Finding finding{"left set"};
    const int64_t ids = program_.chip.lock_ids;
    finding.message = "lock " + std::to_string(key % ids) + " is held when the kernel ends";
    finding.first = SiteOf(*lock.taken_by, static_cast<Core>(key / ids), {});
    finding.supply = "unlock(PIPE_" + std::string(NameOf(lock.taken_by->pipe)) + ") after it";
    Report(std::move(finding));
  }
}

}  // namespace tilelang_ascend_sched::verify
