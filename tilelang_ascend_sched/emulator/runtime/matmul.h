// The arithmetic of the Cube: C[m, n] += A[m, k] * B[n, k] on fractal layouts.
#pragma once

#include <cstdint>

#include "emu/dtype.h"
#include "runtime/machine.h"

namespace emu {

struct Product {
  DType a, b;
  bool integers;  // sums are int32, modulo 2^32, instead of float32
  uint32_t m, k, n;
  bool clear;
  int hf32;  // 0: off, 1: round half away, 2: round half to even
};

// Block scales of both operands, E8M0, one for 32 elements along k, laid out
// [rows/16][k/64][16][2]; null when not scaled.
struct Scales {
  const uint8_t* a = nullptr;
  const uint8_t* b = nullptr;
};

// Whether the Cube takes operands of this type, for sums of the kind that `integers` says.
bool takes(DType operand, bool integers);

// Layouts as in emu/cube.h.
void multiply(const Product& p, const uint8_t* a, const uint8_t* b, uint8_t* c,
              const Scales& scales);

}  // namespace emu
