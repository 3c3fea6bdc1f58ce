// Data movement: GM, UB and L1 among each other, and the state registers these copies read.
// Lengths, strides and gaps are in bytes unless a comment says 32-byte blocks.
#pragma once

#include "emu/dtype.h"
#include "emu/issue.h"
#include "emu/sync.h"

enum asc_load_l2_cache_mode : int32_t {};
enum asc_store_l2_cache_mode : int32_t {};

struct asc_fill_value_config {
  uint64_t repeat;   // fills
  uint64_t blk_num;  // 32-byte blocks of one fill
  uint64_t dst_gap;  // 32-byte blocks skipped between two fills
};

namespace emu {

enum class AtomicOp : uint8_t { None, Add, Max, Min };

struct AlignCopy {
  uint64_t bursts, burst_bytes;
  uint64_t left_pad, right_pad;  // elements
  bool pad;
  int64_t src_stride, dst_stride;
  uint32_t element_bytes;
};

void copy_gm2ub(void* dst, const void* src, const AlignCopy& copy, At at);
void copy_ub2gm(void* dst, const void* src, const AlignCopy& copy, At at);
void copy_gm2l1(void* dst, const void* src, DType type, bool transpose, uint64_t src_stride,
                uint64_t n, uint64_t d, At at);
void fill_l1(void* dst, uint32_t value, uint32_t value_bytes, const asc_fill_value_config& config,
             At at);
void copy_ub2l1(void* dst, const void* src, uint64_t bursts, uint64_t burst_blocks,
                uint64_t src_gap, uint64_t dst_gap, At at);

void set_pad_value(uint64_t bits);
void set_gm2l1_nz(uint64_t matrices, uint64_t row_stride, uint64_t column_stride,
                  uint64_t matrix_stride, At at);
void set_atomic(AtomicOp op, DType type);

// Scalar loads and stores of GM that bypass the data cache: plain accesses of pipe S.
void scalar_access(const void* address, uint64_t bytes, Mode mode, At at);

}  // namespace emu

template <class T>
void asc_copy_gm2ub_align(T* dst, T* src, uint64_t bursts, uint64_t burst_bytes, uint64_t left_pad,
                          uint64_t right_pad, bool pad, asc_load_l2_cache_mode, uint64_t src_stride,
                          uint64_t dst_stride, EMU_LOC) {
  emu::copy_gm2ub(dst, src,
                  {bursts, burst_bytes, left_pad, right_pad, pad, int64_t(src_stride),
                   int64_t(dst_stride), sizeof(T)},
                  loc);
}

template <class T>
void asc_copy_ub2gm_align(T* dst, T* src, uint64_t bursts, uint64_t burst_bytes,
                          asc_store_l2_cache_mode, uint64_t dst_stride, uint64_t src_stride,
                          EMU_LOC) {
  emu::copy_ub2gm(
      dst, src,
      {bursts, burst_bytes, 0, 0, false, int64_t(src_stride), int64_t(dst_stride), sizeof(T)}, loc);
}

// The second matrix stride and the small-C0 mode are only used with 0.
template <class T>
void asc_copy_gm2l1_nd2nz(T* dst, T* src, uint64_t src_stride, asc_load_l2_cache_mode, uint64_t n,
                          uint64_t d, uint64_t matrix_stride, bool small_c0, EMU_LOC) {
  if (small_c0) emu::fail("asc_copy_gm2l1_nd2nz: not modelled", "smallc0_en = 1");
  if (matrix_stride) emu::fail("asc_copy_gm2l1_nd2nz: not modelled", "loop4_src_stride != 0");
  emu::copy_gm2l1(dst, src, emu::dtype_of<T>, false, src_stride, n, d, loc);
}

template <class T>
void asc_copy_gm2l1_dn2nz(T* dst, T* src, uint64_t src_stride, asc_load_l2_cache_mode, uint64_t n,
                          uint64_t d, uint64_t matrix_stride, bool small_c0, EMU_LOC) {
  if (small_c0) emu::fail("asc_copy_gm2l1_dn2nz: not modelled", "smallc0_en = 1");
  if (matrix_stride) emu::fail("asc_copy_gm2l1_dn2nz: not modelled", "loop4_src_stride != 0");
  emu::copy_gm2l1(dst, src, emu::dtype_of<T>, true, src_stride, n, d, loc);
}

template <class T>
void asc_fill_l1(T* dst, uint32_t value, asc_fill_value_config config, EMU_LOC) {
  emu::fill_l1(dst, value, sizeof(T), config, loc);
}

// Bursts and gaps are in 32-byte blocks.
inline void asc_copy_ub2l1(void* dst, void* src, uint64_t bursts, uint64_t burst_blocks,
                           uint64_t src_gap, uint64_t dst_gap, EMU_LOC) {
  emu::copy_ub2l1(dst, src, bursts, burst_blocks, src_gap, dst_gap, loc);
}

template <class T>
void asc_set_copy_pad_val(T bits) {
  emu::set_pad_value(uint64_t(bits));
}

inline void asc_set_gm2l1_nz_para(uint64_t matrices, uint64_t row_stride, uint64_t column_stride,
                                  uint64_t matrix_stride, EMU_LOC) {
  emu::set_gm2l1_nz(matrices, row_stride, column_stride, matrix_stride, loc);
}

inline void asc_set_atomic_none() { emu::set_atomic(emu::AtomicOp::None, emu::DType::B8); }

#define EMU_SET_ATOMIC(suffix, type)                       \
  inline void asc_set_atomic_add_##suffix() {              \
    emu::set_atomic(emu::AtomicOp::Add, emu::DType::type); \
  }                                                        \
  inline void asc_set_atomic_max_##suffix() {              \
    emu::set_atomic(emu::AtomicOp::Max, emu::DType::type); \
  }                                                        \
  inline void asc_set_atomic_min_##suffix() {              \
    emu::set_atomic(emu::AtomicOp::Min, emu::DType::type); \
  }
EMU_SET_ATOMIC(float, F32)
EMU_SET_ATOMIC(float16, F16)
EMU_SET_ATOMIC(bfloat, BF16)
EMU_SET_ATOMIC(int8, S8)
EMU_SET_ATOMIC(int16, S16)
EMU_SET_ATOMIC(int32, S32)
#undef EMU_SET_ATOMIC

template <class T>
EMU_NO_TRACE T asc_load_dev(T* address, EMU_LOC) {
  emu::scalar_access(address, sizeof(T), emu::Mode::Read, loc);
  return *address;
}

template <class T>
EMU_NO_TRACE void asc_store_dev(T* address, T value, EMU_LOC) {
  emu::scalar_access(address, sizeof(T), emu::Mode::Write, loc);
  *address = value;
}
