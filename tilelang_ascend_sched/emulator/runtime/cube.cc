// L1 to L0 loads and matrix multiply-add.
#include "emu/cube.h"

#include <cstring>

#include "runtime/findings.h"
#include "runtime/local.h"
#include "runtime/matmul.h"

namespace emu {
namespace {

// Elements in one 32-byte group.
uint32_t group(DType type) {
  return is_float4(type) ? 2 * uint32_t(kBlockBytes) : uint32_t(kBlockBytes / dtype_bytes(type));
}

void load_straight(LocalMemory& to, const LocalMemory& from, uint64_t dst, uint64_t src,
                   const FractalLoad& f) {
  for (uint32_t c = 0; c < f.columns; ++c) {
    const uint64_t s =
        src + (uint64_t(f.column_start + c) * f.src_stride + f.row_start) * kFractalBytes;
    const uint64_t d = dst + uint64_t(c) * f.dst_stride * kFractalBytes;
    move(to, d, from, s, f.rows * kFractalBytes);
  }
}

// Offsets of element (row, column) in a fractal matrix of `c0` elements a group, whose columns of
// fractals lie `stride` fractals apart: byte, and half of the byte for 4-bit elements.
struct Place {
  uint64_t byte;
  bool upper;
};
Place place_of(uint64_t base, uint32_t row, uint32_t column, uint32_t stride, uint32_t c0) {
  const uint32_t bits = 256 / c0, bit = column % c0 * bits;
  return {base + (uint64_t(column / c0) * stride + row / 16) * kFractalBytes +
              (row % 16) * kBlockBytes + bit / 8,
          bit % 8 != 0};
}

// The source's columns become the destination's rows.
void load_transposed(LocalMemory& to, const LocalMemory& from, uint64_t dst, uint64_t src,
                     const FractalLoad& f, DType type) {
  const uint32_t c0 = group(type), rows = f.rows * 16, columns = f.columns * c0;
  const uint64_t start =
      src + (uint64_t(f.column_start) * f.src_stride + f.row_start) * kFractalBytes;
  for (uint32_t c = 0; c < columns; ++c) {
    for (uint32_t r = 0; r < rows; ++r) {
      const Place s = place_of(start, r, c, f.src_stride, c0);
      const Place d = place_of(dst, c, r, f.dst_stride, c0);
      if (!is_float4(type)) {
        move(to, d.byte, from, s.byte, dtype_bytes(type));
        continue;
      }
      const uint32_t half = from.data[s.byte] >> (s.upper ? 4 : 0) & 0xf;
      const uint32_t kept = d.upper ? to.data[d.byte] & 0x0f : 0;
      to.data[d.byte] = uint8_t(kept | half << (d.upper ? 4 : 0));
      // The lower half comes first and starts the byte's validity anew.
      to.valid[d.byte] = from.valid[s.byte] && (!d.upper || to.valid[d.byte]);
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

// The stock cost header gives no rate of its own for integers: they go as float8 and float16.
WorkKind mmad_kind(const Mmad& op, int hf32) {
  switch (op.a) {
    case DType::F32:
      return hf32 ? kMmadHf32 : kMmadF32;
    case DType::E2M1x2:
    case DType::E1M2x2:
      return op.scaled ? kMmadMx4 : kMmadF4;
    default:
      if (dtype_bytes(op.a) == 2) return kMmadB16;
      return op.scaled ? kMmadMx8 : kMmadF8;
  }
}

}  // namespace

void copy_l12l0(Space space, void* dst, const void* src, DType type, const FractalLoad& f, At at) {
  static const char* names[2][2] = {{"asc_copy_l12l0a", "asc_copy_l12l0a_transpose"},
                                    {"asc_copy_l12l0b", "asc_copy_l12l0b_transpose"}};
  Instr instr(names[space == Space::L0B][f.transpose], Pipe::MTE1, at);
  const uint64_t to = address_of(dst), from = address_of(src);
  const uint32_t c0 = group(type);
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
      load_transposed(local(space), local(Space::L1), to, from, f, type);
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
  if (op.m == 1 && !op.gemv_off) failf("%s: the GEMV mode is not modelled", instr.name);
  check_unit_flag(instr.name, op.unit_flag);
  const uint64_t la = address_of(a), lb = address_of(b), lc = address_of(c);
  const int hf32 = machine().core->registers.hf32;
  const bool integers = op.c == DType::S32;
  if ((op.c != DType::F32 && !integers) || !takes(op.a, integers) || !takes(op.b, integers) ||
      group(op.a) != group(op.b) || (op.scaled && integers)) {
    failf("%s: %s times %s with %s sums is not modelled", instr.name, dtype_name(op.a),
          dtype_name(op.b), dtype_name(op.c));
  }
  const uint32_t k_bytes = is_float4(op.a) ? op.k / 2 : op.k * dtype_bytes(op.a);
  const uint32_t columns = (k_bytes + kBlockBytes - 1) / kBlockBytes;
  const uint32_t m16 = (op.m + 15) / 16 * 16, n16 = (op.n + 15) / 16 * 16;
  instr.work.kind = mmad_kind(op, hf32);
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
    multiply({op.a, op.b, integers, op.m, op.k, op.n, op.clear, hf32}, l0a.data + la, l0b.data + lb,
             l0c.data + lc, scales);
  });
  enqueue_unit(std::move(instr), op.unit_flag);
}

void set_hf32(int mode) { machine().core->registers.hf32 = mode; }

}  // namespace emu
