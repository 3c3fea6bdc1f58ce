#include "runtime/atomics.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/findings.h"

namespace emu {
namespace {

template <class T>
T combined(T old, T value, AtomicOp op) {
  switch (op) {
    case AtomicOp::Max:
      return old > value ? old : value;
    case AtomicOp::Min:
      return old < value ? old : value;
    default:
      return T(old + value);
  }
}

template <class T, class Bits>
void combine(void* to, const void* from, uint64_t bytes, AtomicOp op) {
  static_assert(sizeof(T) == sizeof(Bits));
  for (uint64_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    auto* cell = reinterpret_cast<Bits*>(static_cast<char*>(to) + i);
    T value;
    std::memcpy(&value, static_cast<const char*>(from) + i, sizeof value);
    std::atomic_ref<Bits> shared(*cell);
    Bits seen = shared.load(std::memory_order_relaxed);
    Bits wanted;
    do {
      T old;
      std::memcpy(&old, &seen, sizeof old);
      const T next = combined<T>(old, value, op);
      std::memcpy(&wanted, &next, sizeof wanted);
    } while (!shared.compare_exchange_weak(seen, wanted, std::memory_order_relaxed));
  }
}

}  // namespace

void store(void* to, const void* from, uint64_t bytes, AtomicOp op, DType type) {
  if (op == AtomicOp::None) {
    std::memcpy(to, from, bytes);
    return;
  }
  switch (type) {
    case DType::F32:
      return combine<float, uint32_t>(to, from, bytes, op);
    case DType::F16:
      return combine<half, uint16_t>(to, from, bytes, op);
    case DType::BF16:
      return combine<bfloat16_t, uint16_t>(to, from, bytes, op);
    case DType::S32:
      return combine<int32_t, uint32_t>(to, from, bytes, op);
    case DType::S16:
      return combine<int16_t, uint16_t>(to, from, bytes, op);
    case DType::S8:
      return combine<int8_t, uint8_t>(to, from, bytes, op);
    default:
      fail("atomic store: element type not modelled");
  }
}

}  // namespace emu
