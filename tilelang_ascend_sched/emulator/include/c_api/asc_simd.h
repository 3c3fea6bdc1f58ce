// The C API of the Ascend 950 as generated kernels and the wheel's device templates use it.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "emu/cube.h"
#include "emu/dma.h"
#include "emu/issue.h"
#include "emu/kernel.h"
#include "emu/qualifiers.h"
#include "emu/sync.h"
#include "emu/vector/vf_call.h"

// A failed assertion of the kernel ends the run with a finding.
#undef assert
#define assert(condition) \
  ((condition) ? void(0) : ::emu::fail("device assertion failed", #condition))

// The templates define printing once for each kind of function; here one serves both.
inline namespace __asc_aicore {}

#include "emu/vector/simd.h"
