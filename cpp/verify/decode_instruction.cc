// Intrinsics: which pipe runs them, which bytes they touch. Operand orders are those of TileLang's
// `src/ascend/op/builtin.h`; regions follow the device templates in `src/tl_templates/ascend`.
#include <tvm/tirx/builtin.h>
#include <tvm/tirx/op.h>

#include <optional>

#include "verify/decode.h"

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::IntImmNode;
using tvm::PrimExpr;

namespace {

std::string TextOf(const CallNode* call, size_t argument) {
  if (argument < call->args.size()) {
    if (const auto* text = call->args[argument].as<StringImmNode>()) return text->value;
  }
  return "";
}

std::optional<int64_t> NumberOf(const PrimExpr& expr) {
  const auto* number = expr.as<IntImmNode>();
  return number == nullptr ? std::nullopt : std::optional<int64_t>(number->value);
}

std::optional<Pipe> PipeNamed(std::string name) {
  if (name.rfind("PIPE_", 0) == 0) name = name.substr(5);
  for (int i = 0; i < kPipes; ++i) {
    if (name == NameOf(static_cast<Pipe>(i))) return static_cast<Pipe>(i);
  }
  return std::nullopt;
}

// Bits of one element by its name in a template argument.
int BitsNamed(const std::string& dtype) {
  if (dtype.find("float4") != std::string::npos) return 4;
  if (dtype.find("8") != std::string::npos) return 8;
  if (dtype == "float" || dtype == "float32" || dtype.find("32") != std::string::npos) return 32;
  return 16;
}

constexpr int kAccumulatorBytes = 4;

}  // namespace

AccessPattern Decoder::Rows(const Pointer& base, Expr offset, Expr rows, Expr row_bytes,
                            Expr stride, bool writes) {
  AccessPattern access{base.space};
  access.own_ub = base.own_ub;
  access.tensor = base.tensor;
  access.buffer = base.buffer;
  access.writes = writes;
  access.begin = Add(base.begin, offset);
  access.rows = rows;
  access.row_bytes = row_bytes;
  access.stride = stride;
  return access;
}

Node* Decoder::Issue(Instruction instruction, const Source& source) {
  Node* node = program_.Make(NodeKind::kInstruction);
  instruction.source = source;
  instruction.number = static_cast<int>(program_.nodes.size());
  instruction.source.number = instruction.number;
  node->instruction = std::move(instruction);
  node->source = source;
  return node;
}

Node* Decoder::Call(const CallNode* call, const Source& at) {
  Source source = at;
  const auto* op = call->op.as<tvm::OpNode>();
  if (op == nullptr) return NotModelled("a call of another function", source);
  const std::string name = op->name;
  const std::string short_name = name.substr(name.rfind('.') + 1);
  source.text = short_name.rfind("ascend_", 0) == 0 ? short_name.substr(7) : short_name;
  if (name == "tl.ascend_set_flag" || name == "tl.ascend_wait_flag") return Flag(call, source);
  if (name == "tl.ascend_cross_core_set_flag" || name == "tl.ascend_cross_core_wait_flag") {
    return CrossFlag(call, source);
  }
  if (name == "tl.ascend_get_buf" || name == "tl.ascend_rls_buf") return Lock(call, source);
  if (name == "tl.ascend_pipe_barrier") return Barrier(call, source);
  if (name == "tl.ascend_gemm_l1") return Gemm(call, false, source);
  if (name == "tl.ascend_blockscaled_gemm_l1") return Gemm(call, true, source);
  if (name == "tl.loop_break" || call->op.same_as(builtin::break_loop())) {
    return program_.Make(NodeKind::kBreak);
  }
  if (call->op.same_as(builtin::continue_loop())) return program_.Make(NodeKind::kContinue);
  if (name == "tl.ascend_set_atomic") return program_.Make(NodeKind::kAtomicOn);
  if (name == "tl.ascend_set_atomic_none") return program_.Make(NodeKind::kAtomicOff);
  // Settings of the core and checks of the user: they touch no memory that others see.
  if (name == "tl.ascend_set_copy_pad_value" || name == "tl.ascend_set_hf32_mode" ||
      name == "tl.ascend_set_mmad_direction" || name == "tl.ascend_threadfence" ||
      name == "tl.device_assert" || name == "tl.device_assert_with_msg") {
    for (const PrimExpr& arg : call->args) {
      if (!arg.as<StringImmNode>()) Compile(arg);
    }
    return nullptr;
  }
  if (name == "tl.ascend_write_gm_bypass_dcache") {
    Pointer pointer;
    Compile(call->args[1]);
    if (Parse(call->args[0], &pointer)) {
      Instruction instruction{Action::kAccess, Pipe::kS};
      instruction.accesses.push_back(
          Rows(pointer, Constant(0), Constant(1), pointer.extent, Constant(0), true));
      return Issue(std::move(instruction), source);
    }
  }
  if (call->op.same_as(builtin::call_extern())) {
    const std::string function = TextOf(call, 0);
    if (function == "debug_print_msg" || function == "debug_print_var") return nullptr;
    return NotModelled("a call of " + function, source);
  }
  if (name.rfind("tl.ascend_", 0) == 0) return Copy(source.text, call, source);
  if (call->op.same_as(builtin::ret())) return nullptr;
  return NotModelled("the intrinsic " + name, source);
}

