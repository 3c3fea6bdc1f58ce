// half and half2: conversions, math, comparison helpers.
#pragma once

#include "emu/numeric/vector_types.h"
#include "emu/vector/simt_atomic.h"
#include "emu/vector/simt_convert.h"
#include "emu/vector/simt_math.h"
#include "emu/vector/simt_warp.h"

EMU_16BIT_FUNCTIONS(half, half2, half, half2)

EMU_INLINE float __half2float(half x) { return x; }
EMU_INLINE float2 __half22float2(half2 x) { return {x.x, x.y}; }
EMU_INLINE half __float2half(float x) { return x; }
EMU_INLINE half2 __floats2half2_rn(float x, float y) { return {x, y}; }
EMU_INLINE half2 __half2half2(half x) { return {x, x}; }
EMU_INLINE half2 __halves2half2(half x, half y) { return {x, y}; }
EMU_INLINE half __low2half(half2 x) { return x.x; }
EMU_INLINE half __high2half(half2 x) { return x.y; }
