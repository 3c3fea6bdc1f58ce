#include "verify/memory.h"

#include <algorithm>

namespace tilelang_ascend_sched::verify {

namespace {

// Whether [begin, end) meets one of the rows.
bool MeetsRows(const Region& rows, int64_t begin, int64_t end) {
  if (rows.rows == 1 || rows.stride <= 0) return begin < rows.end() && rows.begin < end;
  // The last row that starts before `end`.
  int64_t row = FloorDiv(end - 1 - rows.begin, rows.stride);
  row = std::min(row, rows.rows - 1);
  return row >= 0 && rows.begin + row * rows.stride + rows.row_bytes > begin;
}

// Rows of one pitch, no row longer than it: only the difference of the starts matters.
bool OverlapSamePitch(const Region& a, const Region& b) {
  const int64_t pitch = a.stride;
  const int64_t skip = FloorDiv(b.begin - a.begin, pitch);
  const int64_t shift = b.begin - a.begin - skip * pitch;
  auto rows_meet = [&](int64_t first) {  // b's row 0 lies beside a's row `first`
    return std::max<int64_t>(0, first) <= std::min(a.rows - 1, first + b.rows - 1);
  };
  return (shift < a.row_bytes && rows_meet(skip)) ||
         (shift + b.row_bytes > pitch && rows_meet(skip + 1));
}

}  // namespace

bool Overlap(const Region& a, const Region& b) {
  if (a.base != b.base) return true;
  if (a.begin >= b.end() || b.begin >= a.end()) return false;
  if (a.rows == 1 && b.rows == 1) return true;
  if (a.rows == 1) return MeetsRows(b, a.begin, a.end());
  if (b.rows == 1) return MeetsRows(a, b.begin, b.end());
  if (a.stride == b.stride && a.row_bytes <= a.stride && b.row_bytes <= b.stride) {
    return OverlapSamePitch(a, b);
  }
  const Region& few = a.rows < b.rows ? a : b;
  const Region& many = a.rows < b.rows ? b : a;
  for (int64_t row = 0; row < few.rows; ++row) {
    const int64_t begin = few.begin + row * few.stride;
    if (MeetsRows(many, begin, begin + few.row_bytes)) return true;
  }
  return false;
}

bool Covers(const Region& outer, const Region& inner) {
  if (outer.base != inner.base) return false;
  if (outer.rows == 1) return outer.begin <= inner.begin && inner.end() <= outer.end();
  return outer.begin == inner.begin && outer.rows == inner.rows && outer.stride == inner.stride &&
         outer.row_bytes >= inner.row_bytes;
}

}  // namespace tilelang_ascend_sched::verify
