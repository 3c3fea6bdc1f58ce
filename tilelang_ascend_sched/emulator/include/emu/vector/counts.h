// Where vector code adds the operations it performs, for the time model.
#pragma once

#include "emu/vector/qualifiers.h"

namespace emu {

// Takes the counts of code that runs outside any vector function.
inline VfCounts uncounted;

// The operation counts of the body being run.
inline VfCounts* active_counts = &uncounted;

}  // namespace emu
