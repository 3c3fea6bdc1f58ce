// The Cube: L1 to L0 loads, matrix multiply-add, and Fixpipe out of L0C.
//
// Layouts, all of 512-byte fractals: L1 and L0A and L0B hold [columns/C0][rows/16][16][C0] with
// C0 = 32 bytes of elements; L0A's rows are m and its columns k, L0B's rows are n and its columns
// k. L0C holds float32 or int32 [n/16][m][16], m rounded up to 16.
#pragma once

#include "emu/dma.h"

enum asc_dual_dst_mode : int32_t {};
enum asc_unit_flag_mode : int32_t {};
enum asc_quant_mode : int32_t {};
enum asc_relu_pre_mode : int32_t {};
enum class asc_hf32_round_mode : int32_t { NEAREST_EVEN, NEAREST_AWAY };

namespace emu {

struct FractalLoad {
  uint32_t row_start, column_start;  // in fractals
  uint32_t rows, columns;            // in fractals
  uint32_t src_stride, dst_stride;   // rows of fractals from one column to the next
  bool transpose;
};

struct ScaleLoad {
  uint32_t x_start, y_start, x_step, y_step, src_stride, dst_stride;
};

struct Mmad {
  DType a, b, c;  // of the operands and of the sums
  uint32_t m, k, n;
  uint8_t unit_flag;
  bool gemv_off, bias, clear, scaled;
};

struct Fixpipe {
  uint32_t n, m;
  uint32_t dst_stride;  // elements from one row to the next
  uint32_t src_stride;  // rows of L0C from one 16-column block to the next
  int sub_block;
  int dual;  // 0: one destination; 1: rows halved over both AIVs; 2: columns halved
  int unit_flag, quant, relu;
  bool nz2nd, nz2dn, split;
  DType dst_type, src_type;
};

void copy_l12l0(Space to, void* dst, const void* src, DType type, const FractalLoad& load, At at);
void copy_scales(Space to, uint64_t dst, const void* src, const ScaleLoad& load, At at);
void mmad(void* c, const void* a, const void* b, const Mmad& op, At at);
void copy_l0c2ub(void* dst, const void* src, const Fixpipe& copy, At at);
void copy_l0c2gm(void* dst, const void* src, const Fixpipe& copy, At at);
void set_l0c_nz(uint64_t matrices, uint64_t src_stride, uint64_t dst_stride, At at);
void set_hf32(int mode);  // 0: off, 1: round half away, 2: round half to even

}  // namespace emu

#define EMU_L1_TO_L0(name, space, is_transpose)                                               \
  template <class T, class U>                                                                 \
  void name(T* dst, U* src, uint32_t row_start, uint32_t column_start, uint32_t rows,         \
            uint32_t columns, uint32_t src_stride, uint32_t dst_stride, EMU_LOC) {            \
    emu::copy_l12l0(                                                                          \
        emu::Space::space, dst, src, emu::dtype_of<T>,                                        \
        {row_start, column_start, rows, columns, src_stride, dst_stride, is_transpose}, loc); \
  }
EMU_L1_TO_L0(asc_copy_l12l0a, L0A, false)
EMU_L1_TO_L0(asc_copy_l12l0b, L0B, false)
EMU_L1_TO_L0(asc_copy_l12l0a_transpose, L0A, true)
EMU_L1_TO_L0(asc_copy_l12l0b_transpose, L0B, true)
#undef EMU_L1_TO_L0

// `dst` is the data tile's address in 16-byte units.
template <class T>
void asc_copy_l12l0a_mx(uint64_t dst, T* src, uint32_t x_start, uint32_t y_start, uint32_t x_step,
                        uint32_t y_step, uint32_t src_stride, uint32_t dst_stride, EMU_LOC) {
  emu::copy_scales(emu::Space::L0A, dst, src,
                   {x_start, y_start, x_step, y_step, src_stride, dst_stride}, loc);
}
template <class T>
void asc_copy_l12l0b_mx(uint64_t dst, T* src, uint32_t x_start, uint32_t y_start, uint32_t x_step,
                        uint32_t y_step, uint32_t src_stride, uint32_t dst_stride, EMU_LOC) {
  emu::copy_scales(emu::Space::L0B, dst, src,
                   {x_start, y_start, x_step, y_step, src_stride, dst_stride}, loc);
}

template <class C, class A, class B>
void asc_mmad(C* c, A* a, B* b, uint32_t m, uint32_t k, uint32_t n, uint32_t unit_flag,
              bool gemv_off, bool bias, bool clear, EMU_LOC) {
  emu::mmad(c, a, b,
            {emu::dtype_of<A>, emu::dtype_of<B>, emu::dtype_of<C>, m, k, n, uint8_t(unit_flag),
             gemv_off, bias, clear, false},
            loc);
}
template <class C, class A, class B>
void asc_mmad_mx(C* c, A* a, B* b, uint32_t m, uint32_t k, uint32_t n, uint32_t unit_flag,
                 bool gemv_off, bool bias, bool clear, EMU_LOC) {
  emu::mmad(c, a, b,
            {emu::dtype_of<A>, emu::dtype_of<B>, emu::dtype_of<C>, m, k, n, uint8_t(unit_flag),
             gemv_off, bias, clear, true},
            loc);
}

template <class T, class U>
void asc_copy_l0c2ub(T* dst, U* src, uint32_t n, uint32_t m, uint32_t dst_stride,
                     uint32_t src_stride, int sub_block, asc_dual_dst_mode dual,
                     asc_unit_flag_mode unit_flag, asc_quant_mode quant, asc_relu_pre_mode relu,
                     bool split, bool nz2nd, bool nz2dn, bool clip_relu, EMU_LOC) {
  if (clip_relu) emu::fail("asc_copy_l0c2ub: not modelled", "clip_relu_pre = 1");
  emu::copy_l0c2ub(dst, src,
                   {n, m, dst_stride, src_stride, sub_block, int(dual), int(unit_flag), int(quant),
                    int(relu), nz2nd, nz2dn, split, emu::dtype_of<T>, emu::dtype_of<U>},
                   loc);
}
template <class T, class U>
void asc_copy_l0c2gm(T* dst, U* src, uint32_t n, uint32_t m, uint32_t dst_stride,
                     uint32_t src_stride, asc_store_l2_cache_mode, asc_unit_flag_mode unit_flag,
                     asc_quant_mode quant, asc_relu_pre_mode relu, bool split, bool nz2nd,
                     bool nz2dn, bool clip_relu, EMU_LOC) {
  if (clip_relu) emu::fail("asc_copy_l0c2gm: not modelled", "clip_relu_pre = 1");
  emu::copy_l0c2gm(dst, src,
                   {n, m, dst_stride, src_stride, 0, 0, int(unit_flag), int(quant), int(relu),
                    nz2nd, nz2dn, split, emu::dtype_of<T>, emu::dtype_of<U>},
                   loc);
}

inline void asc_set_l0c_copy_nz_para(uint64_t matrices, uint64_t src_stride, uint64_t dst_stride,
                                     EMU_LOC) {
  emu::set_l0c_nz(matrices, src_stride, dst_stride, loc);
}

inline void asc_enable_hf32() { emu::set_hf32(2); }
inline void asc_disable_hf32() { emu::set_hf32(0); }
inline void asc_set_hf32_round_mode(asc_hf32_round_mode mode) {
  emu::set_hf32(mode == asc_hf32_round_mode::NEAREST_AWAY ? 1 : 2);
}
// The direction changes the order of traversal, not the result.
inline void asc_set_mmad_direction_m() {}
inline void asc_set_mmad_direction_n() {}
