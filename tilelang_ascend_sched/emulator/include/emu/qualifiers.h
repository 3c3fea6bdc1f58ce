// The words of the Ascend C language that are not C++: address spaces and function kinds.
#pragma once

#include <cstdint>

#include "emu/vector/qualifiers.h"

#define __global__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __vector__
#define __cube__
#define __mix__(aic, aiv)
#define __grid_constant__

// `if ASC_IS_AIC {` carries its own parentheses.
#define ASC_IS_AIC (::emu::is_aic())
#define ASC_IS_AIV (!::emu::is_aic())

#define block_idx (::emu::block_index())

enum pipe_t : int32_t {
  PIPE_S,
  PIPE_V,
  PIPE_M,
  PIPE_MTE1,
  PIPE_MTE2,
  PIPE_MTE3,
  PIPE_FIX,
  PIPE_ALL,
};

enum event_t : int32_t {
  EVENT_ID0,
  EVENT_ID1,
  EVENT_ID2,
  EVENT_ID3,
  EVENT_ID4,
  EVENT_ID5,
  EVENT_ID6,
  EVENT_ID7,
};
