#include "verify/check.h"

#include <algorithm>
#include <set>

#include "verify/decode.h"
#include "verify/hints.h"
#include "verify/places.h"
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

std::string TextOf(const std::map<Symbol, int64_t>& inputs, const Program& program) {
  const Symbols& symbols = program.symbols;
  std::string text;
  for (const auto& [symbol, number] : inputs) {
    Value value;
    value.terms.push_back({symbol, 1});
    if (!text.empty()) text += ", ";
    text += symbols.Text(value) + " = " + std::to_string(number);
  }
  const bool loads = std::any_of(program.exprs.begin(), program.exprs.end(),
                                 [](const auto& expr) { return expr.kind == ExprKind::kLoad; });
  return text.empty() && loads ? "0 for all that is read from tensors" : text;
}

// Walks the path once more with numbers for all inputs. What goes wrong then goes wrong.
std::vector<Finding> Confirm(const Search& search, const Path& path, int64_t* events) {
  std::vector<std::map<Symbol, int64_t>> tried = path.Witnesses();
  // What was not asked for may still decide what is touched.
  const std::map<Symbol, int64_t> best = tried.front();
  for (const int64_t number : {0, 1, 64, 1000}) {
    const auto completed = search.symbols->Completed(best, number);
    if (std::find(tried.begin(), tried.end(), completed) == tried.end()) tried.push_back(completed);
  }
  for (const auto& inputs : tried) {
    Limits limits = search.limits;
    limits.events = kConcreteEvents;
    Search concrete{search.program, search.periods, search.rates, search.symbols, limits, {}, 0};
    concrete.skips = search.skips;
    concrete.used_hints = search.used_hints;
    Path only(*search.symbols, {});
    Run run(&concrete, &only, &inputs);
    run.Execute();
    *events += concrete.events;
    std::vector<Finding> certain;
    for (Finding finding : run.findings()) {
      if (!finding.certain) continue;
      finding.inputs = TextOf(inputs, search.program);
      certain.push_back(std::move(finding));
    }
    if (!certain.empty()) return certain;
  }
  return {};
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

// What one exploration finds out that a better one has to know from the start.
struct Lesson {
  bool exact_counts = false;
  std::map<std::vector<Term>, uint32_t> cores_to{};
  std::vector<bool> used_hints{};
};

// Walks all paths. False if it has to be done again with what was learned.
bool Explore(Program* program, const Periods& periods, const Rates& rates, bool skips,
             Lesson* lesson, Report* report) {
  Search search{*program, periods, rates, &program->symbols, Limits{}, {}, 0};
  search.used_hints = &lesson->used_hints;
  search.skips = skips;
  search.exact_counts = lesson->exact_counts;
  search.cores_to = lesson->cores_to;
  int64_t confirming = 0;
  int looked_for = 0;
  int not_tried = 0;
  std::optional<std::vector<bool>> script = std::vector<bool>();
  while (script) {
    Path path(program->symbols, *script);
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
      if (tried) confirmed = Confirm(search, path, &confirming);
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
      const bool known =
          std::any_of(report->findings.begin(), report->findings.end(),
                      [&](const Finding& other) { return SameKind(finding, other); });
      if (!known && report->findings.size() < kMostFindings) {
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
    if (script && search.events >= search.limits.events) break;
  }
  if (not_tried > 0) {
    Finding finding{"budget", false};
    finding.message = "no inputs were looked for with which " + std::to_string(not_tried) +
                      " more ways through the kernel go wrong";
    report->findings.push_back(std::move(finding));
  }
  report->events = search.events;
  const bool counts = search.exact_used && !lesson->exact_counts;
  lesson->exact_counts = lesson->exact_counts || search.exact_used;
  lesson->cores_to = std::move(search.cores_to);
  return !counts && !search.closed_early;
}

// Tells which hints the proof rests on, and which it does without.
void TellHints(const Program& program, const std::vector<bool>& used, Report* report) {
  for (size_t i = 0; i < program.hints.size(); ++i) {
    const Hint& hint = program.hints[i];
    if (used[i]) {
      report->assumptions.push_back("accesses do not conflict where a hint says so: " +
                                    hint.Text());
    } else if (report->findings.empty()) {
      report->unused_hints.push_back(
          hint.Text() + (hint.names_something ? ": all that it speaks of is in order without it"
                                              : ": the kernel accesses nothing that it names"));
    }
  }
}

// Whether the buffers fit into their memories, used or not, and are told apart.
void CheckBuffers(const Buffers& buffers, const Program& program, Report* report) {
  std::set<Space> full;
  auto check = [&](Space space, int64_t end, const std::string& what) {
    const int64_t capacity = program.chip.CapacityOf(space, program.has_simt);
    if (end <= capacity || !full.insert(space).second) return;
    Finding finding{"capacity"};
    finding.message = what + " to byte " + std::to_string(end) + " of " + NameOf(space) +
                      ", which has " + std::to_string(capacity) + " bytes";
    finding.memory = NameOf(space);
    finding.begin = capacity;
    finding.end = end;
    report->findings.push_back(std::move(finding));
  };
  for (const Buffer& buffer : buffers.all) {
    if (buffer.end()) check(buffer.space, *buffer.end(), "buffer " + buffer.name + " reaches");
  }
  for (const auto& [space, bytes] : buffers.allocated) check(space, bytes, "the buffers reach");
  if (buffers.unknown.empty()) return;
  Finding finding{"buffers unknown", false};
  finding.message = "whether live buffers share bytes is not decided: " + buffers.unknown;
  report->findings.push_back(std::move(finding));
}

}  // namespace

Report Check(const tvm::tirx::PrimFunc& kernel,
             const tvm::ffi::Optional<tvm::tirx::PrimFunc>& unpacked,
             const tvm::ffi::Optional<tvm::IRModule>& hinted, bool skips, const Chip& chip) {
  Report report;
  const Buffers buffers = FindBuffers(kernel, unpacked);
  Program program = Decode(kernel, buffers, chip);
  report.kernel = program.kernel;
  CheckBuffers(buffers, program, &report);
  FindPlaces(hinted, &program);
  if (hinted) ApplyHints(hinted.value(), &program);
  const Periods periods(program);
  const Rates rates(program);
  Lesson lesson;
  lesson.used_hints.resize(program.hints.size());
  Report walked;
  int attempts = 0;
  do {
    walked = report;
  } while (!Explore(&program, periods, rates, skips, &lesson, &walked) && ++attempts < kAttempts);
  report = std::move(walked);
  TellHints(program, lesson.used_hints, &report);
  if (!unpacked) {
    report.assumptions.push_back(
        "no two live buffers share bytes: the kernel before packing was not given");
  }
  report.assumptions.push_back("tensors in GM do not overlap each other");
  report.assumptions.push_back(
      program.between_blocks
          ? "every block sets the flags between blocks as often as this one, and data that blocks "
            "exchange through GM are ordered by them"
          : "blocks do not exchange data through GM");
  if (program.computed_addresses) {
    report.assumptions.push_back("addresses that vector code computes stay inside their buffers");
  }
  for (const Finding& finding : report.findings) {
    if (finding.certain) {
      report.verdict = Verdict::kRefused;
      break;
    }
    report.verdict = Verdict::kNotProven;
  }
  return report;
}

}  // namespace tilelang_ascend_sched::verify
