// Copies among GM, UB and L1.
#include "emu/dma.h"

#include <algorithm>
#include <cstring>

#include "runtime/atomics.h"
#include "runtime/findings.h"
#include "runtime/local.h"

namespace emu {
namespace {

void check_stride(const char* name, int64_t stride) {
  if (stride < 0) failf("%s: negative stride %lld is not modelled", name, (long long)stride);
}

}  // namespace

void copy_gm2ub(void* dst, const void* src, const AlignCopy& c, At at) {
  check_stride("asc_copy_gm2ub_align", c.src_stride);
  check_stride("asc_copy_gm2ub_align", c.dst_stride);
  Instr instr("asc_copy_gm2ub_align", Pipe::MTE2, at);
  const uint64_t left = c.pad ? c.left_pad * c.element_bytes : 0;
  const uint64_t right = c.pad ? c.right_pad * c.element_bytes : 0;
  const uint64_t ub = ub_offset(dst), gm = address_of(src);
  const uint64_t pad = registers().pad_value;
  instr.work.kind = kGmToUb;
  instr.work.bytes = c.bursts * c.burst_bytes;
  instr.reads(rows_of(Space::GM, gm, c.burst_bytes, c.bursts, c.src_stride));
  instr.writes(rows_of(Space::UB, ub, left + c.burst_bytes + right, c.bursts, c.dst_stride));
  instr.body = Body([=] {
    LocalMemory& memory = local(Space::UB);
    auto fill = [&](uint64_t from, uint64_t bytes) {
      for (uint64_t i = 0; i < bytes; i += c.element_bytes)
        put(memory, from + i, &pad, c.element_bytes);
    };
    for (uint64_t b = 0; b < c.bursts; ++b) {
      const uint64_t to = ub + b * c.dst_stride;
      fill(to, left);
      put(memory, to + left, reinterpret_cast<const void*>(gm + b * c.src_stride), c.burst_bytes);
      fill(to + left + c.burst_bytes, right);
    }
  });
  issue(std::move(instr));
}

void copy_ub2gm(void* dst, const void* src, const AlignCopy& c, At at) {
  check_stride("asc_copy_ub2gm_align", c.src_stride);
  check_stride("asc_copy_ub2gm_align", c.dst_stride);
  Instr instr("asc_copy_ub2gm_align", Pipe::MTE3, at);
  const uint64_t ub = ub_offset(src), gm = address_of(dst);
  const AtomicOp atomic = registers().atomic;
  const DType type = registers().atomic_type;
  instr.work.kind = kUbToGm;
  instr.work.bytes = c.bursts * c.burst_bytes;
  instr.reads(rows_of(Space::UB, ub, c.burst_bytes, c.bursts, c.src_stride));
  const Access out = rows_of(Space::GM, gm, c.burst_bytes, c.bursts, c.dst_stride);
  atomic == AtomicOp::None ? instr.writes(out) : instr.atomics(out);
  instr.body = Body([=] {
    LocalMemory& memory = local(Space::UB);
    for (uint64_t b = 0; b < c.bursts; ++b) {
      const uint64_t from = ub + b * c.src_stride;
      check_written(memory, Space::UB, from, c.burst_bytes);
      store(reinterpret_cast<void*>(gm + b * c.dst_stride), memory.data + from, c.burst_bytes,
            atomic, type);
    }
  });
  issue(std::move(instr));
}

// nd2nz: GM holds n rows of d elements; dn2nz: d rows of n elements, so the matrix is turned.
// L1 gets [d/C0][n][C0], one 32-byte group every row_stride blocks and one column of groups every
// column_stride blocks. A last group that d does not fill is padded with zeros.
void copy_gm2l1(void* dst, const void* src, DType type, bool transpose, uint64_t src_stride,
                uint64_t n, uint64_t d, At at) {
  const char* name = transpose ? "asc_copy_gm2l1_dn2nz" : "asc_copy_gm2l1_nd2nz";
  const uint64_t size = dtype_bytes(type), c0 = kBlockBytes / size, columns = (d + c0 - 1) / c0;
  if (size > 4) failf("%s: element of %u bytes is not modelled", name, unsigned(size));
  const uint64_t row = registers().nz_row_stride * kBlockBytes;
  const uint64_t column = registers().nz_column_stride * kBlockBytes;
  if (row != kBlockBytes)
    failf("%s: loop2_dst_stride %u is not modelled", name, unsigned(row / kBlockBytes));
  Instr instr(name, Pipe::MTE2, at);
  const uint64_t l1 = address_of(dst), gm = address_of(src);
  instr.work.kind = kGmToL1;
  instr.work.bytes = n * d * size;
  instr.reads(transpose ? rows_of(Space::GM, gm, n * size, d, src_stride)
                        : rows_of(Space::GM, gm, d * size, n, src_stride));
  instr.writes(rows_of(Space::L1, l1, n * kBlockBytes, columns, column));
  instr.body = Body([=] {
    LocalMemory& memory = local(Space::L1);
    const auto* from = reinterpret_cast<const uint8_t*>(gm);
    for (uint64_t c = 0; c < columns; ++c) {
      uint8_t* to = memory.data + l1 + c * column;
      const uint64_t filled = std::min(c0, d - c * c0);
      for (uint64_t r = 0; r < n; ++r, to += kBlockBytes) {
        if (!transpose) {
          std::memcpy(to, from + r * src_stride + c * kBlockBytes, filled * size);
        } else {
          for (uint64_t e = 0; e < filled; ++e) {
            std::memcpy(to + e * size, from + (c * c0 + e) * src_stride + r * size, size);
          }
        }
        std::memset(to + filled * size, 0, kBlockBytes - filled * size);
      }
      std::memset(&memory.valid[l1 + c * column], 1, n * kBlockBytes);
    }
  });
  issue(std::move(instr));
}

void fill_l1(void* dst, uint32_t value, uint32_t value_bytes, const asc_fill_value_config& config,
             At at) {
  Instr instr("asc_fill_l1", Pipe::MTE2, at);
  const uint64_t l1 = address_of(dst), bytes = config.blk_num * kBlockBytes;
  const uint64_t stride = bytes + config.dst_gap * kBlockBytes, repeat = config.repeat;
  instr.work.kind = kL1Fill;
  instr.work.bytes = repeat * bytes;
  instr.writes(rows_of(Space::L1, l1, bytes, repeat, int64_t(stride)));
  instr.body = Body([=] {
    LocalMemory& memory = local(Space::L1);
    for (uint64_t r = 0; r < repeat; ++r) {
      for (uint64_t i = 0; i < bytes; i += value_bytes) {
        put(memory, l1 + r * stride + i, &value, value_bytes);
      }
    }
  });
  issue(std::move(instr));
}

void copy_ub2l1(void* dst, const void* src, uint64_t bursts, uint64_t burst_blocks,
                uint64_t src_gap, uint64_t dst_gap, At at) {
  Instr instr("asc_copy_ub2l1", Pipe::MTE3, at);
  const uint64_t ub = ub_offset(src), l1 = address_of(dst), bytes = burst_blocks * kBlockBytes;
  const uint64_t from_stride = bytes + src_gap * kBlockBytes,
                 to_stride = bytes + dst_gap * kBlockBytes;
  instr.work.kind = kUbToL1;
  instr.work.bytes = bursts * bytes;
  instr.reads(rows_of(Space::UB, ub, bytes, bursts, int64_t(from_stride)));
  Access out = rows_of(Space::L1, l1, bytes, bursts, int64_t(to_stride));
  out.sub = kAic;
  instr.writes(out);
  instr.body = Body([=] {
    Core& core = *machine().core;
    LocalMemory& from = core.memory[int(Space::UB)];
    LocalMemory& to = machine().block_of(core).cores[0].memory[int(Space::L1)];
    for (uint64_t b = 0; b < bursts; ++b) {
      const uint64_t source = ub + b * from_stride, target = l1 + b * to_stride;
      move(to, target, from, source, bytes);
    }
  });
  issue(std::move(instr));
}

void set_pad_value(uint64_t bits) { registers().pad_value = bits; }

void set_gm2l1_nz(uint64_t matrices, uint64_t row_stride, uint64_t column_stride,
                  uint64_t matrix_stride, At at) {
  (void)make_loc(at);
  if (matrices != 1)
    failf("asc_set_gm2l1_nz_para: %u matrices are not modelled", unsigned(matrices));
  if (matrix_stride) fail("asc_set_gm2l1_nz_para: not modelled", "matrix stride != 0");
  registers().nz_row_stride = row_stride;
  registers().nz_column_stride = column_stride;
}

void set_atomic(AtomicOp op, DType type) {
  registers().atomic = op;
  registers().atomic_type = type;
}

}  // namespace emu
