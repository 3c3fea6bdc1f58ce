// The result of a run: gathered from the processes that ran blocks, written as JSON.
#pragma once

#include <string>

#include "runtime/machine.h"

namespace emu {

// A new kernel of the job; its blocks' figures follow.
void begin_kernel(const Kernel& kernel);

void write_partial(const std::string& path);
bool read_partial(const std::string& path);

void write_json(const std::string& path);

}  // namespace emu
