// Copies between memories, and multiplications of what is in L0.
#include <optional>
#include <utility>
#include <vector>

#include "verify/decode_instruction.h"
#include "verify/decode_node.h"
#include "verify/decode_operand.h"

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::PrimExpr;

namespace {

struct DecodeError {
  std::string message;
};

// DecodeError: an operand that the intrinsic cannot have as far as is known here.
void CopyAccesses(const std::string& name, const tvm::ffi::Array<PrimExpr>& args,
                  ExprDecoder* exprs, std::vector<AccessPattern>* accesses) {
  Pointer first, second;  // destination and source, or the one address that there is
  if (!exprs->Parse(args[0], &first)) throw DecodeError{"the address operand of " + name};
  if (name != "fill_l1" && !exprs->Parse(args[1], &second)) {
    throw DecodeError{"the source operand of " + name};
  }
  auto arg = [&](size_t index) { return exprs->Compile(args[index]); };
  auto number = [&](size_t index) {
    const auto value = NumberOf(args[index]);
    if (!value) {
      throw DecodeError{name + " with operand " + std::to_string(index) + " not constant"};
    }
    return *value;
  };
  auto add = [&](const Pointer& base, Expr offset, Expr rows, Expr row_bytes, Expr stride,
                 bool writes) {
    accesses->push_back(exprs->Rows(base, offset, rows, row_bytes, stride, writes));
  };
  const Expr zero = exprs->Constant(0), one = exprs->Constant(1);

  if (name == "copy_gm_to_ubuf") {
    Expr padded = arg(4);
    if (number(7) != 0) padded = exprs->Add(padded, exprs->BytesOf(arg(6), first.element_bits));
    add(second, zero, arg(3), arg(4), arg(9), false);
    add(first, zero, arg(3), padded, arg(10), true);
  } else if (name == "copy_ubuf_to_gm") {
    add(second, zero, arg(3), arg(4), arg(7), false);
    add(first, zero, arg(3), arg(4), arg(6), true);
  } else if (name == "copy_gm_to_cbuf") {
    const auto* physical = args[11].as<StringImmNode>();
    const int bits = physical == nullptr || physical->value.empty() ? first.element_bits
                                                                    : BitsNamed(physical->value);
    const Expr n = arg(5), d = arg(6);
    const bool transposes = number(9) != 0;
    add(second, zero, transposes ? d : n, exprs->BytesOf(transposes ? n : d, bits), arg(3), false);
    // Columns of 32 bytes, each as high as the destination matrix.
    add(first, zero, exprs->DivideUp(exprs->BytesOf(d, bits), kBlockBytes),
        exprs->Times(n, kBlockBytes), exprs->Times(arg(10), kBlockBytes), true);
  } else if (name == "fill_l1") {
    add(first, arg(1), arg(3), exprs->Times(arg(4), kBlockBytes),
        exprs->Times(exprs->Add(arg(4), arg(5)), kBlockBytes), true);
  } else if (name == "copy_ubuf_to_cbuf") {
    const Expr length = exprs->Times(arg(4), kBlockBytes);
    add(second, zero, arg(3), length, exprs->Add(length, exprs->Times(arg(5), kBlockBytes)), false);
    add(first, zero, arg(3), length, exprs->Add(length, exprs->Times(arg(6), kBlockBytes)), true);
  } else if (name == "nd2nz_scatter") {
    // Here the source comes first. One spare row stands between the columns of the result.
    const int64_t rows = number(2), columns = number(3);
    const int64_t to = BitsNamed(args[4].as<StringImmNode>()->value) / 8;
    const int64_t from = BitsNamed(args[5].as<StringImmNode>()->value) / 8;
    add(first, zero, one, exprs->Constant(rows * columns * from), zero, false);
    add(second, zero, exprs->Constant(columns * to / kBlockBytes),
        exprs->Constant(rows * kBlockBytes), exprs->Constant((rows + 1) * kBlockBytes), true);
  } else if (name == "nd2nz_post_copy") {
    const int64_t rows = number(2), columns = number(3);
    const int64_t bytes = BitsNamed(args[5].as<StringImmNode>()->value) / 8;
    const Expr count = exprs->Constant(columns * bytes / kBlockBytes);
    const Expr length = exprs->Constant(rows * kBlockBytes);
    add(second, zero, count, length, exprs->Constant((rows + 1) * kBlockBytes), false);
    add(first, zero, count, length, exprs->Constant(number(4) * kBlockBytes), true);
  } else if (name == "load_cbuf_to_ca" || name == "load_cbuf_to_cb") {
    const Expr start =
        exprs->Times(exprs->Add(exprs->Multiply(arg(3), arg(6)), arg(2)), kFractalBytes);
    add(second, start, arg(5), exprs->Times(arg(4), kFractalBytes),
        exprs->Times(arg(6), kFractalBytes), false);
    if (number(8) == 0) {
      add(first, zero, arg(5), exprs->Times(arg(4), kFractalBytes),
          exprs->Times(arg(7), kFractalBytes), true);
    } else {
      // A transposed load exchanges 16 rows and 32 bytes of columns, fractal count unchanged.
      add(first, zero, one, exprs->Times(exprs->Multiply(arg(4), arg(5)), kFractalBytes), zero,
          true);
    }
  } else if (name == "load_ca_sf" || name == "load_cb_sf") {
    const Expr start =
        exprs->Times(exprs->Add(exprs->Multiply(arg(2), arg(6)), arg(3)), kBlockBytes);
    add(second, start, arg(4), exprs->Times(arg(5), kBlockBytes), exprs->Times(arg(6), kBlockBytes),
        false);
    Pointer shadow = first;
    shadow.space = name == "load_ca_sf" ? Space::kL0aScale : Space::kL0bScale;
    shadow.begin = exprs->Make(ExprKind::kFloorDivide, first.begin, exprs->Constant(16));
    add(shadow, zero, arg(4), exprs->Times(arg(5), kBlockBytes), exprs->Times(arg(7), kBlockBytes),
        true);
  } else if (name == "copy_matrix_cc_to_ub" || name == "copy_matrix_cc_to_gm") {
    const bool to_ub = name == "copy_matrix_cc_to_ub";
    if (number(to_ub ? 25 : 24) != 0) throw DecodeError{name + " in column-major form"};
    const Expr n = arg(3), m = arg(4);
    const int64_t column = 16 * kAccumulatorBytes;
    add(second, zero, exprs->DivideUp(n, 16), exprs->Times(m, column), exprs->Times(arg(6), column),
        false);
    const Expr pitch = exprs->BytesOf(arg(5), first.element_bits);
    if (!to_ub) {
      add(first, zero, m, exprs->BytesOf(n, first.element_bits), pitch, true);
      return;
    }
    const int64_t dual = number(7);
    first.own_ub = false;
    const Expr rows = dual == 1 ? exprs->DivideUp(m, 2) : m;
    const Expr width = exprs->BytesOf(dual == 2 ? exprs->DivideUp(n, 2) : n, first.element_bits);
    for (const int aiv : {0, 1}) {
      first.space = aiv == 0 ? Space::kUb0 : Space::kUb1;
      add(first, zero, rows, width, pitch, true);
      if (dual == 0) {
        accesses->back().condition = exprs->Make(ExprKind::kEqual, arg(8), exprs->Constant(aiv));
      }
    }
  } else {  // mad, mad_mx
    Pointer right;
    if (!exprs->Parse(args[2], &right)) throw DecodeError{"the second source operand of " + name};
    auto round = [&](Expr count) { return exprs->Times(exprs->DivideUp(count, 16), 16); };
    const Expr m = round(arg(3)), n = round(arg(5));
    const Expr result = exprs->Times(exprs->Multiply(m, n), kAccumulatorBytes);
    add(first, zero, one, result, zero, true);
    for (const auto& [side, height] : {std::pair{second, m}, std::pair{right, n}}) {
      const Expr row = exprs->Times(
          exprs->DivideUp(exprs->BytesOf(arg(4), side.element_bits), kBlockBytes), kBlockBytes);
      const Expr bytes = exprs->Multiply(height, row);
      add(side, zero, one, bytes, zero, false);
      if (name != "mad_mx") continue;
      Pointer shadow = side;
      shadow.space = side.space == Space::kL0a ? Space::kL0aScale : Space::kL0bScale;
      shadow.begin = exprs->Make(ExprKind::kFloorDivide, side.begin, exprs->Constant(16));
      add(shadow, zero, one, exprs->DivideUp(bytes, 16), zero, false);
    }
  }
}

}  // namespace

