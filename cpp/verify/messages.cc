// Findings in the words of whoever wrote the kernel.
#include <algorithm>

#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

namespace {

// One loop, or the copies of it that two kinds of cores have. Two loops of one kind of core are
// never copies; on two kinds, loops without a line may be any.
bool IsCommon(const Node* a, Core from, const Node* b, Core to) {
  const bool copies = (from == Core::kAic) != (to == Core::kAic) && a->source.line != 0;
  return a == b || (copies && SameLoop(a, b));
}

}  // namespace

Site Run::SiteOf(const Instruction& instruction, Core core, const Turns& turns) const {
  Site site{instruction.source, core, instruction.pipe, {}};
  for (int i = 0; i < Turns::kKept && turns.loops[i] != nullptr; ++i) {
    const std::string& name = turns.loops[i]->name;
    site.turns.push_back({name.empty() ? "while" : name, turns.turns[i]});
  }
  return site;
}

std::string Run::BuffersOf(const Record& a, const Record& b) const {
  if (a.buffer < 0 || b.buffer < 0) return "";
  const std::string& name = program_.buffers[a.buffer].name;
  return a.buffer == b.buffer ? name : name + ", " + program_.buffers[b.buffer].name;
}

void Run::ReportRace(const Record& earlier, const Record& later, const Access& access,
                     const Excuse& excuse) {
  const auto key = std::pair{earlier.instruction->number, later.instruction->number};
  if (!reported_.insert(key).second) return;
  const Core from = CoreOf(earlier.thread), to = CoreOf(later.thread);
  const Pipe source = PipeOf(earlier.thread), target = PipeOf(later.thread);
  Finding finding{"race"};
  finding.certain =
      !earlier.approximate && !later.approximate && earlier.region.base == later.region.base;
  finding.first = SiteOf(*earlier.instruction, from, earlier.turns);
  finding.second = SiteOf(*later.instruction, to, later.turns);
  finding.memory = NameOf(access.space);
  if (access.tensor >= 0) finding.tensor = program_.tensors[access.tensor].name;
  finding.buffer = BuffersOf(earlier, later);
  finding.begin = std::max(earlier.region.begin, later.region.begin);
  finding.end = std::min(earlier.region.end(), later.region.end());
  const char* kind = !later.writes    ? "reads bytes that may not be written yet"
                     : earlier.writes ? "writes bytes that may still be written"
                                      : "writes bytes that may still be read";
  finding.message = kind;
  if (excuse.answer == Answer::kMaybe) {
    finding.certain = false;
    finding.message +=
        ", unless " + program_.hints[excuse.hint].Text() + " speaks of these two accesses";
  }
  for (int i = 0; i < Turns::kKept && earlier.turns.loops[i] != nullptr; ++i) {
    for (int j = 0; j < Turns::kKept && later.turns.loops[j] != nullptr; ++j) {
      if (!IsCommon(earlier.turns.loops[i], from, later.turns.loops[j], to)) continue;
      if (!finding.distance.empty()) finding.distance += ", ";
      const int64_t distance = later.turns.turns[j] - earlier.turns.turns[i];
      const std::string& name = earlier.turns.loops[i]->name;
      finding.distance += (name.empty() ? "while" : name) + " + " + std::to_string(distance);
    }
  }
  const std::string a = NameOf(source), b = NameOf(target);
  finding.missing = std::string(NameOf(from)) + " " + a + " -> " + NameOf(to) + " " + b;
  if (from != to) {
    // Among the ids of the AIC, those of AIV1 come after those of AIV0.
    const char* of_set = to == Core::kAiv1 ? "id + 16" : "id";
    const char* of_wait = from == Core::kAiv1 ? "id + 16" : "id";
    finding.supply = "cross_core_set_flag(4, \"PIPE_" + a + "\", " + of_set +
                     ") after the first, cross_core_wait_flag(4, \"PIPE_" + b + "\", " + of_wait +
                     ") before the second";
  } else if (source == target) {
    finding.supply = "pipe_barrier(\"PIPE_" + a + "\") between them";
  } else {
    finding.supply = "set_flag(\"" + a + "_" + b + "\", id) after the first, wait_flag(\"" + a +
                     "_" + b + "\", id) before the second";
  }
  Report(std::move(finding));
}

