#include "verify/decode_stmt.h"

#include <algorithm>
#include <utility>

#include "verify/decode_instruction.h"
#include "verify/decode_node.h"

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::IntImmNode;

namespace {

Source At(const StmtNode* stmt, const std::string& text) {
  Source source;
  source.text = text;
  const tvm::Span& span = stmt->span;
  if (span.defined()) {
    if (span->source_name.defined()) source.file = span->source_name->name;
    source.line = span->line;
  }
  return source;
}

// Whether some instruction below a node may write what another one reads, by way of the same
// buffer.
bool MayWrite(const Node* node, const AccessPattern& read) {
  const auto same = [](int one, int other) { return one < 0 || other < 0 || one == other; };
  for (const AccessPattern& access : node->instruction.accesses) {
    if (!access.writes || access.space != read.space) continue;
    if (same(access.tensor, read.tensor) && same(access.buffer, read.buffer)) return true;
  }
  return std::any_of(node->children.begin(), node->children.end(),
                     [&](const Node* child) { return MayWrite(child, read); });
}

// Whether it makes a difference to what is issued that `node` runs. What only sets variables may be
// done without a decision, or left out.
bool Matters(const Node* node, bool in_loop) {
  switch (node->kind) {
    case NodeKind::kInstruction:
    case NodeKind::kAtomicOn:
    case NodeKind::kAtomicOff:
    case NodeKind::kNotModelled:
      return true;
    case NodeKind::kBreak:
    case NodeKind::kContinue:
      return !in_loop;
    default:
      break;
  }
  in_loop = in_loop || node->kind == NodeKind::kFor || node->kind == NodeKind::kWhile;
  return std::any_of(node->children.begin(), node->children.end(),
                     [&](const Node* child) { return Matters(child, in_loop); });
}

// Whether it makes a difference to what is issued how often a loop turns. If not, nothing in its
// body is a decision.
bool LoopDecides(Node* body) {
  if (Matters(body, true)) return true;
  std::vector<Node*> inside = {body};
  for (size_t i = 0; i < inside.size(); ++i) {
    inside[i]->decides = false;
    const std::vector<Node*>& children = inside[i]->children;
    inside.insert(inside.end(), children.begin(), children.end());
  }
  return false;
}

}  // namespace

Node* StmtDecoder::VisitStmtDefault_(const tvm::ffi::Object* stmt) {
  return NotModelled(program_, "statement " + std::string(stmt->GetTypeKey()),
                     At(static_cast<const StmtNode*>(stmt), ""));
}

// Puts the memory reads of a statement's expressions in front of it. A decision and an instruction
// need what is read, so it is `awaited`; a variable only keeps it, and what is read on a side of a
// decision is needed only where that side counts.
Node* StmtDecoder::After(std::vector<Node*> reads, Node* node, bool awaited) {
  if (reads.empty()) return node;
  for (Node* read : reads) {
    read->instruction.awaited = awaited && !read->instruction.on_side;
    if (node == nullptr) continue;
    read->instruction.source.file = node->source.file;
    read->instruction.source.line = node->source.line;
  }
  Node* sequence = program_->Make(NodeKind::kSequence);
  sequence->children = std::move(reads);
  if (node != nullptr) sequence->children.push_back(node);
  return sequence;
}

Node* StmtDecoder::VisitStmt_(const SeqStmtNode* sequence) {
  Node* node = program_->Make(NodeKind::kSequence);
  for (const Stmt& stmt : sequence->seq) {
    if (Node* child = Decode(stmt)) node->children.push_back(child);
  }
  return node;
}

Node* StmtDecoder::VisitStmt_(const ForNode* loop) {
  Node* node = program_->Make(NodeKind::kFor);
  node->source = At(loop, "for");
  node->name = loop->loop_var->name_hint;
  node->staged = loop->annotations.count("enable_offset") != 0;
  node->minimum = exprs_.Compile(loop->min);
  std::vector<Node*> reads = exprs_.TakeReads();
  node->value = exprs_.Compile(loop->extent);
  const std::vector<Node*> each_turn = exprs_.TakeReads();
  exprs_.Enter(node);
  node->slot = exprs_.SlotOf(loop->loop_var.get(), SlotKind::kLoop);
  program_->slots[node->slot].definition = node;
  Node* body = Decode(loop->body);
  exprs_.Leave();
  node->decides = body != nullptr && LoopDecides(body);
  Node* again = ReadAgain(each_turn, body, *node);
  if (body == nullptr && again != nullptr) body = program_->Make(NodeKind::kSequence);
  for (Node* child : {body, again}) {
    if (child != nullptr) node->children.push_back(child);
  }
  reads.insert(reads.end(), each_turn.begin(), each_turn.end());
  return After(std::move(reads), node, node->decides);
}

// Generated code compares with the extent again after each turn: what its reads then do, if there
// are any.
Node* StmtDecoder::ReadAgain(const std::vector<Node*>& reads, const Node* body, const Node& loop) {
  Node* again = program_->Make(NodeKind::kSequence);
  for (const Node* read : reads) {
    if (read->kind != NodeKind::kInstruction) continue;
    if (body != nullptr && MayWrite(body, read->instruction.accesses.front())) {
      again->children.push_back(
          NotModelled(program_, "a loop that may write its own length", loop.source));
    }
    again->children.push_back(Issue(program_, read->instruction, read->source));
    again->children.back()->instruction.awaited = loop.decides && !read->instruction.on_side;
  }
  return again->children.empty() ? nullptr : again;
}

