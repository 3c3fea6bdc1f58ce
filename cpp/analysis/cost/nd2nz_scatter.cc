#include "analysis/cost/nd2nz_scatter.h"

#include <ascend/op/builtin.h>
#include <tvm/ffi/error.h>
#include <tvm/tirx/op.h>

#include "analysis/cost/cost.h"
#include "hw/transfer_cost.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;

namespace {

[[noreturn]] void Refuse(const CallNode* call, const char* what) {
  TVM_FFI_THROW(InternalError) << "ND->NZ scatter " << what << ": " << tvm::ffi::GetRef<Call>(call);
  throw;
}

int64_t CountOf(const CallNode* call, size_t arg) {
  const int64_t* count = as_const_int(call->args[arg]);
  if (count == nullptr) Refuse(call, "requires static shape and dtype arguments");
  if (*count <= 0) Refuse(call, "requires a shape that is not empty");
  return *count;
}

std::string TypeOf(const CallNode* call, size_t arg) {
  const auto* type = call->args[arg].as<StringImmNode>();
  if (type == nullptr) Refuse(call, "requires static shape and dtype arguments");
  return type->value;
}

const ScatterModel& ModelOf(const CallNode* call, const std::string& source,
                            const std::string& target, const VectorModel& vector) {
  if (source != "float" && source != "half" && source != "bfloat16_t") {
    Refuse(call, "takes float, half or bfloat16_t");
  }
  if (source == target) return vector.scatter_same;
  if (source == "bfloat16_t" && target == "float") return vector.scatter_widening;
  if (source == "float" && target == "bfloat16_t") return vector.scatter_narrowing;
  Refuse(call, "has an unsupported dtype conversion");
}

}  // namespace

bool IsScatter(const CallNode* call) { return call->op.same_as(tvm::tl::ascend_nd2nz_scatter()); }

int64_t ScatterCycles(const CallNode* call, const VectorModel& vector) {
  if (call->args.size() != 6) Refuse(call, "needs 6 arguments");
  const int64_t rows = CountOf(call, 2);
  const int64_t columns = CountOf(call, 3);
  const std::string source = TypeOf(call, 5);
  const ScatterModel& model = ModelOf(call, source, TypeOf(call, 4), vector);
  const int64_t element_bytes = source == "float" ? 4 : 2;
  const int64_t passes =
      CeilDiv(columns, std::max<int64_t>(vector.register_bytes / element_bytes, 1));
  const int64_t row_quarters = MultiplyCycles(MultiplyCycles(rows, passes), model.row_quarters);
  const int64_t pass_cycles = MultiplyCycles(passes, model.pass);
  const int64_t cycles = AddCycles(AddCycles(model.setup, pass_cycles), CeilDiv(row_quarters, 4));
  return std::max(model.min, cycles);
}

}  // namespace tilelang_ascend_sched