// Whether a core may still set what an event of `core` waits for, once it gets that far.
bool Run::IsStuck(int setter, int core, const Event& wait) const {
  const CoreState& state = cores_[setter];
  if (!state.present) return false;
  if (state.pending != nullptr || !state.frames.empty()) return true;
  const Instruction& waiting = *wait.instruction;
  auto sets = [&](const Event& event) {
    const Instruction& other = *event.instruction;
    if (waiting.action == Action::kWaitFlag) {
      return other.action == Action::kSetFlag && other.pipe == waiting.peer &&
             other.peer == waiting.pipe && event.id == wait.id;
    }
    if (other.action != Action::kCrossSet) return false;
    if (other.scope != FlagScope::kOneCore) return event.id == wait.id % kCrossFlagIds;
    if (setter == 0) return event.id == wait.id + (core == 2 ? kCrossFlagIds : 0);
    return wait.id == event.id + (setter == 2 ? kCrossFlagIds : 0);
  };
  return std::any_of(std::begin(state.queues), std::end(state.queues),
                     [&](const std::deque<Event>& queue) {
                       return std::any_of(queue.begin(), queue.end(), sets);
                     });
}

// Whether an event waits for one that waits itself.
bool Run::SetterIsStuck(int core, const Event& wait) const {
  if (wait.instruction->action == Action::kWaitFlag) return IsStuck(core, core, wait);
  if (wait.instruction->action != Action::kCrossWait) return true;  // for who holds a lock
  for (int other = 0; other < kCores; ++other) {
    if (other != core && IsStuck(other, core, wait)) return true;
  }
  return false;
}

void Run::ReportStuck(int core, const Event& event) {
  const Instruction& instruction = *event.instruction;
  const bool stuck = SetterIsStuck(core, event);
  const std::string id = std::to_string(event.id), to = NameOf(instruction.pipe);
  const std::string here = NameOf(static_cast<Core>(core));
  Finding finding{"deadlock"};
  finding.first = SiteOf(instruction, static_cast<Core>(core), event.turns);
  if (instruction.action == Action::kWaitFlag) {
    const std::string from = NameOf(instruction.peer), pair = from + "_" + to;
    finding.message = "waits for ever for flag " + id + " of " + pair + ", " +
                      (stuck ? "which is to be set by a pipe that waits itself"
                             : "which is not set as often as it is waited for");
    finding.missing = here + " " + from + " -> " + here + " " + to;
    finding.supply = "set_flag(\"" + pair + "\", " + id + ") before this wait";
  } else if (instruction.action == Action::kCrossWait) {
    const Core from = core != 0 ? Core::kAic : event.id < kCrossFlagIds ? Core::kAiv0 : Core::kAiv1;
    finding.message = "waits for ever for cross-core flag " + id + ", " +
                      (stuck ? "which is to be set by a core that waits itself"
                             : "which is not set as often as it is waited for");
    finding.missing = std::string(NameOf(from)) + " -> " + here + " " + to;
    finding.supply = "cross_core_set_flag by " + std::string(NameOf(from)) + " before this wait";
  } else {
    finding.message = "waits for ever for lock " + id + ", which a pipe that waits itself holds";
  }
  if (stuck) finding.supply.clear();
  Report(std::move(finding));
}

void Run::ReportReplaced(const Record& writer, const Record& reader, const Access& access) {
  const auto key = std::pair{-writer.instruction->number, reader.instruction->number};
  if (!reported_.insert(key).second) return;
  Finding finding{"shared bytes"};
  finding.first = SiteOf(*writer.instruction, CoreOf(writer.thread), writer.turns);
  finding.second = SiteOf(*reader.instruction, CoreOf(reader.thread), reader.turns);
  finding.memory = NameOf(access.space);
  finding.begin = std::max(writer.region.begin, reader.region.begin);
  finding.end = std::min(writer.region.end(), reader.region.end());
  finding.message = "buffer " + program_.buffers[writer.buffer].name + " replaces what buffer " +
                    program_.buffers[reader.buffer].name + " still needs";
  Report(std::move(finding));
}

void Run::Report(Finding finding) {
  constexpr size_t kMost = 50;
  // The first turn at which something goes wrong says enough.
  const bool known = std::any_of(findings_.begin(), findings_.end(), [&](const Finding& other) {
    auto same = [](const std::optional<Site>& a, const std::optional<Site>& b) {
      return a.has_value() == b.has_value() &&
             (!a || (a->source.number == b->source.number && a->core == b->core));
    };
    return finding.kind == other.kind && finding.message == other.message &&
           finding.memory == other.memory && same(finding.first, other.first) &&
           same(finding.second, other.second);
  });
  if (!known && findings_.size() < kMost) findings_.push_back(std::move(finding));
}

}  // namespace tilelang_ascend_sched::verify
