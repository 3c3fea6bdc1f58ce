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

struct NamedPipes {
  std::string_view name;  // a trailing `*` stands for any ending
  PipeMask pipes;
};

// Calls whose work is on one pipe whatever their operands are.
constexpr NamedPipes kCalls[] = {
    {"tl.tileop.gemm", kCube},
    {"tl.tileop.gemm_blockscaled", kCube},
    {"tl.tileop.reduce", kVector},
    {"tl.tileop.finalize_reducer", kVector},
    {"tl.simd.*", kVector},
    {"tl.sync_warp", kVector},
    {"tl.ballot*", kVector},
    {"tl.activemask", kVector},
    {"tl.warp_reduce_*", kVector},
    {"tl.atomic_*", kVector},
    {"tl.rng_*", kVector},
    {"tl.ascend_nd2nz_scatter", kVector},
    {"tl.ascend_mad", kCube},
    {"tl.ascend_mad_mx", kCube},
    {"tl.ascend_gemm_l1", kMTE1 | kCube},
    {"tl.ascend_blockscaled_gemm_l1", kMTE1 | kCube},
    {"tl.ascend_copy_gm_to_ubuf", kMTE2},
    {"tl.ascend_copy_gm_to_cbuf", kMTE2},
    {"tl.ascend_fill_l1", kMTE2},
    {"tl.ascend_load_c*", kMTE1},
    {"tl.ascend_copy_matrix_cc_to_*", kFixpipe},
    {"tl.ascend_copy_ubuf_to_*", kMTE3},
    {"tl.ascend_nd2nz_post_copy", kMTE3},
    {"tl.ascend_set_copy_pad_value", kScalar},
    {"tl.ascend_set_hf32_mode", kScalar},
    {"tl.ascend_set_mmad_direction", kScalar},
    {"tl.ascend_set_atomic*", kScalar},
    {"tl.ascend_threadfence", kScalar},
    {"tl.ascend_read_gm_bypass_dcache", kScalar},
    {"tl.ascend_write_gm_bypass_dcache", kScalar},
    {"tl.loop_break", kScalar},
    {"tl.device_assert*", kScalar},
};

// Printing, which TileLang calls as external functions.
constexpr NamedPipes kExternals[] = {
    {"debug_print_msg", kScalar},
    {"debug_print_var", kScalar},
    {"debug_print_buffer_value", kScalar},
    {"debug_print_global_buffer_dump", kMTE3},
};

constexpr std::array<std::string_view, 6> kStateWrites = {
    "tl.loop_break",
    "tl.ascend_set_hf32_mode",
    "tl.ascend_set_mmad_direction",
    "tl.ascend_set_copy_pad_value",
    "tl.ascend_set_atomic",
    "tl.ascend_set_atomic_none",
};

template <size_t n>
PipeMask Find(const NamedPipes (&table)[n], std::string_view name) {
  for (const NamedPipes& entry : table) {
    const bool prefix = entry.name.back() == '*';
    const std::string_view stem = entry.name.substr(0, entry.name.size() - (prefix ? 1 : 0));
    if (prefix ? name.starts_with(stem) : name == stem) return entry.pipes;
  }
  return 0;
}

std::string_view NameOf(const CallNode* call) {
  const auto* op = call->op.as<tvm::OpNode>();
  return op == nullptr ? std::string_view() : std::string_view(op->name.data(), op->name.size());
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

PipeMask CallPipes(const CallNode* call, const Machine& machine) {
  if (const auto copy = AsCopy(call)) {
    return CopyPipes(ScopeOf(copy->from), ScopeOf(copy->to), machine);
  }
  const std::string_view name = NameOf(call);
  if (name == "tl.tileop.fill") {
    // Fills outside of Vector bodies are scalar stores, but for those that L1's own engine makes.
    const bool in_l1 = ScopeOf(OperandBuffer(call, 0)) == Scope::kL1;
    return in_l1 ? PipeMask{kMTE2} : PipeMask{kScalar};
  }
  if (call->op.same_as(builtin::call_extern()) && !call->args.empty()) {
    const auto* symbol = call->args[0].as<StringImmNode>();
    if (symbol == nullptr) return 0;
    const std::string_view external(symbol->value.data(), symbol->value.size());
    return external == "debug_print_buffer_dump" ? DumpPipes(call) : Find(kExternals, external);
  }
  return Find(kCalls, name);
}

PipeMask BlockPipes(const SBlockNode* block) {
  const bool vector = block->name_hint == "VECTOR" || block->name_hint == "SIMT_VF" ||
                      block->name_hint == "SIMD_VF";
  return vector ? PipeMask{kVector} : PipeMask{0};
}

PortMask CopyPorts(Scope from, Scope to, const Machine& machine) {
  const std::optional<Route> route = FindRoute(from, to);
  return route.has_value() ? machine.transfer(*route).ports : PortMask{0};
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
