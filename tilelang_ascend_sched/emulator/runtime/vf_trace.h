// Records what a vector function loads and stores, byte by byte, while it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/flow_graph.h"
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
  // A load into a register: an access of the bytes that flow out of the registers again.
  Flow load(uint64_t address, uint64_t bytes, int size, Trace trace, uint64_t caller);
  void flow_out(Flow flow, const ByteSet& bytes);
  FlowGraph& flow() { return flow_; }
  Flow after_loads() { return flow_.full() ? 0 : flow_.after(uint32_t(loads_.size())); }
  void awaited(Flow flow) { order_.awaits(flow_.loads_awaited(flow)); }
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
  // `line`: of the body, if it is known; otherwise the caller's place is looked up.
  void report_here(const char* kind, const std::string& message, uint32_t line = 0);
  Loc in_body(uint32_t line) const;
  void clash(uint64_t offset, uint32_t other, bool write);
  void touch_simd(uint64_t offset, uint64_t bytes, Mode mode, bool vector);
  void note_unwritten(uint64_t begin, uint64_t end, uint64_t caller, uint32_t line);
  void report_early(const SimdOrder::Early& byte, uint32_t line, bool vector);
  void report_overtaken(uint32_t offset, uint32_t load_line, uint32_t store_line);
  void report_order(const std::string& message, uint32_t store_line, uint32_t load_line);

  // Of a SIMD body, into a register, and which of its bytes nothing has written or which may be
  // seen too early: ranges of the lists below.
  struct Load {
    uint64_t offset, caller;
    uint32_t bytes, line;
    uint32_t early_begin, early_end, unwritten_begin, unwritten_end;
    ByteSet used;  // counted from `offset`
  };
  // A store that may overtake a load, if the load's byte is used.
  struct Overtaking {
    uint32_t offset, load, store_line;
  };
  void loaded(uint32_t number, const ByteSet& bytes);
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
  FlowGraph flow_;
  std::vector<Load> loads_;
  std::vector<SimdOrder::Early> early_;
  std::vector<uint32_t> unwritten_;
  std::vector<SimdOrder::Overtaken> overtaken_;
  std::vector<Overtaking> overtaking_;
  VfCounts counts_;
  uint64_t unwritten_begin_ = 0, unwritten_end_ = 0, unwritten_by_ = 0;
  uint32_t unwritten_line_ = 0;
  bool clashed_ = false;
};

extern VfTrace the_vf_trace;
inline VfTrace& vf_trace() { return the_vf_trace; }

}  // namespace emu
