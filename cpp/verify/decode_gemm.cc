#include <utility>

#include "verify/decode_instruction.h"
#include "verify/decode_node.h"
#include "verify/decode_operand.h"

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;

// The L1 template of `gemm.h`: for each part of K a locked load of both operands into L0, from
// address 0 on, by turns into two halves, and a locked multiplication.
Node* DecodeGemm(const CallNode* call, bool scaled, const Source& source, ExprDecoder* exprs) {
  Program* program = exprs->program();
  const auto& args = call->args;
  const int shape = scaled ? 5 : 3;
  Pointer c, a, b, scale_a, scale_b;
  bool parsed = exprs->Parse(args[0], &c) && exprs->Parse(args[1], &a) && exprs->Parse(args[2], &b);
  if (scaled) parsed = parsed && exprs->Parse(args[3], &scale_a) && exprs->Parse(args[4], &scale_b);
  int64_t numbers[5];  // M, K, N, part of K, transposed
  for (int i = 0; i < 5; ++i) {
    const auto value = NumberOf(args[shape + i]);
    parsed = parsed && value.has_value();
    if (value) numbers[i] = *value;
  }
  if (!parsed) return NotModelled(program, "the operands of " + source.text, source);
  const auto [m, k, n, part, transposed] = numbers;
  const int bits = BitsNamed(TextOf(call, shape + 6));
  const int64_t parts = k / part;
  const int64_t column = kBlockBytes * 8 / bits;  // elements
  const int64_t stage_a = m * part * bits / 8, stage_b = n * part * bits / 8;
  const Expr lock = exprs->Compile(args[scaled ? 14 : 10]);
  const Expr unit_flag = exprs->Compile(args[scaled ? 17 : 11]);
  const Expr zero = exprs->Constant(0);
  const Pointer l0a{Space::kL0a, false, -1, zero}, l0b{Space::kL0b, false, -1, zero};

  Node* sequence = program->Make(NodeKind::kSequence);
  auto issue = [&](Instruction instruction, const std::string& what) {
    Source at = source;
    at.text += ", " + what;
    sequence->children.push_back(Issue(program, std::move(instruction), at));
  };
  auto lock_part = [&](Action action, Pipe pipe, int64_t half) {
    Instruction instruction{action, pipe};
    instruction.id = exprs->Add(lock, exprs->Constant(half));
    issue(std::move(instruction), action == Action::kLock ? "lock" : "unlock");
  };
  auto add = [&](Instruction* to, const Pointer& base, Expr offset, int64_t rows, int64_t row,
                 int64_t stride, bool writes) {
    to->accesses.push_back(exprs->Rows(base, offset, exprs->Constant(rows), exprs->Constant(row),
                                       exprs->Constant(stride), writes));
  };
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t half = i % 2;
    lock_part(Action::kLock, Pipe::kMte1, half);
    Instruction load{Action::kAccess, Pipe::kMte1};
    add(&load, a, exprs->Constant(i * stage_a), 1, stage_a, 0, false);
    add(&load, l0a, exprs->Constant(half * stage_a), 1, stage_a, 0, true);
    if (transposed != 0) {
      add(&load, b, exprs->Constant(i * stage_b), 1, stage_b, 0, false);
    } else {
      const int64_t height = part / column * kFractalBytes;
      add(&load, b, exprs->Constant(i * height), n / 16, height, k / column * kFractalBytes, false);
    }
    add(&load, l0b, exprs->Constant(half * stage_b), 1, stage_b, 0, true);
    issue(std::move(load), "load of L0");
    Instruction multiply{Action::kAccess, Pipe::kM};
    if (scaled) {
      Instruction scales{Action::kAccess, Pipe::kMte1};
      const int64_t pairs = part / 64;
      const int64_t pitch = NumberOf(args[16]).value_or(pairs) * kBlockBytes;
      const Expr start = exprs->Times(
          exprs->Add(exprs->Compile(args[15]), exprs->Constant(i * pairs)), kBlockBytes);
      for (const bool left : {true, false}) {
        const int64_t rows = (left ? m : n) / 16;
        const Pointer shadow{left ? Space::kL0aScale : Space::kL0bScale, false, -1, zero};
        const Expr at = exprs->Constant(half * (left ? stage_a : stage_b) / 16);
        add(&scales, left ? scale_a : scale_b, start, rows, pairs * kBlockBytes, pitch, false);
        add(&scales, shadow, at, 1, rows * pairs * kBlockBytes, 0, true);
        add(&multiply, shadow, at, 1, rows * pairs * kBlockBytes, 0, false);
      }
      issue(std::move(scales), "load of scales");
    }
    lock_part(Action::kUnlock, Pipe::kMte1, half);
    lock_part(Action::kLock, Pipe::kM, half);
    multiply.unit_flag = unit_flag;
    add(&multiply, l0a, exprs->Constant(half * stage_a), 1, stage_a, 0, false);
    add(&multiply, l0b, exprs->Constant(half * stage_b), 1, stage_b, 0, false);
    add(&multiply, c, zero, 1, m * n * kAccumulatorBytes, 0, true);
    issue(std::move(multiply), "multiplication");
    lock_part(Action::kUnlock, Pipe::kM, half);
  }
  return sequence;
}

}  // namespace tilelang_ascend_sched::verify
