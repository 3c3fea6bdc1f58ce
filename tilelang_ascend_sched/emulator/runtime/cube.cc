// L1 to L0 loads, matrix multiply-add and Fixpipe.
#include "emu/cube.h"

#include <algorithm>
#include <cstring>

#include "runtime/atomics.h"
#include "runtime/findings.h"
#include "runtime/local.h"
#include "runtime/matmul.h"

namespace emu {
namespace {

// Elements in one 32-byte group; 4-bit types are moved as bytes.
uint32_t group(DType type) { return uint32_t(kBlockBytes / dtype_bytes(type)); }

void load_straight(LocalMemory& to, const LocalMemory& from, uint64_t dst, uint64_t src,
                   const FractalLoad& f) {
  for (uint32_t c = 0; c < f.columns; ++c) {
    const uint64_t s =
        src + (uint64_t(f.column_start + c) * f.src_stride + f.row_start) * kFractalBytes;
    const uint64_t d = dst + uint64_t(c) * f.dst_stride * kFractalBytes;
    move(to, d, from, s, f.rows * kFractalBytes);
  }
}

// The source's columns become the destination's rows.
void load_transposed(LocalMemory& to, const LocalMemory& from, uint64_t dst, uint64_t src,
                     const FractalLoad& f, uint32_t size) {
  const uint32_t c0 = uint32_t(kBlockBytes) / size;
  const uint32_t rows = f.rows * 16, columns = f.columns * c0;
  for (uint32_t c = 0; c < columns; ++c) {
    for (uint32_t r = 0; r < rows; ++r) {
      const uint64_t s = src +
                         (uint64_t(f.column_start + c / c0) * f.src_stride + f.row_start + r / 16) *
                             kFractalBytes +
                         (r % 16) * kBlockBytes + (c % c0) * size;
      const uint64_t d = dst + (uint64_t(r / c0) * f.dst_stride + c / 16) * kFractalBytes +
                         (c % 16) * kBlockBytes + (r % c0) * size;
      move(to, d, from, s, size);
    }
  }
}

// Rows by k of one operand: whether every element the product needs was written.
void check_operand(const LocalMemory& memory, Space space, uint64_t begin, uint32_t rows,
                   uint32_t k_bytes) {
  const uint64_t column = uint64_t((rows + 15) / 16) * kFractalBytes;
  for (uint32_t b = 0; b < k_bytes; b += kBlockBytes) {
    const uint64_t at = begin + b / kBlockBytes * column;
    if (b + kBlockBytes <= k_bytes) {
      check_written(memory, space, at, uint64_t(rows) * kBlockBytes);
    } else {
      for (uint32_t r = 0; r < rows; ++r)
        check_written(memory, space, at + r * kBlockBytes, k_bytes - b);
    }
  }
}

uint64_t scale_bytes(uint32_t rows, uint32_t k) {
  return uint64_t((rows + 15) / 16) * (k / 64) * 32;
}

void enqueue_unit(Instr&& instr, uint8_t unit) {
  Entry entry(Op::Run, std::move(instr));
  entry.unit = unit;
  enqueue(std::move(entry));
}

}  // namespace

void copy_l12l0(Space space, void* dst, const void* src, DType type, const FractalLoad& f, At at) {
  static const char* names[2][2] = {{"asc_copy_l12l0a", "asc_copy_l12l0a_transpose"},
                                    {"asc_copy_l12l0b", "asc_copy_l12l0b_transpose"}};
  Instr instr(names[space == Space::L0B][f.transpose], Pipe::MTE1, at);
  const uint64_t to = address_of(dst), from = address_of(src);
  const uint32_t size = dtype_bytes(type), c0 = group(type);
  const bool fp4 = type == DType::E2M1x2 || type == DType::E1M2x2;
  if (f.transpose && fp4) failf("%s: transposing 4-bit elements is not modelled", instr.name);
  if (f.transpose && f.rows * 16 % c0 != 0) {
    failf("%s: %u row fractals do not fill groups of %u", instr.name, f.rows, c0);
  }
  if (f.transpose && f.columns * c0 % 16 != 0) {
    failf("%s: %u column fractals do not fill rows of 16", instr.name, f.columns);
  }
  instr.work.kind = kL1ToL0;
  instr.work.bytes = uint64_t(f.rows) * f.columns * kFractalBytes;
  instr.reads(rows_of(
      Space::L1, from + (uint64_t(f.column_start) * f.src_stride + f.row_start) * kFractalBytes,
      f.rows * kFractalBytes, f.columns, int64_t(f.src_stride) * kFractalBytes));
  const uint32_t out_rows = f.transpose ? f.columns * c0 / 16 : f.rows;
  const uint32_t out_columns = f.transpose ? f.rows * 16 / c0 : f.columns;
  instr.writes(rows_of(space, to, out_rows * kFractalBytes, out_columns,
                       int64_t(f.dst_stride) * kFractalBytes));
  instr.body = Body([=] {
    if (f.transpose) {
      load_transposed(local(space), local(Space::L1), to, from, f, size);
    } else {
      load_straight(local(space), local(Space::L1), to, from, f);
    }
  });
  issue(std::move(instr));
}

// L1 holds [rows/16][pairs of scales][16][2] bytes; a start and a step count 16 rows (x) or one
// pair, that is 64 elements along k (y).
void copy_scales(Space operand, uint64_t dst, const void* src, const ScaleLoad& f, At at) {
  const Space space = operand == Space::L0A ? Space::MXA : Space::MXB;
  Instr instr(operand == Space::L0A ? "asc_copy_l12l0a_mx" : "asc_copy_l12l0b_mx", Pipe::MTE1, at);
  const uint64_t from =
      address_of(src) + (uint64_t(f.x_start) * f.src_stride + f.y_start) * kBlockBytes;
  const uint64_t bytes = uint64_t(f.y_step) * kBlockBytes;
  const uint64_t from_stride = uint64_t(f.src_stride) * kBlockBytes;
  const uint64_t to_stride = uint64_t(f.dst_stride) * kBlockBytes;
  const uint32_t rows = f.x_step;
  instr.work.kind = kMxScale;
  instr.work.bytes = rows * bytes;
  instr.reads(rows_of(Space::L1, from, bytes, rows, int64_t(from_stride)));
  instr.writes(rows_of(space, dst, bytes, rows, int64_t(to_stride)));
  instr.body = Body([=] {
    LocalMemory& to = local(space);
    const LocalMemory& l1 = local(Space::L1);
    for (uint32_t r = 0; r < rows; ++r) {
      move(to, dst + r * to_stride, l1, from + r * from_stride, bytes);
    }
  });
  issue(std::move(instr));
}

void mmad(void* c, const void* a, const void* b, const Mmad& op, At at) {
  Instr instr(op.scaled ? "asc_mmad_mx" : "asc_mmad", Pipe::M, at);
  if (op.bias) failf("%s: bias from the BT buffer is not modelled", instr.name);
  if (op.unit_flag != 0 && op.unit_flag != 2 && op.unit_flag != 3) {
    failf("%s: unit flag control %u is not modelled", instr.name, op.unit_flag);
  }
  const uint64_t la = address_of(a), lb = address_of(b), lc = address_of(c);
  const int hf32 = machine().core->registers.hf32;
  const uint32_t k_bytes =
      op.type == DType::E2M1x2 || op.type == DType::E1M2x2 ? op.k / 2 : op.k * dtype_bytes(op.type);
  const uint32_t columns = (k_bytes + kBlockBytes - 1) / kBlockBytes;
  const uint32_t m16 = (op.m + 15) / 16 * 16, n16 = (op.n + 15) / 16 * 16;
  switch (op.type) {
    case DType::BF16:
    case DType::F16:
      instr.work.kind = kMmadB16;
      break;
    case DType::E4M3:
    case DType::E5M2:
      instr.work.kind = op.scaled ? kMmadMx8 : kMmadF8;
      break;
    case DType::E2M1x2:
    case DType::E1M2x2:
      instr.work.kind = op.scaled ? kMmadMx4 : kMmadF4;
      break;
    case DType::F32:
      instr.work.kind = hf32 ? kMmadHf32 : kMmadF32;
      break;
    default:
      failf("%s: operands of this type are not modelled", instr.name);
  }
  instr.work.mmad_macs = uint64_t(op.m) * op.n * op.k;
  instr.reads(rows_of(Space::L0A, la, uint64_t(m16) * kBlockBytes * columns, 1, 0));
  instr.reads(rows_of(Space::L0B, lb, uint64_t(n16) * kBlockBytes * columns, 1, 0));
  if (op.scaled) {
    if (op.k % 64) failf("%s: k = %u is not a multiple of 64", instr.name, op.k);
    instr.reads(rows_of(Space::MXA, la / 16, scale_bytes(op.m, op.k), 1, 0));
    instr.reads(rows_of(Space::MXB, lb / 16, scale_bytes(op.n, op.k), 1, 0));
  }
  // Accumulating also reads; one write stands for both, since a write conflicts with whatever a
  // read does.
  instr.writes(rows_of(Space::L0C, lc, op.m * 64ull, n16 / 16, int64_t(m16) * 64));
  instr.body = Body([=] {
    LocalMemory& l0a = local(Space::L0A);
    LocalMemory& l0b = local(Space::L0B);
    LocalMemory& l0c = local(Space::L0C);
    check_operand(l0a, Space::L0A, la, op.m, k_bytes);
    check_operand(l0b, Space::L0B, lb, op.n, k_bytes);
    for (uint32_t col = 0; col < n16 / 16; ++col) {
      const uint64_t begin = lc + uint64_t(col) * m16 * 64;
      if (!op.clear) check_written(l0c, Space::L0C, begin, op.m * 64ull);
      std::memset(&l0c.valid[begin], 1, op.m * 64ull);
    }
    Scales scales;
    if (op.scaled) {
      check_written(local(Space::MXA), Space::MXA, la / 16, scale_bytes(op.m, op.k));
      check_written(local(Space::MXB), Space::MXB, lb / 16, scale_bytes(op.n, op.k));
      scales = {local(Space::MXA).data + la / 16, local(Space::MXB).data + lb / 16};
    }
    multiply({op.type, op.m, op.k, op.n, op.clear, hf32}, l0a.data + la, l0b.data + lb,
             reinterpret_cast<float*>(l0c.data + lc), scales);
  });
  enqueue_unit(std::move(instr), op.unit_flag);
}

namespace {

void convert_row(uint8_t* to, const float* from, uint32_t count, DType type) {
  switch (type) {
    case DType::F32:
      std::memcpy(to, from, count * 4);
      return;
    case DType::F16:
      for (uint32_t i = 0; i < count; ++i) reinterpret_cast<half*>(to)[i] = half(from[i]);
      return;
    case DType::BF16:
      for (uint32_t i = 0; i < count; ++i)
        reinterpret_cast<bfloat16_t*>(to)[i] = bfloat16_t(from[i]);
      return;
    default:
      fail("Fixpipe: destination type not modelled");
  }
}

// What is checked before an instruction of Fixpipe is issued.
void check_fixpipe(const char* name, const Fixpipe& f) {
  if (!f.nz2nd || f.nz2dn || f.split) failf("%s: only the NZ to ND form is modelled", name);
  if (f.relu > 1) failf("%s: relu_pre %d is not modelled", name, f.relu);
  if (f.unit_flag != 0 && f.unit_flag != 2 && f.unit_flag != 3) {
    failf("%s: unit flag control %d is not modelled", name, f.unit_flag);
  }
  // Quantization modes of the compiler: 0 none, 1 to float16, 16 to bfloat16.
  const bool fits = (f.quant == 0 && f.dst_type == DType::F32) ||
                    (f.quant == 1 && f.dst_type == DType::F16) ||
                    (f.quant == 16 && f.dst_type == DType::BF16);
  if (!fits) failf("%s: quant_pre %d to this destination type is not modelled", name, f.quant);
}

// One row of L0C, `n` columns from column `first`, as float32.
void gather_row(float* out, const LocalMemory& l0c, uint64_t begin, const Fixpipe& f, uint32_t row,
                uint32_t first, uint32_t n) {
  for (uint32_t j = 0; j < n;) {
    const uint32_t column = first + j, in_block = std::min(16 - column % 16, n - j);
    const uint64_t at =
        begin + (uint64_t(column / 16) * f.src_stride + row) * 64 + (column % 16) * 4;
    check_written(l0c, Space::L0C, at, in_block * 4);
    std::memcpy(out + j, l0c.data + at, in_block * 4);
    j += in_block;
  }
  if (f.relu) {
    for (uint32_t j = 0; j < n; ++j) out[j] = out[j] > 0 ? out[j] : 0;
  }
}

Access l0c_read(uint64_t begin, const Fixpipe& f) {
  return rows_of(Space::L0C, begin, f.m * 64ull, (f.n + 15) / 16, int64_t(f.src_stride) * 64);
}

}  // namespace

void copy_l0c2ub(void* dst, const void* src, const Fixpipe& f, At at) {
  Instr instr("asc_copy_l0c2ub", Pipe::FIX, at);
  check_fixpipe(instr.name, f);
  if (f.dual < 0 || f.dual > 2) failf("asc_copy_l0c2ub: dual_dst_ctl %d is not modelled", f.dual);
  if (f.dual == 0 && (f.sub_block < 0 || f.sub_block > 1)) {
    failf("asc_copy_l0c2ub: sub block %d does not exist", f.sub_block);
  }
  if (f.dual == 1 && f.m % 2) failf("asc_copy_l0c2ub: %u rows cannot be halved", f.m);
  if (f.dual == 2 && f.n % 2) failf("asc_copy_l0c2ub: %u columns cannot be halved", f.n);
  const uint64_t ub = ub_offset(dst), l0c = address_of(src);
  const uint32_t size = dtype_bytes(f.dst_type);
  const uint32_t m = f.dual == 1 ? f.m / 2 : f.m, n = f.dual == 2 ? f.n / 2 : f.n;
  instr.work.kind = f.dual ? kL0cToUbDual : kL0cToUb;
  instr.work.bytes = uint64_t(f.m) * f.n * size;
  instr.reads(l0c_read(l0c, f));
  const int first = f.dual ? 0 : f.sub_block, last = f.dual ? 1 : f.sub_block;
  for (int sub = first; sub <= last; ++sub) {
    Access out = rows_of(Space::UB, ub, uint64_t(n) * size, m, int64_t(f.dst_stride) * size);
    out.sub = int8_t(sub);
    instr.writes(out);
  }
  instr.body = Body([=] {
    Core& core = *machine().core;
    const LocalMemory& from = core.memory[int(Space::L0C)];
    std::vector<float> row(n);
    for (int sub = first; sub <= last; ++sub) {
      LocalMemory& to = machine().block_of(core).cores[1 + sub].memory[int(Space::UB)];
      for (uint32_t r = 0; r < m; ++r) {
        gather_row(row.data(), from, l0c, f, f.dual == 1 ? sub * m + r : r,
                   f.dual == 2 ? sub * n : 0, n);
        const uint64_t at_byte = ub + uint64_t(r) * f.dst_stride * size;
        convert_row(to.data + at_byte, row.data(), n, f.dst_type);
        std::memset(&to.valid[at_byte], 1, uint64_t(n) * size);
      }
    }
  });
  enqueue_unit(std::move(instr), uint8_t(f.unit_flag));
}

void copy_l0c2gm(void* dst, const void* src, const Fixpipe& f, At at) {
  Instr instr("asc_copy_l0c2gm", Pipe::FIX, at);
  check_fixpipe(instr.name, f);
  const uint64_t gm = address_of(dst), l0c = address_of(src);
  const uint32_t size = dtype_bytes(f.dst_type);
  const AtomicOp atomic = machine().core->registers.atomic;
  const DType atomic_type = machine().core->registers.atomic_type;
  instr.work.kind = kL0cToGm;
  instr.work.bytes = uint64_t(f.m) * f.n * size;
  instr.reads(l0c_read(l0c, f));
  const Access out =
      rows_of(Space::GM, gm, uint64_t(f.n) * size, f.m, int64_t(f.dst_stride) * size);
  atomic == AtomicOp::None ? instr.writes(out) : instr.atomics(out);
  instr.body = Body([=] {
    const LocalMemory& from = local(Space::L0C);
    std::vector<float> row(f.n);
    std::vector<uint8_t> converted(uint64_t(f.n) * size);
    for (uint32_t r = 0; r < f.m; ++r) {
      gather_row(row.data(), from, l0c, f, r, 0, f.n);
      convert_row(converted.data(), row.data(), f.n, f.dst_type);
      store(reinterpret_cast<void*>(gm + uint64_t(r) * f.dst_stride * size), converted.data(),
            converted.size(), atomic, atomic_type);
    }
  });
  enqueue_unit(std::move(instr), uint8_t(f.unit_flag));
}

void set_l0c_nz(uint64_t matrices, uint64_t src_stride, uint64_t dst_stride, At at) {
  (void)make_loc(at);
  if (matrices != 1)
    failf("asc_set_l0c_copy_nz_para: %u matrices are not modelled", unsigned(matrices));
  if (src_stride || dst_stride)
    fail("asc_set_l0c_copy_nz_para: not modelled", "matrix stride != 0");
}

void set_hf32(int mode) { machine().core->registers.hf32 = mode; }

}  // namespace emu
