// Operands are unpacked once to the type of the sums, float32 or int32, then multiplied by a small
// vector kernel. Sums go along k ascending, so that results do not depend on tiling or on the
// policy.
#include "runtime/matmul.h"

#include <cstring>
#include <type_traits>
#include <vector>

#include "runtime/findings.h"

namespace emu {
namespace {

// 19 significant bits: hf32 keeps 10 of the 23 stored mantissa bits plus the hidden one.
float to_hf32(float x, int mode) {
  uint32_t bits = __builtin_bit_cast(uint32_t, x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  constexpr uint32_t kDropped = 12;
  const uint32_t half = 1u << (kDropped - 1);
  const uint32_t odd = mode == 2 ? (bits >> kDropped) & 1u : 1u;
  bits += half - 1 + odd;
  return __builtin_bit_cast(float, bits & ~((1u << kDropped) - 1));
}

template <class T>
float value(const uint8_t* p, uint32_t i) {
  T t;
  std::memcpy(&t, p + i * sizeof(T), sizeof t);
  return float(t);
}

template <class T>
float nibble(const uint8_t* p, uint32_t i) {
  T t;
  std::memcpy(&t, p + i / 2, 1);
  return t[int(i % 2)];
}

// Sums are taken modulo 2^32, which unsigned arithmetic defines.
template <class T>
uint32_t integer(const uint8_t* p, uint32_t i) {
  T t;
  std::memcpy(&t, p + i * sizeof(T), sizeof t);
  return uint32_t(int32_t(t));
}

template <class Sum>
using Read = Sum (*)(const uint8_t*, uint32_t);

template <class Sum>
Read<Sum> reader(DType type);

template <>
Read<float> reader<float>(DType type) {
  switch (type) {
    case DType::F32:
      return value<float>;
    case DType::F16:
      return value<half>;
    case DType::BF16:
      return value<bfloat16_t>;
    case DType::E4M3:
      return value<float8_e4m3_t>;
    case DType::E5M2:
      return value<float8_e5m2_t>;
    case DType::E2M1x2:
      return nibble<float4_e2m1x2_t>;
    case DType::E1M2x2:
      return nibble<float4_e1m2x2_t>;
    default:
      return nullptr;
  }
}

template <>
Read<uint32_t> reader<uint32_t>(DType type) {
  switch (type) {
    case DType::S8:
      return integer<int8_t>;
    case DType::U8:
      return integer<uint8_t>;
    case DType::S16:
      return integer<int16_t>;
    default:
      return nullptr;
  }
}

constexpr uint32_t kBlock = 32, kFractal = 512, kLanes = 16;

// 16 columns of one row.
template <class Sum>
struct ColumnsOf;
template <>
struct ColumnsOf<float> {
  typedef float type __attribute__((vector_size(64)));
};
template <>
struct ColumnsOf<uint32_t> {
  typedef uint32_t type __attribute__((vector_size(64)));
};

// Unpacks [k/C0][rows16/16][16][C0]: `put(row, k, from, width)` gets one row's elements of a group.
template <class Put>
void unpack(DType type, uint32_t depth, const uint8_t* from, uint32_t rows, Put put) {
  const uint32_t c0 = is_float4(type) ? 64 : kBlock / dtype_bytes(type);
  const uint32_t rows16 = (rows + 15) / 16;
  for (uint32_t kb = 0; kb * c0 < depth; ++kb) {
    const uint32_t width = depth - kb * c0 < c0 ? depth - kb * c0 : c0;
    for (uint32_t r = 0; r < rows; ++r) {
      put(r, kb * c0, from + (uint64_t(kb) * rows16 + r / 16) * kFractal + (r % 16) * kBlock,
          width);
    }
  }
}

// R rows of C against one block of 16 columns.
template <int R, class Sum, class Columns>
void accumulate(const Sum* a, uint32_t lda, const Columns* b, uint32_t k, Columns* c) {
  Columns sum[R];
  for (int r = 0; r < R; ++r) sum[r] = c[r];
  for (uint32_t i = 0; i < k; ++i) {
    const Columns column = b[i];
    for (int r = 0; r < R; ++r) sum[r] += a[r * lda + i] * column;
  }
  for (int r = 0; r < R; ++r) c[r] = sum[r];
}

// One operand's elements as the sums' type, in place of the fractals' order.
template <class Sum>
struct Element {
  Read<Sum> read;
  const uint8_t* scales;  // of rows of 16 and 64 elements along k
  uint32_t pairs;         // of scales along k
  int hf32;

  Sum operator()(const uint8_t* from, uint32_t i, uint32_t row, uint32_t k) const {
    if constexpr (std::is_same_v<Sum, float>) {
      const float x = hf32 ? to_hf32(read(from, i), hf32) : read(from, i);
      if (!scales) return x;
      const uint64_t pair = uint64_t(row / 16) * pairs + k / 64;
      return x * numeric::decode_e8m0(scales[pair * 32 + (row % 16) * 2 + k / 32 % 2]);
    } else {
      return read(from, i);
    }
  }
};

template <class Sum>
void multiply_as(const Product& p, const uint8_t* a, const uint8_t* b, uint8_t* c,
                 const Scales& scales) {
  using Columns = typename ColumnsOf<Sum>::type;
  static std::vector<Sum> left;
  static std::vector<Columns> right;
  const uint32_t n16 = (p.n + 15) / 16, m16 = (p.m + 15) / 16 * 16;
  left.resize(uint64_t(p.m) * p.k);
  right.assign(uint64_t(n16) * p.k, Columns{});
  const uint32_t pairs = p.k / 64;
  const Element<Sum> of_a{reader<Sum>(p.a), scales.a, pairs, p.a == DType::F32 ? p.hf32 : 0};
  const Element<Sum> of_b{reader<Sum>(p.b), scales.b, pairs, p.b == DType::F32 ? p.hf32 : 0};
  // bfloat16, the common case, without a call for each element.
  constexpr bool kFloats = std::is_same_v<Sum, float>;
  unpack(p.a, p.k, a, p.m, [&](uint32_t row, uint32_t k, const uint8_t* from, uint32_t width) {
    Sum* to = &left[uint64_t(row) * p.k + k];
    if (kFloats && p.a == DType::BF16) {
      for (uint32_t i = 0; i < width; ++i) to[i] = value<bfloat16_t>(from, i);
    } else {
      for (uint32_t i = 0; i < width; ++i) to[i] = of_a(from, i, row, k + i);
    }
  });
  unpack(p.b, p.k, b, p.n, [&](uint32_t row, uint32_t k, const uint8_t* from, uint32_t width) {
    Columns* to = &right[uint64_t(row / kLanes) * p.k + k];
    if (kFloats && p.b == DType::BF16) {
      for (uint32_t i = 0; i < width; ++i) to[i][row % kLanes] = value<bfloat16_t>(from, i);
    } else {
      for (uint32_t i = 0; i < width; ++i) to[i][row % kLanes] = of_b(from, i, row, k + i);
    }
  });
  for (uint32_t nb = 0; nb < n16; ++nb) {
    auto* out = reinterpret_cast<Columns*>(c) + uint64_t(nb) * m16;
    if (p.clear) std::memset(static_cast<void*>(out), 0, uint64_t(p.m) * sizeof(Columns));
    const Columns* column = &right[uint64_t(nb) * p.k];
    uint32_t row = 0;
    for (; row + 8 <= p.m; row += 8) {
      accumulate<8>(&left[uint64_t(row) * p.k], p.k, column, p.k, out + row);
    }
    for (; row < p.m; ++row) {
      accumulate<1>(&left[uint64_t(row) * p.k], p.k, column, p.k, out + row);
    }
  }
}

}  // namespace

bool takes(DType operand, bool integers) {
  return integers ? reader<uint32_t>(operand) != nullptr : reader<float>(operand) != nullptr;
}

void multiply(const Product& p, const uint8_t* a, const uint8_t* b, uint8_t* c,
              const Scales& scales) {
  p.integers ? multiply_as<uint32_t>(p, a, b, c, scales) : multiply_as<float>(p, a, b, c, scales);
}

}  // namespace emu
