#include "report/place.h"

#include <tvm/ir/op.h>
#include <tvm/tirx/expr.h>

#include "ir/attrs.h"
#include "report/error.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::Span;

namespace {

std::string NameOf(const tvm::PrimExpr& value) {
  const auto* call = value.as<CallNode>();
  const auto* op = call == nullptr ? nullptr : call->op.as<tvm::OpNode>();
  if (op == nullptr) return Text("`", value, "`");
  const std::string name = op->name;
  return Text("`", name.substr(name.rfind('.') + 1), "`");
}

std::string KindOf(const Stmt& stmt) {
  if (const auto* evaluate = stmt.as<EvaluateNode>()) return NameOf(evaluate->value);
  if (const auto* block = stmt.as<SBlockNode>()) return Text("the block ", block->name_hint);
  if (const auto* loop = stmt.as<ForNode>()) {
    if (loop->annotations.count(attrs::kSyntheticWhile) != 0) return "the `while` loop";
    return Text("the loop `", loop->loop_var->name_hint, "`");
  }
  if (const auto* branch = stmt.as<IfThenElseNode>()) {
    // NormalizeControlFlowForSchedule leaves a variable of its own.
    if (branch->condition.as<VarNode>()) return "an `if`";
    return Text("`if ", branch->condition, "`");
  }
  if (const auto* bind = stmt.as<BindNode>()) {
    return Text("the binding of `", bind->var->name_hint, "`");
  }
  if (const auto* store = stmt.as<BufferStoreNode>()) {
    return Text("the store to `", store->buffer->name, "`");
  }
  if (const auto* attribute = stmt.as<AttrStmtNode>()) return KindOf(attribute->body);
  if (const auto* sequence = stmt.as<SeqStmtNode>()) {
    return Text(KindOf(sequence->seq[0]), " and ", sequence->seq.size() - 1, " more");
  }
  return stmt->GetTypeKey();
}

// Sequences, and statements that passes made, have no place of their own.
Span SpanOf(const Stmt& stmt) {
  if (stmt->span.defined()) return stmt->span;
  if (const auto* sequence = stmt.as<SeqStmtNode>()) return SpanOf(sequence->seq[0]);
  if (const auto* attribute = stmt.as<AttrStmtNode>()) return SpanOf(attribute->body);
  if (const auto* branch = stmt.as<IfThenElseNode>()) return SpanOf(branch->then_case);
  if (const auto* evaluate = stmt.as<EvaluateNode>()) return evaluate->value->span;
  return Span();
}

}  // namespace

std::string Place(const Span& span) {
  if (!span.defined()) return "";
  return Text(" (", span->source_name->name, ":", span->line, ")");
}

std::string PlaceOf(const Stmt& stmt) { return Place(SpanOf(stmt)); }

std::string Brief(const Stmt& stmt) { return KindOf(stmt) + PlaceOf(stmt); }

}  // namespace tilelang_ascend_sched
