#include "verify/check.h"

#include <algorithm>
#include <set>

#include "verify/decode.h"
#include "verify/explore.h"
#include "verify/hints.h"
#include "verify/places.h"

namespace tilelang_ascend_sched::verify {

namespace {

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
  const Rates rates(program);
  std::vector<bool> used_hints;
  Explore(&program, rates, skips, &used_hints, &report);
  TellHints(program, used_hints, &report);
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
