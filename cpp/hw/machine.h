#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/pipe.h"
#include "hw/scope.h"

namespace tilelang_ascend_sched {

// The routes on which a copy engine moves data.
enum class Route {
  kGmToL1,
  kGmToUb,
  kUbToGm,
  kUbToL1,
  kL1ToL0a,
  kL1ToL0b,
  kL1ToScale,
  kL1ToBias,
  kL1ToFixpipeBuffer,
  kL0cToUb,
  kL0cToGm,
};

inline constexpr size_t kNumRoutes = 11;

// What an instruction or tile operation occupies, by the called operation's name. A name may begin
// or end in `*` (see hw/name_pattern.h). No pipes: it occupies none, such as synchronization, which
// says only where it waits.
struct OperationModel {
  std::vector<std::string> names;
  PipeMask pipes = 0;
  PortMask ports = 0;
};

// What one route costs. A copy of `bytes` holds its pipe for
// max(min_interval, issue + ceil(bytes / bandwidth)) cycles; its data are there
// latency + ceil(bytes / bandwidth) cycles after it began.
struct Transfer {
  Pipe pipe{};
  PortMask ports = 0;
  int64_t bandwidth = 0;     // bytes/cycle
  int64_t latency = 0;       // cycles
  int64_t issue = 0;         // cycles per descriptor
  int64_t min_interval = 0;  // cycles per descriptor
};

// GM <-> UB copies whose rows are not contiguous in memory: the rate follows the row's bytes. A row
// travels in whole transactions; rows of 1 to 2 transactions run at peak * row / whole
// transactions, rows of 2 to 4 at `wide`, longer ones at the route's bandwidth.
struct StridedRows {
  int64_t transaction = 0;     // bytes
  int64_t narrow = 0;          // bytes/cycle, rows below one transaction
  int64_t peak = 0;            // bytes/cycle
  int64_t wide = 0;            // bytes/cycle
  int64_t unknown = 0;         // bytes/cycle, rows of unknown width
  int64_t latency = 0;         // cycles
  int64_t narrow_latency = 0;  // cycles, rows below one transaction or of unknown width
};

// UB -> L1 copies of strided rows: row bytes a cycle from `full_row` bytes on, below it
// numerator / denominator of that.
struct PackedRows {
  int64_t full_row = 0;  // bytes
  int64_t numerator = 0;
  int64_t denominator = 0;
  int64_t unknown = 0;  // bytes/cycle, rows of unknown width
};

// L0C -> UB copies that feed both AIVs at once.
struct DualCopy {
  int64_t bandwidth = 0;  // bytes/cycle, both AIVs together
  int64_t row_scale = 0;  // bytes/cycle per byte of one AIV's row
  int64_t unknown = 0;    // bytes/cycle, rows of unknown width
  int64_t latency = 0;    // cycles
};

struct CubeModel {
  int64_t latency = 0;          // cycles from the last operation to its result
  int64_t float32_latency = 0;  // the same for float32 and hf32
  int64_t mx_latency = 0;       // the same for block-scaled operands
  int64_t mx_min_extent = 0;    // least larger extent of M, N that MX counts
  int64_t tile = 0;             // M and N are counted in whole tiles of this many elements
  int64_t row_bits = 0;         // K is counted in whole groups of this many bits
  int64_t float32_group = 0;    // the group in elements for float32
  int64_t hf32_group = 0;       // the same in hf32 mode
  // Operations (two per multiply-add) a cycle.
  int64_t float16 = 0;
  int64_t bfloat16 = 0;
  int64_t float32 = 0;
  int64_t hf32 = 0;
  int64_t float8 = 0;
  int64_t mx_float4 = 0;
  int64_t other = 0;
};

// The scatter that turns ND into NZ order in UB.
struct ScatterModel {
  int64_t min = 0;           // cycles
  int64_t setup = 0;         // cycles a call
  int64_t pass = 0;          // cycles a pass of one register over all rows
  int64_t row_quarters = 0;  // quarter cycles a row and pass
};

// Cost of calls inside a Vector body, by the called operation's name, as in OperationModel.
struct CallCost {
  std::vector<std::string> names;
  int64_t throughput = 0;  // lanes/cycle; 0: `cycles` a call, however often it runs
  int64_t cycles = 0;
};

struct VectorModel {
  int64_t bandwidth = 0;       // bytes/cycle between registers and UB
  int64_t register_bytes = 0;  // bytes
  // Lanes a cycle.
  int64_t add = 0;
  int64_t subtract = 0;
  int64_t multiply = 0;
  int64_t divide = 0;
  int64_t modulo = 0;
  int64_t min_max = 0;
  int64_t compare = 0;
  int64_t logic = 0;
  std::vector<CallCost> calls;
  ScatterModel scatter_same;       // the element type stays
  ScatterModel scatter_widening;   // bfloat16 -> float32
  ScatterModel scatter_narrowing;  // float32 -> bfloat16
};

struct PipeModel {
  CoreMask cores = 0;
  bool completes_in_order = false;  // an instruction sees what its predecessors on the pipe wrote
};

// Limits of the synchronization hardware, counts.
struct SyncModel {
  int64_t flags_per_event = 0;
  int64_t locks = 0;
  int64_t cross_core_flags = 0;
  int64_t cross_core_max_count = 0;
};

// Everything that scheduling knows of the chip. The figures are model parameters read from a file
// (see hw/load.h); each stands there with its unit and source.
struct Machine {
  std::string name;
  std::string file;
  int64_t aivs_per_block = 0;
  int64_t unknown_trips = 0;            // iterations of a loop that nothing bounds, in estimates
  std::array<int64_t, 5> capacities{};  // bytes, by CapacityIndex
  int64_t ub_with_simt = 0;             // bytes of UB when the kernel has a SIMT function
  std::array<PipeModel, 7> pipes{};     // in the order of kPipes
  SyncModel sync;
  std::array<Transfer, kNumRoutes> transfers{};
  std::vector<OperationModel> operations;
  StridedRows gm_to_ub_rows;
  StridedRows ub_to_gm_rows;
  PackedRows ub_to_l1_rows;
  DualCopy dual;
  CubeModel cube;
  VectorModel vector;

  const Transfer& transfer(Route route) const { return transfers[static_cast<size_t>(route)]; }

  // What the operation of this name occupies; nullptr if the file does not name it.
  const OperationModel* operation(std::string_view name) const;

  // Bytes of an on-chip memory; 0 for any other scope.
  int64_t capacity(Scope scope) const;
};

// The route from one memory to another, or empty if no copy engine joins them.
std::optional<Route> FindRoute(Scope from, Scope to);

}  // namespace tilelang_ascend_sched
