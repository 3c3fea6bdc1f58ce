// The arithmetic of the Cube: C[m, n] += A[m, k] * B[n, k] on fractal layouts.
#pragma once

#include <cstdint>

#include "emu/dtype.h"
#include "runtime/machine.h"

namespace emu {

struct Product {
  DType type;
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

// Layouts as in emu/cube.h.
void multiply(const Product& p, const uint8_t* a, const uint8_t* b, float* c, const Scales& scales);

}  // namespace emu
