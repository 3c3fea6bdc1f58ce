// Synchronization instructions. Their rules are in runtime/sync.cc.
#pragma once

#include "emu/issue.h"
#include "emu/qualifiers.h"

namespace emu {

using At = const std::source_location&;

enum class CrossMode : uint8_t { Inter = 0, Subblock = 1, Block = 2, Intra = 4 };

void set_flag(pipe_t from, pipe_t to, int id, At at);
void wait_flag(pipe_t from, pipe_t to, int id, At at);
void pipe_barrier(pipe_t pipe, At at);  // PIPE_ALL: the scalar unit waits for every pipe
void cross_arrive(CrossMode mode, pipe_t pipe, int id, At at);
void cross_wait(CrossMode mode, pipe_t pipe, int id, At at);
void lock(pipe_t pipe, int id, bool block, At at);
void unlock(pipe_t pipe, int id, bool block, At at);

// Line of the kernel's text that is about to call a template of the wheel.
void call_site(uint32_t line);

}  // namespace emu

enum asc_lock_mode : int32_t { ASC_LOCK_BLOCK = 0, ASC_LOCK_NON_BLOCK = 1 };

inline void asc_sync_notify(pipe_t from, pipe_t to, event_t id, EMU_LOC) {
  emu::set_flag(from, to, id, loc);
}
inline void asc_sync_wait(pipe_t from, pipe_t to, event_t id, EMU_LOC) {
  emu::wait_flag(from, to, id, loc);
}
inline void asc_sync_pipe(pipe_t pipe, EMU_LOC) { emu::pipe_barrier(pipe, loc); }
inline void asc_sync(EMU_LOC) { emu::pipe_barrier(PIPE_ALL, loc); }

inline void asc_lock(pipe_t pipe, int id, asc_lock_mode mode = ASC_LOCK_BLOCK, EMU_LOC) {
  emu::lock(pipe, id, mode == ASC_LOCK_BLOCK, loc);
}
inline void asc_unlock(pipe_t pipe, int id, asc_lock_mode mode = ASC_LOCK_BLOCK, EMU_LOC) {
  emu::unlock(pipe, id, mode == ASC_LOCK_BLOCK, loc);
}

inline void asc_sync_inter_arrive(pipe_t pipe, int id, EMU_LOC) {
  emu::cross_arrive(emu::CrossMode::Inter, pipe, id, loc);
}
inline void asc_sync_inter_wait(pipe_t pipe, int id, EMU_LOC) {
  emu::cross_wait(emu::CrossMode::Inter, pipe, id, loc);
}
inline void asc_sync_subblock_arrive(pipe_t pipe, int id, EMU_LOC) {
  emu::cross_arrive(emu::CrossMode::Subblock, pipe, id, loc);
}
inline void asc_sync_subblock_wait(pipe_t pipe, int id, EMU_LOC) {
  emu::cross_wait(emu::CrossMode::Subblock, pipe, id, loc);
}
inline void asc_sync_block_arrive(pipe_t pipe, int id, EMU_LOC) {
  emu::cross_arrive(emu::CrossMode::Block, pipe, id, loc);
}
inline void asc_sync_block_wait(pipe_t pipe, int id, EMU_LOC) {
  emu::cross_wait(emu::CrossMode::Block, pipe, id, loc);
}
inline void asc_sync_intra_arrive(pipe_t pipe, int id, EMU_LOC) {
  emu::cross_arrive(emu::CrossMode::Intra, pipe, id, loc);
}
inline void asc_sync_intra_wait(pipe_t pipe, int id, EMU_LOC) {
  emu::cross_wait(emu::CrossMode::Intra, pipe, id, loc);
}
