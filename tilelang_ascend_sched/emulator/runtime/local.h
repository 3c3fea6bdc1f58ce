// What the bodies of copies and of the Cube share.
#pragma once

#include <cstring>

#include "runtime/machine.h"

namespace emu {

inline constexpr uint64_t kBlockBytes = 32;     // one C0 group
inline constexpr uint64_t kFractalBytes = 512;  // 16 of them

inline uint64_t address_of(const void* p) { return reinterpret_cast<uint64_t>(p); }
inline LocalMemory& local(Space space) { return machine().core->memory[int(space)]; }
inline Registers& registers() { return machine().core->registers; }

inline Access rows_of(Space space, uint64_t begin, uint64_t row_bytes, uint64_t rows,
                      int64_t stride) {
  Access a{space, Mode::Read, -1, begin, row_bytes};
  a.rows = uint32_t(rows);
  a.stride = stride;
  return a;
}

inline void put(LocalMemory& memory, uint64_t offset, const void* from, uint64_t bytes) {
  std::memcpy(memory.data + offset, from, bytes);
  std::memset(&memory.valid[offset], 1, bytes);
}

// Bytes keep their validity as they move between local memories.
inline void move(LocalMemory& to, uint64_t target, const LocalMemory& from, uint64_t source,
                 uint64_t bytes) {
  std::memcpy(to.data + target, from.data + source, bytes);
  std::memcpy(&to.valid[target], &from.valid[source], bytes);
}

// Reports bytes that the running instruction uses though nothing has written them.
void check_written(const LocalMemory& memory, Space space, uint64_t offset, uint64_t bytes);

// Issues an instruction of M or FIX under a unit flag control.
void check_unit_flag(const char* name, int control);
void enqueue_unit(Instr&& instr, int control);

}  // namespace emu
