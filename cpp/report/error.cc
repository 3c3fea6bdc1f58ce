#include "report/error.h"

#include <tvm/ffi/error.h>

namespace tilelang_ascend_sched {

void Fail(const std::string& pass, const std::string& message) {
  // Thrown by hand: the throwing macro puts the text of a condition before the message.
  throw tvm::ffi::Error("InternalError", pass + ": " + message,
                        TVMFFIBacktrace(__FILE__, __LINE__, __func__, 0));
}

}  // namespace tilelang_ascend_sched
