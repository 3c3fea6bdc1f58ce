#pragma once

#include <cstdint>

namespace tilelang_ascend_sched {

// What one piece of work costs, in cycles. Nothing at all costs {0, 0}.
struct Cost {
  int64_t latency = 0;  // from its begin until its results are there
  int64_t ii = 0;       // until the same pipe can begin the next piece of work
};

// Sums and products of cycles. Throw InternalError where 64 bits do not hold them.
int64_t AddCycles(int64_t a, int64_t b);
int64_t MultiplyCycles(int64_t a, int64_t b);

// One after the other on one pipe: the second begins when the first has left the pipe.
Cost Then(const Cost& first, const Cost& second);

// The same work `times` times in a row.
Cost Repeated(const Cost& cost, int64_t times);

// One of the two, whichever takes longer.
Cost Either(const Cost& a, const Cost& b);

}  // namespace tilelang_ascend_sched
