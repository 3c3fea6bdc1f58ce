#pragma once

#include <memory>
#include <string>

#include "hw/machine.h"

namespace tilelang_ascend_sched {

// Reads a hardware file: JSON in the form of the package's `hardware/ascend950.json`. Every key
// must be there and no other; throws ValueError naming file, line and key for a missing, unknown or
// repeated key, a wrong type or unit, a negative figure, and a zero where something is divided by
// it.
Machine LoadMachine(const std::string& path);

// The machine of the current pass context: the file that `tl.ascend_sched.hardware` names, or the
// package's own if it is empty or not set. The file is read each time, but understood anew only
// when its content has changed.
std::shared_ptr<const Machine> CurrentMachine();

}  // namespace tilelang_ascend_sched
