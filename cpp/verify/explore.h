#pragma once

#include <vector>

#include "verify/check.h"
#include "verify/program.h"
#include "verify/rates.h"

namespace tilelang_ascend_sched::verify {

// Adds to `report` what walking all paths finds, and to `used_hints` the hints without which
// accesses would conflict. Without `skips` loops of a known number of turns are executed in full.
void Explore(Program* program, const Rates& rates, bool skips, std::vector<bool>* used_hints,
             Report* report);

}  // namespace tilelang_ascend_sched::verify
