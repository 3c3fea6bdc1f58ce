// Records what a vector function loads and stores, byte by byte, while it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/machine.h"
#include "runtime/simd_order.h"

namespace emu {

class VfTrace {
 public:
  void begin(Core& core, const Entry& entry);
  // The accesses of the body, merged into runs.
  const std::vector<Access>& finish();

  // `caller`: the return address of the hook that saw it; `vector`: by an instruction of the vector
  // unit, not by plain code.
  void touch(uint64_t address, uint64_t bytes, Mode mode, uint64_t caller, bool vector);
  void barrier(MemBarrier which) { order_.barrier(which); }
  void thread(uint32_t thread, uint32_t barriers, uint32_t warp_syncs) {
    who_ = (barriers << 12) | thread;
    warp_syncs_ = warp_syncs;
  }
  VfCounts& counts() { return counts_; }

 private:
  void touch_ub(uint64_t offset, uint64_t bytes, Mode mode);
  void touch_gm(uint64_t address, uint64_t bytes, Mode mode);
  void touch_other(uint64_t address, uint64_t bytes, Mode mode);
  // Adds where in the body and in the kernel, and reports.
  void report_here(const char* kind, const std::string& message);
  void clash(uint64_t offset, uint32_t other, bool write);
  void touch_simd(uint64_t offset, uint64_t bytes, Mode mode, bool vector);
  void collect(const std::vector<uint64_t>& bits, Mode mode);

  Core* core_ = nullptr;
  const Instr* instr_ = nullptr;
  bool simt_ = false;
  uint32_t serial_ = 0;  // of the running body
  uint32_t who_ = 0;     // barriers passed and thread
  uint32_t warp_syncs_ = 0;
  uint64_t caller_ = 0;
  std::vector<uint64_t> read_, written_;  // one bit a byte of UB
  // Last toucher of each byte: serial of the body in the high half, who_ in the low one.
  std::vector<uint64_t> reader_, writer_;
  // How often the toucher's warp had synchronized.
  std::vector<uint32_t> reader_syncs_, writer_syncs_;
  std::vector<uint32_t> atomic_serial_;
  std::vector<Access> gm_, result_;
  SimdOrder order_;
  VfCounts counts_;
  uint64_t unwritten_begin_ = 0, unwritten_end_ = 0, unwritten_by_ = 0;
  bool clashed_ = false;
};

extern VfTrace the_vf_trace;
inline VfTrace& vf_trace() { return the_vf_trace; }

}  // namespace emu
