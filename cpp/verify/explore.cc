// Walks all ways through a kernel, and looks for inputs with which those that go wrong do so.
#include "verify/explore.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

namespace {

constexpr size_t kMostFindings = 20;
constexpr int64_t kConcreteEvents = 50'000;       // of one run with given inputs
constexpr int kAttempts = 4;                      // to explore, with what was learned before
constexpr int kConfirmations = 64;                // paths for which inputs are looked for
constexpr int64_t kConfirmingEvents = 1'000'000;  // of all those runs

// The next script in depth-first order: the last choice not yet taken both ways, taken the other
// way. Choices are taken as true first.
std::optional<std::vector<bool>> NextScript(std::vector<bool> choices) {
  while (!choices.empty() && !choices.back()) choices.pop_back();
  if (choices.empty()) return std::nullopt;
  choices.back() = false;
  return choices;
}

// The inputs of a run, and what it has read of memory that the kernel writes.
std::string TextOf(const Inputs& inputs, const std::string& readings, const Program& program) {
  const Symbols& symbols = program.symbols;
  std::string text = readings;
  for (const auto& [symbol, number] : inputs) {
    if (symbols.IsTurns(symbol) || symbols.IsReading(symbol)) continue;
    Value value;
    value.terms.push_back({symbol, 1});
    if (!text.empty()) text += ", ";
    text += symbols.Text(value) + " = " + std::to_string(number);
  }
  const bool loads = std::any_of(program.exprs.begin(), program.exprs.end(),
                                 [](const auto& expr) { return expr.kind == ExprKind::kLoad; });
  return text.empty() && loads ? "0 for all that is read from tensors" : text;
}

// What goes wrong for certain in a walk with numbers for inputs. `open`: those for inputs that have
// none, but were asked for.
std::vector<Finding> RunWith(const Search& search, const Inputs& inputs, int64_t* events,
                             std::vector<Inputs>* open) {
  Limits limits = search.limits;
  limits.events = kConcreteEvents;
  Search concrete{search.program, search.periods, search.rates, search.reads,
                  search.symbols, limits,         {},           0};
  concrete.skips = search.skips;
  concrete.used_hints = search.used_hints;
  Path path(search.symbols, {});
  Run run(&concrete, &path, &inputs);
  run.Execute();
  *events += concrete.events;
  std::vector<Finding> certain;
  for (Finding finding : run.findings()) {
    if (!finding.certain) continue;
    finding.inputs = TextOf(inputs, run.contents().Text(), search.program);
    certain.push_back(std::move(finding));
  }
  open->clear();
  if (!certain.empty() && !path.choices().empty()) *open = path.Witnesses({});
  return certain;
}

// Walks the path once more with numbers for all inputs. What goes wrong then goes wrong.
std::vector<Finding> Confirm(const Search& search, const Path& path,
                             const std::vector<Decision>& more, int64_t* events) {
  std::vector<Inputs> tried = path.Witnesses(more);
  // What was not asked for may still decide what is touched.
  const Inputs best = tried.front();
  for (const int64_t number : {0, 1, 64, 1000}) {
    const auto completed = search.symbols->Completed(best, number);
    if (std::find(tried.begin(), tried.end(), completed) == tried.end()) tried.push_back(completed);
  }
  for (const Inputs& inputs : tried) {
    std::vector<Inputs> open, still_open;
    std::vector<Finding> certain = RunWith(search, inputs, events, &open);
    if (certain.empty()) continue;
    if (open.empty()) return certain;
    for (Inputs& completed : open) {
      completed.insert(inputs.begin(), inputs.end());
      certain = RunWith(search, completed, events, &still_open);
      if (!certain.empty() && still_open.empty()) return certain;
    }
  }
  return {};
}

// What has to hold of inputs for the first of the accesses that may meet to do so.
std::vector<Decision> Meeting(const std::vector<Finding>& findings) {
  const auto at = std::find_if(findings.begin(), findings.end(),
                               [](const Finding& finding) { return !finding.meets.empty(); });
  return at == findings.end() ? std::vector<Decision>() : at->meets;
}

bool SameKind(const Finding& a, const Finding& b) {
  auto key = [](const Finding& finding) {
    const int first = finding.first ? finding.first->source.line : 0;
    const int second = finding.second ? finding.second->source.line : 0;
    const std::string text = finding.first ? finding.first->source.text : "";
    return std::tuple(finding.kind, finding.message, first, second, text);
  };
  return key(a) == key(b);
}

// One way to walk all paths.
struct Attempt {
  bool forgets;  // decisions are taken back
  bool loosens;  // loops whose length is the turn of another one, of run-time length, have any
  int64_t events;
};

// What adds paths that no input takes is tried only if the kernel is not proven soon, as there may
// be no end of what is asked or of how long loops are; if these paths are right too, all are. Two
// cores may ask the same, so what they ask is not taken back at first.
std::vector<Attempt> Attempts(const Program& program, const Periods& periods) {
  constexpr int64_t kFew = 100'000, kMany = 500'000;
  const bool several = std::count_if(std::begin(program.cores), std::end(program.cores),
                                     [](const CoreProgram& core) { return core.present; }) > 1;
  std::vector<Attempt> attempts;
  if (several || periods.follows()) attempts.push_back({!several, false, kFew});
  if (several) attempts.push_back({true, false, kMany});
  if (periods.follows()) attempts.push_back({true, true, kMany});
  attempts.push_back({!several, false, kMany});
  return attempts;
}

// What one exploration finds out that a better one has to know from the start.
struct Lesson {
  std::map<std::vector<Term>, uint32_t> cores_to{};
  std::vector<bool> used_hints{};
};

// Walks all paths. False if it has to be done again with what was learned.
bool ExploreOnce(Program* program, const Periods& periods, const Rates& rates, const Reads& reads,
                 bool skips, const Attempt& attempt, Lesson* lesson, Report* report) {
  Search search{*program, periods, rates, reads, &program->symbols, Limits{attempt.events}, {}, 0};
  search.used_hints = &lesson->used_hints;
  search.skips = skips;
  search.forgets = attempt.forgets;
  search.cores_to = lesson->cores_to;
  int64_t confirming = 0;
  int looked_for = 0;
  int not_tried = 0;
  std::optional<std::vector<bool>> script = std::vector<bool>();
  while (script) {
    Path path(&program->symbols, *script);
    Run run(&search, &path, nullptr);
    run.Execute();
    ++report->paths;
    std::vector<Finding> findings = run.findings();
    const bool symbolic = std::any_of(findings.begin(), findings.end(),
                                      [](const Finding& finding) { return !finding.certain; });
    if (!findings.empty() && (symbolic || !path.choices().empty())) {
      std::vector<Finding> confirmed;
      const bool tried = looked_for < kConfirmations && confirming < kConfirmingEvents;
      looked_for += tried;
      if (tried) confirmed = Confirm(search, path, Meeting(findings), &confirming);
      not_tried += !tried;
      if (!confirmed.empty()) {
        findings = std::move(confirmed);
      } else {
        for (Finding& finding : findings) {
          // With no choice made, what does not rest on a symbolic region is certain.
          if (!path.choices().empty()) finding.certain = false;
        }
      }
    }
    bool certain = false;
    for (Finding& finding : findings) {
      certain = certain || finding.certain;
      const auto known =
          std::find_if(report->findings.begin(), report->findings.end(),
                       [&](const Finding& other) { return SameKind(finding, other); });
      if (known != report->findings.end()) {
        if (finding.certain && !known->certain) *known = std::move(finding);
      } else if (report->findings.size() < kMostFindings) {
        report->findings.push_back(std::move(finding));
      }
    }
    if (certain) {
      not_tried = 0;
      break;
    }
    script = NextScript(path.choices());
    if (script && report->paths >= search.limits.paths) {
      Finding finding{"budget", false};
      finding.message = "more than " + std::to_string(search.limits.paths) +
                        " ways through the kernel depend on run-time inputs";
      report->findings.push_back(std::move(finding));
      break;
    }
    if (script && search.events >= search.limits.events) {
      if (report->findings.empty()) {
        Finding finding{"budget", false};
        finding.message = "the kernel takes more than " + std::to_string(search.limits.events) +
                          " instructions to check";
        report->findings.push_back(std::move(finding));
      }
      break;
    }
  }
  if (not_tried > 0) {
    Finding finding{"budget", false};
    finding.message = "no inputs were looked for with which " + std::to_string(not_tried) +
                      " more ways through the kernel go wrong";
    report->findings.push_back(std::move(finding));
  }
  report->events += search.events;
  lesson->cores_to = std::move(search.cores_to);
  return !search.closed_early;
}

bool Certain(const Report& report) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [](const Finding& finding) { return finding.certain; });
}

}  // namespace

void Explore(Program* program, const Rates& rates, bool skips, std::vector<bool>* used_hints,
             Report* report) {
  const Periods exact(*program, false), loose(*program, true);
  const Reads reads(*program);
  const Report before = *report;
  int64_t events = 0;
  for (const Attempt& attempt : Attempts(*program, loose)) {
    Lesson lesson;
    Report walked;
    int times = 0;
    do {
      lesson.used_hints.resize(program->hints.size());
      walked = before;
    } while (!ExploreOnce(program, attempt.loosens ? loose : exact, rates, reads, skips, attempt,
                          &lesson, &walked) &&
             ++times < kAttempts);
    events += walked.events;
    *report = std::move(walked);
    *used_hints = std::move(lesson.used_hints);
    if (report->findings.size() == before.findings.size() || Certain(*report)) break;
  }
  report->events = events;
}

}  // namespace tilelang_ascend_sched::verify
