// The pass-config keys of the plugin. TVM checks their types and refuses keys that are not listed
// here; what values they take is checked where they are read.

#include <tvm/ir/transform.h>

namespace tilelang_ascend_sched {

using tvm::Bool;
using tvm::Integer;
using tvm::ffi::String;

TVM_REGISTER_PASS_CONFIG_OPTION("tl.ascend_sched.strict", Bool);
TVM_REGISTER_PASS_CONFIG_OPTION("tl.ascend_sched.passes", String);
TVM_REGISTER_PASS_CONFIG_OPTION("tl.ascend_sched.verify", String);
TVM_REGISTER_PASS_CONFIG_OPTION("tl.ascend_sched.hardware", String);
TVM_REGISTER_PASS_CONFIG_OPTION("tl.ascend_sched.engine", String);
TVM_REGISTER_PASS_CONFIG_OPTION("tl.ascend_sched.objective", String);
TVM_REGISTER_PASS_CONFIG_OPTION("tl.ascend_sched.budget", Integer);
TVM_REGISTER_PASS_CONFIG_OPTION("tl.ascend_sched.seed", Integer);
TVM_REGISTER_PASS_CONFIG_OPTION("tl.ascend_sched.report", String);

}  // namespace tilelang_ascend_sched