Node* DecodeCopy(const std::string& name, const CallNode* call, const Source& source,
                 ExprDecoder* exprs) {
  static const std::pair<const char*, Pipe> kCopies[] = {
      {"copy_gm_to_ubuf", Pipe::kMte2},
      {"copy_gm_to_cbuf", Pipe::kMte2},
      {"fill_l1", Pipe::kMte2},
      {"copy_ubuf_to_gm", Pipe::kMte3},
      {"copy_ubuf_to_cbuf", Pipe::kMte3},
      {"nd2nz_post_copy", Pipe::kMte3},
      {"load_cbuf_to_ca", Pipe::kMte1},
      {"load_cbuf_to_cb", Pipe::kMte1},
      {"load_ca_sf", Pipe::kMte1},
      {"load_cb_sf", Pipe::kMte1},
      {"copy_matrix_cc_to_ub", Pipe::kFix},
      {"copy_matrix_cc_to_gm", Pipe::kFix},
      {"nd2nz_scatter", Pipe::kV},
      {"mad", Pipe::kM},
      {"mad_mx", Pipe::kM},
  };
  for (const auto& [known, pipe] : kCopies) {
    if (name != known) continue;
    Instruction instruction{Action::kAccess, pipe};
    try {
      CopyAccesses(name, call->args, exprs, &instruction.accesses);
    } catch (const DecodeError& error) {
      return NotModelled(exprs->program(), error.message, source);
    }
    if (name == "copy_matrix_cc_to_ub") instruction.unit_flag = exprs->Compile(call->args[10]);
    if (name == "copy_matrix_cc_to_gm") instruction.unit_flag = exprs->Compile(call->args[9]);
    if (pipe == Pipe::kM) instruction.unit_flag = exprs->Compile(call->args[6]);
    return Issue(exprs->program(), std::move(instruction), source);
  }
  return NotModelled(exprs->program(), "the intrinsic " + name, source);
}

}  // namespace tilelang_ascend_sched::verify
