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

void OrderMissing(Thread first, Thread second, Finding* finding) {
  const Core from = CoreOf(first), to = CoreOf(second);
  const std::string a = NameOf(PipeOf(first)), b = NameOf(PipeOf(second));
  finding->missing = std::string(NameOf(from)) + " " + a + " -> " + NameOf(to) + " " + b;
  if (from != to) {
    // Among the ids of the AIC, those of AIV1 come after those of AIV0.
    const char* of_set = to == Core::kAiv1 ? "id + 16" : "id";
    const char* of_wait = from == Core::kAiv1 ? "id + 16" : "id";
    finding->supply = "cross_core_set_flag(4, \"PIPE_" + a + "\", " + of_set +
                      ") after the first, cross_core_wait_flag(4, \"PIPE_" + b + "\", " + of_wait +
                      ") before the second";
  } else if (first == second) {
    finding->supply = "pipe_barrier(\"PIPE_" + a + "\") between them";
  } else {
    finding->supply = "set_flag(\"" + a + "_" + b + "\", id) after the first, wait_flag(\"" + a +
                      "_" + b + "\", id) before the second";
  }
}

std::string Distance(const Turns& first, Core from, const Turns& second, Core to) {
  std::string distance;
  for (int i = 0; i < Turns::kKept && first.loops[i] != nullptr; ++i) {
    for (int j = 0; j < Turns::kKept && second.loops[j] != nullptr; ++j) {
      if (!IsCommon(first.loops[i], from, second.loops[j], to)) continue;
      if (!distance.empty()) distance += ", ";
      const std::string& name = first.loops[i]->name;
      distance += (name.empty() ? "while" : name) + " + " +
                  std::to_string(second.turns[j] - first.turns[i]);
    }
  }
  return distance;
}

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
  const Core from = CoreOf(earlier.thread), to = CoreOf(later.thread);
  // A scalar read whose number nothing has needed so far may be over all the same, or left out.
  auto kept = [](const Record& record) {
    return PipeOf(record.thread) == Pipe::kS && !record.writes && !record.instruction->awaited;
  };
  const bool may_be_over =
      PipeOf(earlier.thread) == Pipe::kS &&
      (kept(earlier) || earlier.index <= cores_[static_cast<int>(from)].maybe_over);
  const bool meet = excuse.answer != Answer::kMaybe && !may_be_over && Meet(earlier, later);
  const bool certain = meet && !kept(later);
  const auto reported = reported_.try_emplace(key, certain);
  if (!reported.second && (reported.first->second || !meet)) return;
  reported.first->second = certain;
  Finding finding{"race"};
  finding.certain = certain;
  finding.meets = WhereMeet(earlier.region, later.region);
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
    finding.message +=
        ", unless " + program_.hints[excuse.hint].Text() + " speaks of these two accesses";
  }
  finding.distance = Distance(earlier.turns, from, later.turns, to);
  OrderMissing(earlier.thread, later.thread, &finding);
  if (meet && !certain)
    cores_[static_cast<int>(to)].races.push_back(std::make_shared<const Race>(Race{key, finding}));
  Report(std::move(finding));
}

void Run::ReportReplaced(const Record& writer, const Record& reader, const Access& access) {
  const auto key = std::pair{-writer.instruction->number, reader.instruction->number};
  const bool certain = !writer.approximate && !reader.approximate;
  const auto reported = reported_.try_emplace(key, certain);
  if (!reported.second && (reported.first->second || !certain)) return;
  reported.first->second = certain;
  Finding finding{"shared bytes", certain};
  finding.first = SiteOf(*writer.instruction, CoreOf(writer.thread), writer.turns);
  finding.second = SiteOf(*reader.instruction, CoreOf(reader.thread), reader.turns);
  finding.memory = NameOf(access.space);
  finding.begin = std::max(writer.region.begin, reader.region.begin);
  finding.end = std::min(writer.region.end(), reader.region.end());
  finding.message = "buffer " + program_.buffers[writer.buffer].name + " replaces what buffer " +
                    program_.buffers[reader.buffer].name + " still needs";
  finding.distance =
      Distance(writer.turns, CoreOf(writer.thread), reader.turns, CoreOf(reader.thread));
  finding.supply = "the second before the first, or other bytes for one of the buffers";
  Report(std::move(finding));
}

void Run::Report(Finding finding) {
  constexpr size_t kMost = 50;
  // The first turn at which something goes wrong says enough.
  const auto known = std::find_if(findings_.begin(), findings_.end(), [&](const Finding& other) {
    auto same = [](const std::optional<Site>& a, const std::optional<Site>& b) {
      return a.has_value() == b.has_value() &&
             (!a || (a->source.number == b->source.number && a->core == b->core));
    };
    return finding.kind == other.kind && finding.message == other.message &&
           finding.memory == other.memory && same(finding.first, other.first) &&
           same(finding.second, other.second);
  });
  if (known != findings_.end()) {
    if (finding.certain && !known->certain) *known = std::move(finding);
  } else if (findings_.size() < kMost) {
    findings_.push_back(std::move(finding));
  }
}

}  // namespace tilelang_ascend_sched::verify
