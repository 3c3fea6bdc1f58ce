#include "runtime/simd_order.h"

#include <algorithm>

#include "runtime/machine.h"

namespace emu {
namespace {

// Calls `visit(word, bits)` for each word of the range with its bits.
template <class Visit>
void for_words(uint64_t begin, uint64_t count, Visit visit) {
  const uint64_t end = begin + count;
  for (uint64_t word = begin / 64; word * 64 < end; ++word) {
    const uint64_t first = std::max(begin, word * 64) - word * 64;
    const uint64_t last = std::min(end - word * 64, uint64_t{64});
    const uint64_t upto = last == 64 ? ~0ull : (1ull << last) - 1;
    visit(word, upto & ~((1ull << first) - 1));
  }
}

}  // namespace

void SimdOrder::Pending::add(uint64_t offset, uint64_t bytes) {
  for_words(offset, bytes, [&](uint64_t word, uint64_t mask) { bits[word] |= mask; });
  low = std::min(low, offset / 64);
  high = std::max(high, (offset + bytes + 63) / 64);
}

void SimdOrder::Pending::clear() {
  if (low < high) std::fill(bits.begin() + low, bits.begin() + high, 0);
  low = ~0ull;
  high = 0;
}

void SimdOrder::begin() {
  if (line_.empty()) {
    line_.assign(kUbBytes, 0);
    loaded_.assign(kUbBytes, 0);
    for (Pending& p : pending_) p.bits.assign(kUbBytes / 64, 0);
  }
  for (Pending& p : pending_) p.clear();
  first_ = next_;
  awaited_ = awaited_by_scalar_ = 0;
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

void SimdOrder::load(uint64_t offset, uint64_t bytes, bool vector,
                     std::vector<Early>& found) const {
  const Pending& own = pending_[vector ? kVectorVector : kVectorScalar];
  const Pending& other = pending_[vector ? kScalarVector : kVectorScalar];
  if (!own.touches(offset, bytes) && !other.touches(offset, bytes)) return;
  for_words(offset, bytes, [&](uint64_t word, uint64_t mask) {
    for (uint64_t hit = (own.bits[word] | other.bits[word]) & mask; hit != 0; hit &= hit - 1) {
      const uint64_t at = word * 64 + uint64_t(__builtin_ctzll(hit));
      found.push_back({uint32_t(at), line_[at]});
    }
  });
}

void SimdOrder::vector_load(uint32_t number, uint64_t offset, uint64_t bytes) {
  std::fill_n(loaded_.begin() + offset, bytes, first_ + number);
  next_ = first_ + number + 1;
}

void SimdOrder::overtaken(uint64_t offset, uint64_t bytes, bool vector,
                          std::vector<Overtaken>& found) const {
  const uint64_t safe = first_ + (vector ? awaited_ : awaited_by_scalar_);
  if (safe == next_) return;
  for (uint64_t at = offset; at < offset + bytes; ++at) {
    if (loaded_[at] >= safe) found.push_back({uint32_t(at), uint32_t(loaded_[at] - first_)});
  }
}

void SimdOrder::barrier(MemBarrier which) {
  switch (which) {
    case MemBarrier::kVectorStoreToVectorLoad:
      return pending_[kVectorVector].clear();
    case MemBarrier::kVectorStoreToScalarLoad:
      return pending_[kVectorScalar].clear();
    case MemBarrier::kScalarStoreToVectorLoad:
      return pending_[kScalarVector].clear();
    case MemBarrier::kVectorLoadToVectorStore:
      return awaits(uint32_t(next_ - first_));
    case MemBarrier::kVectorLoadToScalarStore:
      awaited_by_scalar_ = uint32_t(next_ - first_);
      return;
  }
}

}  // namespace emu
