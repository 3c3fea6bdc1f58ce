// The SIMT programming interface.
#pragma once

#include "emu/numeric/vector_types.h"
#include "emu/vector/simt_atomic.h"
#include "emu/vector/simt_math.h"
#include "emu/vector/simt_region.h"
#include "emu/vector/simt_warp.h"
#include "emu/vector/vf_call.h"
