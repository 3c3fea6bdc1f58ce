#pragma once

#include <tvm/tirx/expr.h>

#include <optional>
#include <vector>

#include "hw/machine.h"
#include "ir/facts.h"

namespace tilelang_ascend_sched {

// True for tile matrix multiplies, block-scaled ones among them.
bool IsMatrixMultiply(const tvm::tirx::CallNode* call);

// One matrix multiply of m x k by k x n elements.
struct CubeWork {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  tvm::DataType input;
  bool hf32 = false;
  bool block_scaled = false;
};

// The multiply that `call` asks for: its tile, or what the facts leave of a tile in L0 whose
// regions are narrower. Nothing for other calls and empty tiles.
std::optional<CubeWork> CubeWorkOf(const tvm::tirx::CallNode* call, bool hf32, FactAnalyzer* facts);

struct CubeCost {
  int64_t latency = 0;  // cycles
  int64_t ii = 0;       // cycles
};

// A stream of multiplies on the Cube core; one multiply of a single tile if `work` is empty, which
// stands for instructions that say nothing of their shape.
CubeCost CostOf(const std::vector<CubeWork>& work, const CubeModel& cube);

}  // namespace tilelang_ascend_sched
