// Fixpipe: results leave L0C for UB or GM, converted on the way.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "emu/cube.h"
#include "runtime/atomics.h"
#include "runtime/findings.h"
#include "runtime/local.h"

namespace emu {
namespace {

// The conversions that the compiler's copies name, by their number in the instruction. Those with
// a scale read it from a register.
struct Conversion {
  int quant;
  const char* name;
  DType from;
  std::array<DType, 2> to;
  bool scaled;
};
constexpr Conversion kConversions[] = {
    {1, "F322F16", DType::F32, {DType::F16, DType::F16}, false},
    {16, "F322BF16", DType::F32, {DType::BF16, DType::BF16}, false},
    {9, "REQ8", DType::S32, {DType::S8, DType::U8}, true},
    {13, "QF322FP8_PRE", DType::F32, {DType::E4M3, DType::E4M3}, true},
    {28, "DEQS16", DType::S32, {DType::S16, DType::S16}, true},
};

const Conversion* conversion_of(int quant) {
  for (const Conversion& c : kConversions) {
    if (c.quant == quant) return &c;
  }
  return nullptr;
}

template <class T>
T saturated(double x) {
  if (std::isnan(x)) return 0;
  const double rounded = std::nearbyint(x);
  return T(
      std::clamp<double>(rounded, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

template <class T, class From>
void fill(uint8_t* to, const From* from, uint32_t count, T (*convert)(double)) {
  for (uint32_t i = 0; i < count; ++i) {
    const T x = convert(double(from[i]));
    std::memcpy(to + i * sizeof x, &x, sizeof x);
  }
}

template <class From>
void convert_row(uint8_t* to, const From* from, uint32_t count, DType type) {
  switch (type) {
    case DType::F32:
    case DType::S32:
      std::memcpy(to, from, count * 4);
      return;
    case DType::F16:
      return fill<half>(to, from, count, [](double x) { return half(float(x)); });
    case DType::BF16:
      return fill<bfloat16_t>(to, from, count, [](double x) { return bfloat16_t(float(x)); });
    case DType::E4M3:
      return fill<uint8_t>(to, from, count, [](double x) {
        return uint8_t(
            numeric::encode<numeric::E4M3, Rounding::kNearestEven, Overflow::kSaturate>(float(x)));
      });
    case DType::S8:
      return fill<int8_t>(to, from, count, saturated<int8_t>);
    case DType::U8:
      return fill<uint8_t>(to, from, count, saturated<uint8_t>);
    case DType::S16:
      return fill<int16_t>(to, from, count, saturated<int16_t>);
    default:
      fail("Fixpipe: destination type not modelled");
  }
}

// What is checked before an instruction of Fixpipe is issued.
void check_fixpipe(const char* name, const Fixpipe& f) {
  if (!f.nz2nd || f.nz2dn || f.split) failf("%s: only the NZ to ND form is modelled", name);
  if (f.relu > 1) failf("%s: relu_pre %d is not modelled", name, f.relu);
  check_unit_flag(name, f.unit_flag);
  const char* from = dtype_name(f.src_type);
  const char* to = dtype_name(f.dst_type);
  if (f.src_type != DType::F32 && f.src_type != DType::S32) {
    failf("%s: L0C of %s is not modelled", name, from);
  }
  if (f.quant == 0) {
    if (f.src_type == f.dst_type) return;
    failf("%s: quant_pre 0 converts nothing, yet L0C holds %s and the destination %s", name, from,
          to);
  }
  const Conversion* c = conversion_of(f.quant);
  if (!c) failf("%s: quant_pre %d is not modelled", name, f.quant);
  if (f.dst_type != c->to[0] && f.dst_type != c->to[1]) {
    failf("%s: quant_pre %d (%s) makes %s, yet the destination is %s", name, f.quant, c->name,
          dtype_name(c->to[0]), to);
  }
}

// Reported where the instruction runs: what it computes here is a guess.
void report_unknown_scale(const char* name, const Fixpipe& f) {
  const Conversion* c = f.quant == 0 ? nullptr : conversion_of(f.quant);
  if (!c || !c->scaled) return;
  findf("blind-spot",
        "%s: quant_pre %d (%s%s) multiplies by a scale that the kernel has no instruction to set; "
        "1 is taken here",
        name, f.quant, c->name,
        c->from == f.src_type ? "" : ", meant for int32 sums but given float32");
}

// One row of L0C, `n` columns from column `first`.
template <class Sum>
void gather_row(Sum* out, const LocalMemory& l0c, uint64_t begin, const Fixpipe& f, uint32_t row,
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

// The same, converted, with a buffer of the caller's for the row.
void read_row(uint8_t* to, std::vector<uint32_t>& row, const LocalMemory& l0c, uint64_t begin,
              const Fixpipe& f, uint32_t index, uint32_t first, uint32_t n) {
  if (f.src_type == DType::S32) {
    auto* sums = reinterpret_cast<int32_t*>(row.data());
    gather_row(sums, l0c, begin, f, index, first, n);
    convert_row(to, sums, n, f.dst_type);
  } else {
    auto* sums = reinterpret_cast<float*>(row.data());
    gather_row(sums, l0c, begin, f, index, first, n);
    convert_row(to, sums, n, f.dst_type);
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
    report_unknown_scale("asc_copy_l0c2ub", f);
    Core& core = *machine().core;
    const LocalMemory& from = core.memory[int(Space::L0C)];
    std::vector<uint32_t> row(n);
    for (int sub = first; sub <= last; ++sub) {
      LocalMemory& to = machine().block_of(core).cores[1 + sub].memory[int(Space::UB)];
      for (uint32_t r = 0; r < m; ++r) {
        const uint64_t at_byte = ub + uint64_t(r) * f.dst_stride * size;
        read_row(to.data + at_byte, row, from, l0c, f, f.dual == 1 ? sub * m + r : r,
                 f.dual == 2 ? sub * n : 0, n);
        std::memset(&to.valid[at_byte], 1, uint64_t(n) * size);
      }
    }
  });
  enqueue_unit(std::move(instr), f.unit_flag);
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
    report_unknown_scale("asc_copy_l0c2gm", f);
    const LocalMemory& from = local(Space::L0C);
    std::vector<uint32_t> row(f.n);
    std::vector<uint8_t> converted(uint64_t(f.n) * size);
    for (uint32_t r = 0; r < f.m; ++r) {
      read_row(converted.data(), row, from, l0c, f, r, 0, f.n);
      store(reinterpret_cast<void*>(gm + uint64_t(r) * f.dst_stride * size), converted.data(),
            converted.size(), atomic, atomic_type);
    }
  });
  enqueue_unit(std::move(instr), f.unit_flag);
}

void set_l0c_nz(uint64_t matrices, uint64_t src_stride, uint64_t dst_stride, At at) {
  (void)make_loc(at);
  if (matrices != 1)
    failf("asc_set_l0c_copy_nz_para: %u matrices are not modelled", unsigned(matrices));
  if (src_stride || dst_stride)
    fail("asc_set_l0c_copy_nz_para: not modelled", "matrix stride != 0");
}

}  // namespace emu