Node* Decoder::Flag(const CallNode* call, const Source& at) {
  Source source = at;
  const std::string event = TextOf(call, 0);
  const size_t split = event.find('_');
  const auto set = PipeNamed(event.substr(0, split));
  const auto wait = PipeNamed(split == std::string::npos ? "" : event.substr(split + 1));
  source.text += "(" + event + ")";
  if (!set.has_value() || !wait.has_value()) return NotModelled("the event " + event, source);
  const bool sets = source.text.rfind("set", 0) == 0;
  Instruction instruction{sets ? Action::kSetFlag : Action::kWaitFlag, sets ? *set : *wait};
  instruction.peer = sets ? *wait : *set;
  instruction.id = Compile(call->args[1]);
  return Issue(std::move(instruction), source);
}

Node* Decoder::CrossFlag(const CallNode* call, const Source& at) {
  Source source = at;
  const std::string name = TextOf(call, 1);
  const auto pipe = PipeNamed(name);
  source.text += "(" + name + ")";
  const std::optional<int64_t> mode = NumberOf(call->args[0]);
  if (mode != 0 && mode != 1 && mode != 2 && mode != 4) {
    return NotModelled("a cross-core flag of another mode than 0, 1, 2 and 4", source);
  }
  if (!pipe) return NotModelled("a cross-core flag of pipe " + name, source);
  const bool sets = source.text.find("set") != std::string::npos;
  Instruction instruction{sets ? Action::kCrossSet : Action::kCrossWait, *pipe};
  instruction.scope = mode == 4   ? FlagScope::kOneCore
                      : mode == 2 ? FlagScope::kBlock
                      : mode == 1 ? FlagScope::kVectors
                                  : FlagScope::kAllBlocks;
  program_.between_blocks = program_.between_blocks || mode == 0;
  instruction.id = Compile(call->args[2]);
  return Issue(std::move(instruction), source);
}

Node* Decoder::Lock(const CallNode* call, const Source& at) {
  Source source = at;
  const std::string name = TextOf(call, 0);
  const auto pipe = PipeNamed(name);
  if (!pipe) return NotModelled("a lock of pipe " + name, source);
  const bool locks = source.text == "get_buf";
  source.text = (locks ? "lock(" : "unlock(") + name + ")";
  Instruction instruction{locks ? Action::kLock : Action::kUnlock, *pipe};
  instruction.blocking = NumberOf(call->args[2]) == 0;
  instruction.id = Compile(call->args[1]);
  return Issue(std::move(instruction), source);
}

Node* Decoder::Barrier(const CallNode* call, const Source& at) {
  Source source = at;
  const std::string name = TextOf(call, 0);
  source.text = "pipe_barrier(" + name + ")";
  // TileLang prints one and the same `asc_sync()` for both.
  if (name == "PIPE_ALL" || name == "PIPE_S") {
    return Issue({Action::kBarrierAll, Pipe::kS}, source);
  }
  const auto pipe = PipeNamed(name);
  if (!pipe) return NotModelled("a barrier of " + name, source);
  return Issue({Action::kBarrier, *pipe}, source);
}