Node* StmtDecoder::VisitStmt_(const WhileNode* loop) {
  Node* node = program_->Make(NodeKind::kWhile);
  node->source = At(loop, "while");
  exprs_.Enter(node);
  node->value = exprs_.Compile(loop->condition);
  std::vector<Node*> each_turn = exprs_.TakeReads();
  Node* body = Decode(loop->body);
  exprs_.Leave();
  node->children.push_back(body != nullptr ? body : program_->Make(NodeKind::kSequence));
  node->decides = LoopDecides(node->children.front());
  // The condition is read again at each turn.
  Node* reads = After(std::move(each_turn), nullptr, node->decides);
  if (reads != nullptr) node->children.push_back(reads);
  return node;
}

Node* StmtDecoder::VisitStmt_(const IfThenElseNode* branch) {
  Node* node = program_->Make(NodeKind::kIf);
  node->source = At(branch, "if");
  node->value = exprs_.Compile(branch->condition);
  std::vector<Node*> reads = exprs_.TakeReads();
  Node* then_case = Decode(branch->then_case);
  node->children.push_back(then_case != nullptr ? then_case : program_->Make(NodeKind::kSequence));
  if (branch->else_case.has_value()) {
    if (Node* else_case = Decode(branch->else_case.value())) node->children.push_back(else_case);
  }
  node->decides = Matters(node, false);
  return After(std::move(reads), node, node->decides);
}

Node* StmtDecoder::VisitStmt_(const BufferStoreNode* store) {
  const std::string scope = store->buffer.scope();
  const Source source = At(store, "store to " + std::string(store->buffer->name));
  if (scope.rfind("local", 0) == 0) {
    const auto* index = store->indices.size() == 1 ? store->indices[0].as<IntImmNode>() : nullptr;
    if (index == nullptr || index->value != 0) {
      // What it keeps is not followed, only read.
      exprs_.Compile(store->value);
      return AfterReads(nullptr, false);
    }
    Node* node = program_->Make(NodeKind::kAssign);
    node->slot = exprs_.SlotOf(store->buffer->data.get(), SlotKind::kMutable);
    node->value = exprs_.Compile(store->value);
    node->source = source;
    return AfterReads(node, false);
  }
  const Expr value = exprs_.Compile(store->value);
  Pointer pointer;
  const BufferLoad target(store->buffer, store->indices);
  if (!exprs_.AddressOf(target.get(), &pointer)) {
    return AfterReads(NotModelled(program_, "a store to scope " + scope, source));
  }
  pointer.buffer = exprs_.BufferOf(store);
  Instruction instruction{Action::kAccess, Pipe::kS};
  instruction.value = value;
  instruction.accesses.push_back(exprs_.OneRow(pointer, pointer.extent, true));
  return AfterReads(Issue(program_, std::move(instruction), source));
}

Node* StmtDecoder::VisitStmt_(const BindNode* bind) {
  if (bind->var.dtype().is_handle()) return nullptr;
  Node* node = program_->Make(NodeKind::kAssign);
  node->source = At(bind, "let " + std::string(bind->var->name_hint));
  node->value = exprs_.Compile(bind->value);
  node->slot = exprs_.SlotOf(bind->var.get(), SlotKind::kBound);
  program_->slots[node->slot].definition = node;
  return AfterReads(node, false);
}

Node* StmtDecoder::VisitStmt_(const AttrStmtNode* attr) {
  const auto* axis = attr->node.as<IterVarNode>();
  if (attr->attr_key == tvm::tirx::attr::thread_extent && axis != nullptr) {
    const std::string tag = axis->thread_tag;
    if (tag == "cthread") {
      // Every core starts with its number in this slot.
      exprs_.DeclareSlot(axis->var, kSubBlockSlot);
    } else if (tag.rfind("blockIdx", 0) != 0) {
      exprs_.DeclareExpr(axis->var, exprs_.Constant(0));
    }
  }
  return Decode(attr->body);
}

Node* StmtDecoder::VisitStmt_(const SBlockRealizeNode* realize) { return Decode(realize->block); }

Node* StmtDecoder::VisitStmt_(const SBlockNode* block) {
  const std::string name = block->name_hint;
  if (name == (cube_ ? kVectorBlock : kCubeBlock)) return nullptr;
  if (name == kSimtBlock || name == kSimdBlock) {
    const Source source = At(block, name == kSimtBlock ? "SimtVF region" : "SimdVF region");
    return AfterReads(DecodeVector(block->body, source, moved_, &exprs_));
  }
  Node* body = Decode(block->body);
  if (body != nullptr && body->kind == NodeKind::kSequence) body->source = At(block, "block");
  return body;
}

Node* StmtDecoder::VisitStmt_(const EvaluateNode* evaluate) {
  const auto* call = evaluate->value.as<CallNode>();
  if (call == nullptr) return nullptr;
  return AfterReads(DecodeInstruction(call, At(evaluate, ""), &exprs_));
}

}  // namespace tilelang_ascend_sched::verify
