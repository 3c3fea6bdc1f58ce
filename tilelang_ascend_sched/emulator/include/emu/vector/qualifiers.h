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

// SIMT code is traced by the compiler: it loads and stores through plain pointers.
#define __simt_vf__
#define __simt_callee__
#define __SIMT_DEVICE_FUNCTIONS_DECL__
#define __launch_bounds__(...)

// SIMD code reaches memory through intrinsics that report what they touch; its registers are
// host arrays that must not be traced.
#define __simd_vf__ EMU_NO_TRACE
#define __simd_callee__ EMU_NO_TRACE

// An intrinsic of SIMD code.
#define EMU_VECTOR EMU_NO_TRACE inline