Node* Decoder::Copy(const std::string& name, const CallNode* call, const Source& source) {
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
      CopyAccesses(name, call->args, &instruction.accesses);
    } catch (const DecodeError& error) {
      return NotModelled(error.message, source);
    }
    if (name == "copy_matrix_cc_to_ub") instruction.unit_flag = Compile(call->args[10]);
    if (name == "copy_matrix_cc_to_gm") instruction.unit_flag = Compile(call->args[9]);
    if (pipe == Pipe::kM) instruction.unit_flag = Compile(call->args[6]);
    return Issue(std::move(instruction), source);
  }
  return NotModelled("the intrinsic " + name, source);
}

void Decoder::CopyAccesses(const std::string& name, const tvm::ffi::Array<PrimExpr>& args,
                           std::vector<AccessPattern>* accesses) {
  Pointer first, second;  // destination and source, or the one address that there is
  if (!Parse(args[0], &first)) throw DecodeError{"the address operand of " + name};
  if (name != "fill_l1" && !Parse(args[1], &second)) {
    throw DecodeError{"the source operand of " + name};
  }
  auto arg = [&](size_t index) { return Compile(args[index]); };
  auto number = [&](size_t index) {
    const auto value = NumberOf(args[index]);
    if (!value)
      throw DecodeError{name + " with operand " + std::to_string(index) + " not constant"};
    return *value;
  };
  auto add = [&](const Pointer& base, Expr offset, Expr rows, Expr row_bytes, Expr stride,
                 bool writes) {
    accesses->push_back(Rows(base, offset, rows, row_bytes, stride, writes));
  };
  const Expr zero = Constant(0), one = Constant(1);

  if (name == "copy_gm_to_ubuf") {
    Expr padded = arg(4);
    if (number(7) != 0) padded = Add(padded, BytesOf(arg(6), first.element_bits));
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
    add(second, zero, transposes ? d : n, BytesOf(transposes ? n : d, bits), arg(3), false);
    // Columns of 32 bytes, each as high as the destination matrix.
    add(first, zero, DivideUp(BytesOf(d, bits), kBlockBytes), Times(n, kBlockBytes),
        Times(arg(10), kBlockBytes), true);
  } else if (name == "fill_l1") {
    add(first, arg(1), arg(3), Times(arg(4), kBlockBytes), Times(Add(arg(4), arg(5)), kBlockBytes),
        true);
  } else if (name == "copy_ubuf_to_cbuf") {
    const Expr length = Times(arg(4), kBlockBytes);
    add(second, zero, arg(3), length, Add(length, Times(arg(5), kBlockBytes)), false);
    add(first, zero, arg(3), length, Add(length, Times(arg(6), kBlockBytes)), true);
  } else if (name == "nd2nz_scatter") {
    // Here the source comes first. One spare row stands between the columns of the result.
    const int64_t rows = number(2), columns = number(3);
    const int64_t to = BitsNamed(args[4].as<StringImmNode>()->value) / 8;
    const int64_t from = BitsNamed(args[5].as<StringImmNode>()->value) / 8;
    add(first, zero, one, Constant(rows * columns * from), zero, false);
    add(second, zero, Constant(columns * to / kBlockBytes), Constant(rows * kBlockBytes),
        Constant((rows + 1) * kBlockBytes), true);
  } else if (name == "nd2nz_post_copy") {
    const int64_t rows = number(2), columns = number(3);
    const int64_t bytes = BitsNamed(args[5].as<StringImmNode>()->value) / 8;
    const Expr count = Constant(columns * bytes / kBlockBytes);
    const Expr length = Constant(rows * kBlockBytes);
    add(second, zero, count, length, Constant((rows + 1) * kBlockBytes), false);
    add(first, zero, count, length, Constant(number(4) * kBlockBytes), true);
  } else if (name == "load_cbuf_to_ca" || name == "load_cbuf_to_cb") {
    const Expr start = Times(Add(Multiply(arg(3), arg(6)), arg(2)), kFractalBytes);
    add(second, start, arg(5), Times(arg(4), kFractalBytes), Times(arg(6), kFractalBytes), false);
    if (number(8) == 0) {
      add(first, zero, arg(5), Times(arg(4), kFractalBytes), Times(arg(7), kFractalBytes), true);
    } else {
      // A transposed load exchanges 16 rows and 32 bytes of columns, fractal count unchanged.
      add(first, zero, one, Times(Multiply(arg(4), arg(5)), kFractalBytes), zero, true);
    }
  } else if (name == "load_ca_sf" || name == "load_cb_sf") {
    const Expr start = Times(Add(Multiply(arg(2), arg(6)), arg(3)), kBlockBytes);
    add(second, start, arg(4), Times(arg(5), kBlockBytes), Times(arg(6), kBlockBytes), false);
    Pointer shadow = first;
    shadow.space = name == "load_ca_sf" ? Space::kL0aScale : Space::kL0bScale;
    shadow.begin = Make(ExprKind::kFloorDivide, first.begin, Constant(16));
    add(shadow, zero, arg(4), Times(arg(5), kBlockBytes), Times(arg(7), kBlockBytes), true);
  } else if (name == "copy_matrix_cc_to_ub" || name == "copy_matrix_cc_to_gm") {
    const bool to_ub = name == "copy_matrix_cc_to_ub";
    if (number(to_ub ? 25 : 24) != 0) throw DecodeError{name + " in column-major form"};
    const Expr n = arg(3), m = arg(4);
    const int64_t column = 16 * kAccumulatorBytes;
    add(second, zero, DivideUp(n, 16), Times(m, column), Times(arg(6), column), false);
    const Expr pitch = BytesOf(arg(5), first.element_bits);
    if (!to_ub) {
      add(first, zero, m, BytesOf(n, first.element_bits), pitch, true);
      return;
    }
    const int64_t dual = number(7);
    first.own_ub = false;
    const Expr rows = dual == 1 ? DivideUp(m, 2) : m;
    const Expr width = BytesOf(dual == 2 ? DivideUp(n, 2) : n, first.element_bits);
    for (const int aiv : {0, 1}) {
      first.space = aiv == 0 ? Space::kUb0 : Space::kUb1;
      add(first, zero, rows, width, pitch, true);
      if (dual == 0) {
        accesses->back().condition = Make(ExprKind::kEqual, arg(8), Constant(aiv));
      }
    }
  } else {  // mad, mad_mx
    Pointer right;
    if (!Parse(args[2], &right)) throw DecodeError{"the second source operand of " + name};
    auto round = [&](Expr count) { return Times(DivideUp(count, 16), 16); };
    const Expr m = round(arg(3)), n = round(arg(5));
    const Expr result = Times(Multiply(m, n), kAccumulatorBytes);
    add(first, zero, one, result, zero, true);
    for (const auto& [side, height] : {std::pair{second, m}, std::pair{right, n}}) {
      const Expr row =
          Times(DivideUp(BytesOf(arg(4), side.element_bits), kBlockBytes), kBlockBytes);
      const Expr bytes = Multiply(height, row);
      add(side, zero, one, bytes, zero, false);
      if (name != "mad_mx") continue;
      Pointer shadow = side;
      shadow.space = side.space == Space::kL0a ? Space::kL0aScale : Space::kL0bScale;
      shadow.begin = Make(ExprKind::kFloorDivide, side.begin, Constant(16));
      add(shadow, zero, one, DivideUp(bytes, 16), zero, false);
    }
  }
}

