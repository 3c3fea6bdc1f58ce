// The device compiler's function qualifiers, as far as vector code needs them.
#pragma once

#include "emu/issue.h"

#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 3510
#endif

#ifndef __aicore__
#define __aicore__
#endif
#ifndef __gm__
#define __gm__
#endif
#ifndef __ubuf__
#define __ubuf__
#endif

// Bodies are traced by the compiler, so that loads and stores through plain pointers are seen. The
// intrinsics and the wheel's functions around them are not: they report what they touch, and their
// registers are host arrays.
#define __simt_vf__
#define __simt_callee__
#define __SIMT_DEVICE_FUNCTIONS_DECL__
#define __launch_bounds__(...)
#define __simd_vf__
#define __simd_callee__ EMU_NO_TRACE

// An intrinsic of SIMD code.
#define EMU_VECTOR EMU_NO_TRACE inline
