#include "analysis/call_pipes.h"

#include <op/utils.h>
#include <tvm/ir/op.h>
#include <tvm/tirx/builtin.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

// Operations whose pipe depends on the memory of an operand.
constexpr std::string_view kFill = "tl.tileop.fill";
constexpr std::string_view kBufferDump = "extern debug_print_buffer_dump";

constexpr std::array<std::string_view, 6> kStateWrites = {
    "tl.loop_break",
    "tl.ascend_set_hf32_mode",
    "tl.ascend_set_mmad_direction",
    "tl.ascend_set_copy_pad_value",
    "tl.ascend_set_atomic",
    "tl.ascend_set_atomic_none",
};

std::string_view NameOf(const CallNode* call) {
  const auto* op = call->op.as<tvm::OpNode>();
  return op == nullptr ? std::string_view() : std::string_view(op->name.data(), op->name.size());
}

// The function that an external call names, if it does.
const StringImmNode* ExternalSymbol(const CallNode* call) {
  const bool external =
      call->op.same_as(builtin::call_extern()) || call->op.same_as(builtin::call_pure_extern());
  return external && !call->args.empty() ? call->args[0].as<StringImmNode>() : nullptr;
}

Buffer OperandBuffer(const CallNode* call, size_t arg) {
  return tvm::tl::NormalizeToBufferRegion(call->args[arg])->buffer;
}

Scope ScopeOf(const Buffer& buffer) { return ParseScope(std::string(buffer.scope())); }

// A copy that no engine makes is elementwise work.
PipeMask CopyPipes(Scope from, Scope to, const Machine& machine) {
  const std::optional<Route> route = FindRoute(from, to);
  return route.has_value() ? machine.transfer(*route).pipe : kVector;
}

// A dump of a whole buffer runs where the buffer is; its fourth operand names an element of it.
PipeMask DumpPipes(const CallNode* call) {
  if (call->args.size() < 4) return 0;
  const auto* scope = call->args[3].as<CallNode>();
  const auto* load = scope && !scope->args.empty() ? scope->args[0].as<BufferLoadNode>() : nullptr;
  if (load == nullptr) return 0;
  return ScopeOf(load->buffer) == Scope::kUB ? PipeMask{kVector} : PipeMask{kCube};
}

}  // namespace

std::optional<CopyEnds> AsCopy(const CallNode* call) {
  const std::string_view name = NameOf(call);
  if (name != "tl.tileop.ascend_copy" && name != "tl.tileop.copy") return std::nullopt;
  return CopyEnds{OperandBuffer(call, 0), OperandBuffer(call, 1)};
}

std::string OperationName(const CallNode* call) {
  if (const auto* symbol = ExternalSymbol(call)) return "extern " + std::string(symbol->value);
  const std::string_view name = NameOf(call);
  return name.empty() ? "a function" : std::string(name);
}

PipeMask CallPipes(const CallNode* call, const Machine& machine) {
  if (const auto copy = AsCopy(call)) {
    return CopyPipes(ScopeOf(copy->from), ScopeOf(copy->to), machine);
  }
  const std::string name = OperationName(call);
  if (name == kFill) {
    // Fills outside of Vector bodies are scalar stores, but for those that L1's own engine makes.
    if (ScopeOf(OperandBuffer(call, 0)) != Scope::kL1) return kScalar;
    return machine.transfer(Route::kGmToL1).pipe;
  }
  if (name == kBufferDump) return DumpPipes(call);
  const OperationModel* operation = machine.operation(name);
  return operation == nullptr ? PipeMask{0} : operation->pipes;
}

PortMask CallPorts(const CallNode* call, const Machine& machine) {
  if (const auto copy = AsCopy(call)) {
    const std::optional<Route> route = FindRoute(ScopeOf(copy->from), ScopeOf(copy->to));
    return route.has_value() ? machine.transfer(*route).ports : PortMask{0};
  }
  const OperationModel* operation = machine.operation(OperationName(call));
  return operation == nullptr ? PortMask{0} : operation->ports;
}

bool IsKnownOperation(const CallNode* call, const Machine& machine) {
  const std::string name = OperationName(call);
  return AsCopy(call).has_value() || name == kFill || name == kBufferDump ||
         machine.operation(name) != nullptr;
}

PipeMask BlockPipes(const SBlockNode* block) {
  const bool vector = block->name_hint == "VECTOR" || block->name_hint == "SIMT_VF" ||
                      block->name_hint == "SIMD_VF";
  return vector ? PipeMask{kVector} : PipeMask{0};
}

bool IsCrossCoreSync(const CallNode* call) {
  const std::string_view name = NameOf(call);
  return name == "tl.ascend_cross_core_set_flag" || name == "tl.ascend_cross_core_wait_flag";
}

bool WritesCoreState(const CallNode* call) {
  const std::string_view name = NameOf(call);
  return IsCrossCoreSync(call) ||
         std::find(kStateWrites.begin(), kStateWrites.end(), name) != kStateWrites.end();
}

}  // namespace tilelang_ascend_sched
