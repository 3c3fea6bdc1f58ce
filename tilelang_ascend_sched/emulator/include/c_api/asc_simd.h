// The C API of the Ascend 950 as generated kernels and the wheel's device templates use it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "emu/qualifiers.h"
// The numeric types specialize emu::DTypeOf, so they precede what reads it.
#include "emu/dtype.h"
#include "emu/numeric/numeric.h"
//
#include "emu/cube.h"
#include "emu/dma.h"
#include "emu/issue.h"
#include "emu/kernel.h"
#include "emu/sync.h"
#include "emu/vector/vector.h"
