#include "report/place.h"

#include "report/error.h"

namespace tilelang_ascend_sched {

std::string Place(const tvm::Span& span) {
  if (!span.defined()) return "";
  return Text(" (", span->source_name->name, ":", span->line, ")");
}

}  // namespace tilelang_ascend_sched
