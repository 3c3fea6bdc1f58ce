// Flags, locks, barriers and what is no access at all.
#include "verify/decode_instruction.h"

#include <tvm/tirx/builtin.h>
#include <tvm/tirx/op.h>

#include <optional>
#include <utility>

#include "verify/decode_node.h"
#include "verify/decode_operand.h"

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::PrimExpr;

namespace {

std::optional<Pipe> PipeNamed(std::string name) {
  if (name.rfind("PIPE_", 0) == 0) name = name.substr(5);
  for (int i = 0; i < kPipes; ++i) {
    if (name == NameOf(static_cast<Pipe>(i))) return static_cast<Pipe>(i);
  }
  return std::nullopt;
}

Node* Flag(const CallNode* call, bool sets, Source source, ExprDecoder* exprs) {
  const std::string event = TextOf(call, 0);
  const size_t split = event.find('_');
  const auto set = PipeNamed(event.substr(0, split));
  const auto wait = PipeNamed(split == std::string::npos ? "" : event.substr(split + 1));
  source.text += "(" + event + ")";
  if (!set || !wait) return NotModelled(exprs->program(), "the event " + event, source);
  Instruction instruction{sets ? Action::kSetFlag : Action::kWaitFlag, sets ? *set : *wait};
  instruction.peer = sets ? *wait : *set;
  instruction.id = exprs->Compile(call->args[1]);
  return Issue(exprs->program(), std::move(instruction), source);
}

Node* CrossFlag(const CallNode* call, bool sets, Source source, ExprDecoder* exprs) {
  Program* program = exprs->program();
  const std::string name = TextOf(call, 1);
  const auto pipe = PipeNamed(name);
  source.text += "(" + name + ")";
  const std::optional<int64_t> mode = NumberOf(call->args[0]);
  if (mode != 0 && mode != 1 && mode != 2 && mode != 4) {
    const char* why = "a cross-core flag of another mode than 0, 1, 2 and 4";
    return NotModelled(program, why, source);
  }
  if (!pipe) return NotModelled(program, "a cross-core flag of pipe " + name, source);
  Instruction instruction{sets ? Action::kCrossSet : Action::kCrossWait, *pipe};
  instruction.scope = mode == 4   ? FlagScope::kOneCore
                      : mode == 2 ? FlagScope::kBlock
                      : mode == 1 ? FlagScope::kVectors
                                  : FlagScope::kAllBlocks;
  program->between_blocks = program->between_blocks || mode == 0;
  instruction.id = exprs->Compile(call->args[2]);
  return Issue(program, std::move(instruction), source);
}

Node* Lock(const CallNode* call, bool locks, Source source, ExprDecoder* exprs) {
  const std::string name = TextOf(call, 0);
  const auto pipe = PipeNamed(name);
  if (!pipe) return NotModelled(exprs->program(), "a lock of pipe " + name, source);
  source.text = (locks ? "lock(" : "unlock(") + name + ")";
  Instruction instruction{locks ? Action::kLock : Action::kUnlock, *pipe};
  instruction.blocking = NumberOf(call->args[2]) == 0;
  instruction.id = exprs->Compile(call->args[1]);
  return Issue(exprs->program(), std::move(instruction), source);
}

Node* Barrier(const CallNode* call, Source source, Program* program) {
  const std::string name = TextOf(call, 0);
  source.text = "pipe_barrier(" + name + ")";
  // TileLang prints one and the same `asc_sync()` for both.
  if (name == "PIPE_ALL" || name == "PIPE_S") {
    return Issue(program, {Action::kBarrierAll, Pipe::kS}, source);
  }
  const auto pipe = PipeNamed(name);
  if (!pipe) return NotModelled(program, "a barrier of " + name, source);
  return Issue(program, {Action::kBarrier, *pipe}, source);
}

// Settings of the core and checks of the user: they touch no memory that others see.
bool TouchesNothing(const std::string& name) {
  return name == "tl.ascend_set_copy_pad_value" || name == "tl.ascend_set_hf32_mode" ||
         name == "tl.ascend_set_mmad_direction" || name == "tl.ascend_threadfence" ||
         name == "tl.device_assert" || name == "tl.device_assert_with_msg";
}

}  // namespace

Node* DecodeInstruction(const CallNode* call, const Source& at, ExprDecoder* exprs) {
  Program* program = exprs->program();
  Source source = at;
  const auto* op = call->op.as<tvm::OpNode>();
  if (op == nullptr) return NotModelled(program, "a call of another function", source);
  const std::string name = op->name;
  const std::string short_name = name.substr(name.rfind('.') + 1);
  source.text = short_name.rfind("ascend_", 0) == 0 ? short_name.substr(7) : short_name;
  for (const bool sets : {true, false}) {
    const std::string what = sets ? "set_flag" : "wait_flag";
    if (name == "tl.ascend_" + what) return Flag(call, sets, source, exprs);
    if (name == "tl.ascend_cross_core_" + what) return CrossFlag(call, sets, source, exprs);
  }
  if (name == "tl.ascend_get_buf") return Lock(call, true, source, exprs);
  if (name == "tl.ascend_rls_buf") return Lock(call, false, source, exprs);
  if (name == "tl.ascend_pipe_barrier") return Barrier(call, source, program);
  if (name == "tl.ascend_gemm_l1") return DecodeGemm(call, false, source, exprs);
  if (name == "tl.ascend_blockscaled_gemm_l1") return DecodeGemm(call, true, source, exprs);
  if (name == "tl.loop_break" || call->op.same_as(builtin::break_loop())) {
    return program->Make(NodeKind::kBreak);
  }
  if (call->op.same_as(builtin::continue_loop())) return program->Make(NodeKind::kContinue);
  if (name == "tl.ascend_set_atomic") return program->Make(NodeKind::kAtomicOn);
  if (name == "tl.ascend_set_atomic_none") return program->Make(NodeKind::kAtomicOff);
  if (TouchesNothing(name)) {
    for (const PrimExpr& arg : call->args) {
      if (!arg.as<StringImmNode>()) exprs->Compile(arg);
    }
    return nullptr;
  }
  if (name == "tl.ascend_write_gm_bypass_dcache") {
    Pointer pointer;
    const Expr value = exprs->Compile(call->args[1]);
    if (exprs->Parse(call->args[0], &pointer)) {
      Instruction instruction{Action::kAccess, Pipe::kS};
      instruction.value = value;
      instruction.accesses.push_back(exprs->OneRow(pointer, pointer.extent, true));
      return Issue(program, std::move(instruction), source);
    }
  }
  if (call->op.same_as(builtin::call_extern())) {
    const std::string function = TextOf(call, 0);
    if (function == "debug_print_msg" || function == "debug_print_var") return nullptr;
    return NotModelled(program, "a call of " + function, source);
  }
  if (name.rfind("tl.ascend_", 0) == 0) return DecodeCopy(source.text, call, source, exprs);
  if (call->op.same_as(builtin::ret())) return nullptr;
  return NotModelled(program, "the intrinsic " + name, source);
}

}  // namespace tilelang_ascend_sched::verify
