// Operands are unpacked to float32 once, then multiplied by a small vector kernel. Every product
// and sum is float32, k ascending, so that results do not depend on tiling or on the policy.
#include "runtime/matmul.h"

#include <cstring>
#include <vector>

#include "runtime/findings.h"

namespace emu {
namespace {

typedef float Vec16 __attribute__((vector_size(64)));

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

using Read = float (*)(const uint8_t*, uint32_t);

Read reader(DType type) {
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
      fail("asc_mmad: operands of this type are not modelled");
  }
}

constexpr uint32_t kBlock = 32, kFractal = 512;

// Unpacks [k/C0][rows16/16][16][C0] so that visit(row, k, x) sees every element once.
template <class Visit>
void unpack(const Product& p, const uint8_t* from, uint32_t rows, Visit visit) {
  const bool nibbles = p.type == DType::E2M1x2 || p.type == DType::E1M2x2;
  const uint32_t c0 = nibbles ? 64 : kBlock / dtype_bytes(p.type);
  const uint32_t rows16 = (rows + 15) / 16;
  for (uint32_t kb = 0; kb * c0 < p.k; ++kb) {
    const uint32_t width = p.k - kb * c0 < c0 ? p.k - kb * c0 : c0;
    for (uint32_t r = 0; r < rows; ++r) {
      visit(r, kb * c0, from + (uint64_t(kb) * rows16 + r / 16) * kFractal + (r % 16) * kBlock,
            width);
    }
  }
}

// Eight rows of C against one block of 16 columns.
template <int R>
void kernel(const float* a, uint32_t lda, const Vec16* b, uint32_t k, Vec16* c) {
  Vec16 sum[R];
  for (int r = 0; r < R; ++r) sum[r] = c[r];
  for (uint32_t i = 0; i < k; ++i) {
    const Vec16 column = b[i];
    for (int r = 0; r < R; ++r) sum[r] += a[r * lda + i] * column;
  }
  for (int r = 0; r < R; ++r) c[r] = sum[r];
}

}  // namespace

void multiply(const Product& p, const uint8_t* a, const uint8_t* b, float* c,
              const Scales& scales) {
  static std::vector<float> left;
  static std::vector<Vec16> right;
  const uint32_t n16 = (p.n + 15) / 16, m16 = (p.m + 15) / 16 * 16;
  left.resize(uint64_t(p.m) * p.k);
  right.assign(uint64_t(n16) * p.k, Vec16{});
  const Read read = reader(p.type);
  auto scale = [&](const uint8_t* s, uint32_t row, uint32_t k) {
    if (!s) return 1.0f;
    const uint64_t pair = uint64_t(row / 16) * (p.k / 64) + k / 64;
    return numeric::decode_e8m0(s[pair * 32 + (row % 16) * 2 + k / 32 % 2]);
  };
  auto element = [&](const uint8_t* from, uint32_t i) {
    const float x = read(from, i);
    return p.hf32 && p.type == DType::F32 ? to_hf32(x, p.hf32) : x;
  };
  unpack(p, a, p.m, [&](uint32_t row, uint32_t k, const uint8_t* from, uint32_t width) {
    float* to = &left[uint64_t(row) * p.k + k];
    if (p.type == DType::BF16) {
      for (uint32_t i = 0; i < width; ++i) to[i] = value<bfloat16_t>(from, i);
    } else {
      for (uint32_t i = 0; i < width; ++i) to[i] = element(from, i) * scale(scales.a, row, k + i);
    }
  });
  unpack(p, b, p.n, [&](uint32_t row, uint32_t k, const uint8_t* from, uint32_t width) {
    Vec16* to = &right[uint64_t(row / 16) * p.k + k];
    if (p.type == DType::BF16) {
      for (uint32_t i = 0; i < width; ++i) to[i][row % 16] = value<bfloat16_t>(from, i);
    } else {
      for (uint32_t i = 0; i < width; ++i) {
        to[i][row % 16] = element(from, i) * scale(scales.b, row, k + i);
      }
    }
  });
  for (uint32_t nb = 0; nb < n16; ++nb) {
    auto* out = reinterpret_cast<Vec16*>(c) + uint64_t(nb) * m16;
    if (p.clear) std::memset(static_cast<void*>(out), 0, uint64_t(p.m) * sizeof(Vec16));
    const Vec16* column = &right[uint64_t(nb) * p.k];
    uint32_t row = 0;
    for (; row + 8 <= p.m; row += 8) {
      kernel<8>(&left[uint64_t(row) * p.k], p.k, column, p.k, out + row);
    }
    for (; row < p.m; ++row) {
      kernel<1>(&left[uint64_t(row) * p.k], p.k, column, p.k, out + row);
    }
  }
}

}  // namespace emu
