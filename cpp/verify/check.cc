#include "verify/check.h"

#include <algorithm>

#include "verify/decode.h"
#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

namespace {

constexpr size_t kMostFindings = 20;
constexpr int64_t kConcreteEvents = 50'000;  // of one run with given inputs
constexpr int kAttempts = 4;                 // to explore, with what was learned before
constexpr int kConfirmations = 8;            // paths for which inputs are looked for

// The next script in depth-first order: the last choice not yet taken both ways, taken the other
// way. Choices are taken as true first.
std::optional<std::vector<bool>> NextScript(std::vector<bool> choices) {
  while (!choices.empty() && !choices.back()) choices.pop_back();
  if (choices.empty()) return std::nullopt;
  choices.back() = false;
  return choices;
}

std::string TextOf(const std::map<Symbol, int64_t>& inputs, const Symbols& symbols) {
  std::string text;
  for (const auto& [symbol, number] : inputs) {
    Value value;
    value.terms.push_back({symbol, 1});
    if (!text.empty()) text += ", ";
    text += symbols.Text(value) + " = " + std::to_string(number);
  }
  return text;
}

// Walks the path once more with numbers for all inputs. What goes wrong then goes wrong.
std::vector<Finding> Confirm(const Search& search, const Path& path) {
  for (const auto& inputs : path.Witnesses()) {
    Limits limits = search.limits;
    limits.events = kConcreteEvents;
    Search concrete{search.program, search.periods, search.rates, search.symbols, limits, {}, 0};
    concrete.skips = search.skips;
    Path only(*search.symbols, {});
    Run run(&concrete, &only, &inputs);
    run.Execute();
    std::vector<Finding> certain;
    for (Finding finding : run.findings()) {
      if (!finding.certain) continue;
      finding.inputs = TextOf(inputs, *search.symbols);
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
};

// Walks all paths. False if it has to be done again with what was learned.
bool Explore(Program* program, const Periods& periods, const Rates& rates, bool skips,
             Lesson* lesson, Report* report) {
  Search search{*program, periods, rates, &program->symbols, Limits{}, {}, 0};
  search.skips = skips;
  search.exact_counts = lesson->exact_counts;
  search.cores_to = lesson->cores_to;
  int looked_for = 0;
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
      if (++looked_for <= kConfirmations) confirmed = Confirm(search, path);
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
    if (certain) break;
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
  report->events = search.events;
  const bool counts = search.exact_used && !lesson->exact_counts;
  lesson->exact_counts = lesson->exact_counts || search.exact_used;
  lesson->cores_to = std::move(search.cores_to);
  return !counts && !search.closed_early;
}

// Hints that two accesses do not conflict, as (text, name, scope) of each buffer that one speaks
// of. One on a tensor frees all accesses to it from order.
void HonourHints(const tvm::tirx::PrimFunc& kernel, Program* program, Report* report) {
  using Hints = tvm::ffi::Array<tvm::ffi::Array<tvm::ffi::String>>;
  const auto hints = kernel->GetAttr<Hints>("tl.ascend_sched.no_conflict");
  if (!hints) return;
  for (const auto& hint : hints.value()) {
    const std::string text = hint[0], name = hint[1], scope = hint[2];
    const std::string assumption = "accesses do not conflict where a hint says so: " + text;
    if (std::find(report->assumptions.begin(), report->assumptions.end(), assumption) ==
        report->assumptions.end()) {
      report->assumptions.push_back(assumption);
    }
    if (scope != "global") program->on_chip_hints = true;
    for (Tensor& tensor : program->tensors) {
      if (scope == "global" && tensor.name == name) tensor.assumed_apart = true;
    }
  }
}

}  // namespace

Report Check(const tvm::tirx::PrimFunc& kernel,
             const tvm::ffi::Optional<tvm::tirx::PrimFunc>& unpacked, bool skips) {
  Report report;
  const Buffers buffers = unpacked ? FindBuffers(kernel, unpacked.value()) : Buffers();
  Program program = Decode(kernel, buffers);
  report.kernel = program.kernel;
  HonourHints(kernel, &program, &report);
  const Periods periods(program);
  const Rates rates(program);
  Lesson lesson;
  Report walked;
  int attempts = 0;
  do {
    walked = report;
  } while (!Explore(&program, periods, rates, skips, &lesson, &walked) && ++attempts < kAttempts);
  report = std::move(walked);
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
