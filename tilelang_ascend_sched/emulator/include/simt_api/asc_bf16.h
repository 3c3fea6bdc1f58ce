// bfloat16_t and bfloat16x2_t: conversions, math, comparison helpers.
#pragma once

#include "emu/numeric/vector_types.h"
#include "emu/vector/simt_atomic.h"
#include "emu/vector/simt_convert.h"
#include "emu/vector/simt_math.h"
#include "emu/vector/simt_warp.h"

EMU_16BIT_FUNCTIONS(bfloat16_t, bfloat16x2_t, bfloat16, bfloat162)

EMU_INLINE float __bfloat162float(bfloat16_t x) { return x; }
EMU_INLINE float2 __bfloat1622float2(bfloat16x2_t x) { return {x.x, x.y}; }
EMU_INLINE bfloat16_t __float2bfloat16(float x) { return x; }
EMU_INLINE bfloat16x2_t __float2bfloat162_rn(float x) { return {x, x}; }
EMU_INLINE bfloat16x2_t __floats2bfloat162_rn(float x, float y) { return {x, y}; }
EMU_INLINE bfloat16x2_t __bfloat162bfloat162(bfloat16_t x) { return {x, x}; }
EMU_INLINE bfloat16x2_t __halves2bfloat162(bfloat16_t x, bfloat16_t y) { return {x, y}; }
EMU_INLINE bfloat16_t __low2bfloat16(bfloat16x2_t x) { return x.x; }
EMU_INLINE bfloat16_t __high2bfloat16(bfloat16x2_t x) { return x.y; }
