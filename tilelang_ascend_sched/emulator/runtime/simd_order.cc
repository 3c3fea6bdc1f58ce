#include "runtime/simd_order.h"

#include <algorithm>

#include "runtime/machine.h"

namespace emu {
namespace {

// Calls `visit(word, bits)` for each word of the range with its bits; stops when told to.
template <class Visit>
void for_words(uint64_t begin, uint64_t count, Visit visit) {
  const uint64_t end = begin + count;
  for (uint64_t word = begin / 64; word * 64 < end; ++word) {
    const uint64_t first = std::max(begin, word * 64) - word * 64;
    const uint64_t last = std::min(end - word * 64, uint64_t{64});
    const uint64_t upto = last == 64 ? ~0ull : (1ull << last) - 1;
    if (visit(word, upto & ~((1ull << first) - 1))) return;
  }
}

}  // namespace

void SimdOrder::Pending::add(uint64_t offset, uint64_t bytes) {
  for_words(offset, bytes, [&](uint64_t word, uint64_t mask) {
    bits[word] |= mask;
    return false;
  });
  low = std::min(low, offset / 64);
  high = std::max(high, (offset + bytes + 63) / 64);
}

int64_t SimdOrder::Pending::first_in(uint64_t offset, uint64_t bytes) const {
  int64_t found = -1;
  if (offset / 64 >= high || (offset + bytes) / 64 < low) return found;
  for_words(offset, bytes, [&](uint64_t word, uint64_t mask) {
    const uint64_t hit = bits[word] & mask;
    if (hit) found = int64_t(word * 64 + __builtin_ctzll(hit));
    return hit != 0;
  });
  return found;
}

void SimdOrder::Pending::clear() {
  if (low < high) std::fill(bits.begin() + low, bits.begin() + high, 0);
  low = ~0ull;
  high = 0;
}

void SimdOrder::begin() {
  if (line_.empty()) {
    line_.assign(kUbBytes, 0);
    for (Pending& p : pending_) p.bits.assign(kUbBytes / 64, 0);
  }
  for (Pending& p : pending_) p.clear();
}

void SimdOrder::store(uint64_t offset, uint64_t bytes, bool vector, uint32_t line) {
  std::fill_n(line_.begin() + offset, bytes, line);
  if (vector) {
    pending_[kVectorVector].add(offset, bytes);
    pending_[kVectorScalar].add(offset, bytes);
  } else {
    pending_[kScalarVector].add(offset, bytes);
  }
}

int64_t SimdOrder::load(uint64_t offset, uint64_t bytes, bool vector) const {
  if (!vector) return pending_[kVectorScalar].first_in(offset, bytes);
  const int64_t found = pending_[kVectorVector].first_in(offset, bytes);
  return found >= 0 ? found : pending_[kScalarVector].first_in(offset, bytes);
}

void SimdOrder::barrier(MemBarrier which) {
  switch (which) {
    case MemBarrier::kVectorStoreToVectorLoad:
      return pending_[kVectorVector].clear();
    case MemBarrier::kVectorStoreToScalarLoad:
      return pending_[kVectorScalar].clear();
    case MemBarrier::kScalarStoreToVectorLoad:
      return pending_[kScalarVector].clear();
    case MemBarrier::kOther:
      return;
  }
}

}  // namespace emu
