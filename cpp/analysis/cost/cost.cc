#include "analysis/cost/cost.h"

#include <tvm/ffi/error.h>

#include <algorithm>

namespace tilelang_ascend_sched {

int64_t AddCycles(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    TVM_FFI_THROW(InternalError) << "cycle count overflow: " << a << " + " << b
                                 << "; give the task a latency and ii with T.Task";
  }
  return sum;
}

int64_t MultiplyCycles(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    TVM_FFI_THROW(InternalError) << "cycle count overflow: " << a << " * " << b
                                 << "; give the task a latency and ii with T.Task";
  }
  return product;
}

Cost Then(const Cost& first, const Cost& second) {
  if (first.ii == 0) return second;
  if (second.ii == 0) return first;
  return {std::max(first.latency, AddCycles(first.ii, second.latency)),
          AddCycles(first.ii, second.ii)};
}

Cost Repeated(const Cost& cost, int64_t times) {
  if (times <= 0 || cost.ii == 0) return {};
  return {AddCycles(MultiplyCycles(cost.ii, times - 1), cost.latency),
          MultiplyCycles(cost.ii, times)};
}

Cost Either(const Cost& a, const Cost& b) {
  return {std::max(a.latency, b.latency), std::max(a.ii, b.ii)};
}

}  // namespace tilelang_ascend_sched