// The L1 template of `gemm.h`: for each part of K a locked load of both operands into L0, from
// address 0 on, by turns into two halves, and a locked multiplication.
Node* Decoder::Gemm(const CallNode* call, bool scaled, const Source& source) {
  const auto& args = call->args;
  const int shape = scaled ? 5 : 3;
  Pointer c, a, b, scale_a, scale_b;
  bool parsed = Parse(args[0], &c) && Parse(args[1], &a) && Parse(args[2], &b);
  if (scaled) parsed = parsed && Parse(args[3], &scale_a) && Parse(args[4], &scale_b);
  int64_t numbers[5];  // M, K, N, part of K, transposed
  for (int i = 0; i < 5; ++i) {
    const auto value = NumberOf(args[shape + i]);
    parsed = parsed && value.has_value();
    if (value) numbers[i] = *value;
  }
  if (!parsed) return NotModelled("the operands of " + source.text, source);
  const auto [m, k, n, part, transposed] = numbers;
  const int bits = BitsNamed(TextOf(call, shape + 6));
  const int64_t parts = k / part;
  const int64_t column = kBlockBytes * 8 / bits;  // elements
  const int64_t stage_a = m * part * bits / 8, stage_b = n * part * bits / 8;
  const Expr lock = Compile(args[scaled ? 14 : 10]);
  const Expr unit_flag = Compile(args[scaled ? 17 : 11]);
  const Expr zero = Constant(0);
  const Pointer l0a{Space::kL0a, false, -1, zero}, l0b{Space::kL0b, false, -1, zero};

  Node* sequence = program_.Make(NodeKind::kSequence);
  auto issue = [&](Instruction instruction, const std::string& what) {
    Source at = source;
    at.text += ", " + what;
    sequence->children.push_back(Issue(std::move(instruction), at));
  };
  auto lock_part = [&](Action action, Pipe pipe, int64_t half) {
    Instruction instruction{action, pipe};
    instruction.id = Add(lock, Constant(half));
    issue(std::move(instruction), action == Action::kLock ? "lock" : "unlock");
  };
  auto add = [&](Instruction* to, const Pointer& base, Expr offset, int64_t rows, int64_t row,
                 int64_t stride, bool writes) {
    to->accesses.push_back(
        Rows(base, offset, Constant(rows), Constant(row), Constant(stride), writes));
  };
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t half = i % 2;
    lock_part(Action::kLock, Pipe::kMte1, half);
    Instruction load{Action::kAccess, Pipe::kMte1};
    add(&load, a, Constant(i * stage_a), 1, stage_a, 0, false);
    add(&load, l0a, Constant(half * stage_a), 1, stage_a, 0, true);
    if (transposed != 0) {
      add(&load, b, Constant(i * stage_b), 1, stage_b, 0, false);
    } else {
      const int64_t height = part / column * kFractalBytes;
      add(&load, b, Constant(i * height), n / 16, height, k / column * kFractalBytes, false);
    }
    add(&load, l0b, Constant(half * stage_b), 1, stage_b, 0, true);
    issue(std::move(load), "load of L0");
    Instruction multiply{Action::kAccess, Pipe::kM};
    if (scaled) {
      Instruction scales{Action::kAccess, Pipe::kMte1};
      const int64_t pairs = part / 64;
      const int64_t pitch = NumberOf(args[16]).value_or(pairs) * kBlockBytes;
      const Expr start = Times(Add(Compile(args[15]), Constant(i * pairs)), kBlockBytes);
      for (const bool left : {true, false}) {
        const int64_t rows = (left ? m : n) / 16;
        const Pointer shadow{left ? Space::kL0aScale : Space::kL0bScale, false, -1, zero};
        const Expr at = Constant(half * (left ? stage_a : stage_b) / 16);
        add(&scales, left ? scale_a : scale_b, start, rows, pairs * kBlockBytes, pitch, false);
        add(&scales, shadow, at, 1, rows * pairs * kBlockBytes, 0, true);
        add(&multiply, shadow, at, 1, rows * pairs * kBlockBytes, 0, false);
      }
      issue(std::move(scales), "load of scales");
    }
    lock_part(Action::kUnlock, Pipe::kMte1, half);
    lock_part(Action::kLock, Pipe::kM, half);
    multiply.unit_flag = unit_flag;
    add(&multiply, l0a, Constant(half * stage_a), 1, stage_a, 0, false);
    add(&multiply, l0b, Constant(half * stage_b), 1, stage_b, 0, false);
    add(&multiply, c, zero, 1, m * n * kAccumulatorBytes, 0, true);
    issue(std::move(multiply), "multiplication");
    lock_part(Action::kUnlock, Pipe::kM, half);
  }
  return sequence;
}

}  // namespace tilelang_ascend_sched::verify
