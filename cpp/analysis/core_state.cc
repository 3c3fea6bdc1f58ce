#include "analysis/core_state.h"

#include <ascend/op/builtin.h>
#include <tvm/ir/op.h>
#include <tvm/tirx/builtin.h>

#include <string_view>

#include "analysis/call_pipes.h"
#include "analysis/l1_gemm.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

constexpr const char* kHf32 = "hf32 mode";
constexpr const char* kDirection = "mmad direction";
constexpr const char* kPadValue = "pad value";
constexpr const char* kAtomic = "atomic mode";
constexpr const char* kExternal = "external calls";

struct NamedUse {
  std::string_view call;
  const char* state;
  bool write;
};

constexpr NamedUse kUses[] = {
    {"tl.loop_break", kLoopExit, true},
    {"tl.ascend_set_hf32_mode", kHf32, true},
    {"tl.ascend_set_mmad_direction", kDirection, true},
    {"tl.ascend_set_copy_pad_value", kPadValue, true},
    {"tl.ascend_set_atomic", kAtomic, true},
    {"tl.ascend_set_atomic_none", kAtomic, true},
    {"tl.ascend_get_buf", kLocks, true},
    {"tl.ascend_rls_buf", kLocks, true},
    {"tl.ascend_copy_gm_to_ubuf", kPadValue, false},
    {"tl.ascend_copy_gm_to_cbuf", kPadValue, false},
    {"tl.ascend_copy_ubuf_to_gm", kAtomic, false},
    {"tl.ascend_copy_matrix_cc_to_gm", kAtomic, false},
};

void AddOrders(PipeMask pipes, bool write, std::vector<StateUse>* uses) {
  for (const Pipe pipe : kPipes) {
    if ((pipes & pipe) != 0) uses->push_back({OrderOf(pipe), write});
  }
}

std::string TextArg(const CallNode* call, size_t arg) {
  const auto* text = arg < call->args.size() ? call->args[arg].as<StringImmNode>() : nullptr;
  return text == nullptr ? std::string() : std::string(text->value);
}

// The pipe on which a call that synchronizes stands; all pipes where that is not known.
PipeMask SyncPipes(const CallNode* call, std::string_view name) {
  const std::string first = TextArg(call, 0);
  const size_t split = first.find('_');
  auto parse = [](std::string_view text) { return ParsePipe(text).value_or(kAllPipes); };
  if (name == "tl.ascend_set_flag") return parse(first.substr(0, split));
  if (name == "tl.ascend_wait_flag") {
    return split == std::string::npos ? kAllPipes : parse(first.substr(split + 1));
  }
  if (name == "tl.ascend_get_buf" || name == "tl.ascend_rls_buf" ||
      name == "tl.ascend_pipe_barrier") {
    return parse(first);
  }
  if (IsCrossCoreSync(call)) return parse(TextArg(call, 1));
  if (name == "tl.ascend_threadfence") return kAllPipes;
  return 0;
}

void AddCopyStates(const CallNode* call, const CopyEnds& copy, std::vector<StateUse>* uses) {
  const auto select = call->annotations.Get("data_select");
  const auto* padded = select.has_value() ? select.value().as<tvm::IntImmNode>() : nullptr;
  if (padded != nullptr && padded->value != 0) uses->push_back({kPadValue, false});
  if (ParseScope(std::string(copy.to.scope())) == Scope::kGlobal) uses->push_back({kAtomic, false});
}

}  // namespace

std::string OrderOf(Pipe pipe) { return "order of " + PipeName(pipe); }

std::vector<StateUse> StatesOf(const CallNode* call) {
  std::vector<StateUse> uses;
  const auto* op = call->op.as<tvm::OpNode>();
  if (op == nullptr) return {{kExternal, true}};
  const std::string_view name(op->name.data(), op->name.size());
  for (const NamedUse& use : kUses) {
    if (use.call == name) uses.push_back({use.state, use.write});
  }
  if (name == "tl.ascend_set_flag" || name == "tl.ascend_wait_flag") {
    uses.push_back({"flags " + TextArg(call, 0), true});
  }
  AddOrders(SyncPipes(call, name), /*write=*/true, &uses);
  if (const auto copy = AsCopy(call)) AddCopyStates(call, *copy, &uses);
  if (call->op.same_as(builtin::call_extern())) uses.push_back({kExternal, true});
  return uses;
}

std::vector<StateUse> StatesUnder(PipeMask pipes) {
  std::vector<StateUse> uses;
  AddOrders(pipes, /*write=*/false, &uses);
  if ((pipes & kCube) != 0) {
    uses.push_back({kHf32, false});
    uses.push_back({kDirection, false});
  }
  return uses;
}

}  // namespace tilelang_ascend_sched
