// The SIMD instructions of the vector unit.
#pragma once

#include "emu/vector/controls.h"
#include "emu/vector/reg.h"
#include "emu/vector/reg_arith.h"
#include "emu/vector/reg_compare.h"
#include "emu/vector/reg_convert.h"
#include "emu/vector/reg_gather.h"
#include "emu/vector/reg_mask.h"
#include "emu/vector/reg_memory.h"
#include "emu/vector/reg_permute.h"
#include "emu/vector/reg_reduce.h"

namespace AscendC {}
