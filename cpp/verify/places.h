#pragma once

#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// Gives every instruction without a line of the user's the nearest one on its core: `Source::near`.
void FindPlaces(Program* program);

}  // namespace tilelang_ascend_sched::verify
