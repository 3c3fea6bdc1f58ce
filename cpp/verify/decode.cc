#include "verify/decode.h"

#include <tvm/tirx/builtin.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::IntImmNode;
using tvm::PrimExpr;
using tvm::ffi::GetRef;

namespace {

constexpr const char* kCube = "CUBE";
constexpr const char* kVector = "VECTOR";

struct Layout {
  bool cube = false;
  bool vector = false;
  bool simt = false;
  int vector_count = 2;
};

// Which cores have code. TileLang marks a core's code by a block; a kernel without such blocks runs
// on the Cube if it multiplies matrices, else on one Vector core.
Layout FindCores(const Stmt& body) {
  Layout layout;
  bool marked = false, multiplies = false;
  PostOrderVisit(body, [&](const tvm::ffi::ObjectRef& node) {
    if (const auto* block = node.as<SBlockNode>()) {
      if (block->name_hint == kCube) layout.cube = marked = true;
      if (block->name_hint == kVector) {
        layout.vector = marked = true;
        if (auto count = block->annotations.Get("vector_count")) {
          if (const auto* number = count.value().as<IntImmNode>()) {
            layout.vector_count = static_cast<int>(number->value);
          }
        }
      }
      if (block->name_hint == "SIMT_VF") layout.simt = true;
    } else if (const auto* call = node.as<CallNode>()) {
      if (const auto* op = call->op.as<tvm::OpNode>()) {
        const std::string name = op->name;
        multiplies = multiplies || name.find("gemm_l1") != std::string::npos ||
                     name.rfind("tl.ascend_mad", 0) == 0 || name == "tl.ascend_nd2nz_post_copy";
      }
    }
  });
  if (!marked) (multiplies ? layout.cube : layout.vector) = true;
  return layout;
}

// Tensors that some instruction or store may write.
std::set<const VarNode*> FindWritten(const Stmt& body) {
  std::set<const VarNode*> written;
  PostOrderVisit(body, [&](const tvm::ffi::ObjectRef& node) {
    if (const auto* store = node.as<BufferStoreNode>()) {
      written.insert(store->buffer->data.get());
    } else if (const auto* call = node.as<CallNode>()) {
      if (call->op.same_as(builtin::tvm_access_ptr())) {
        const auto* mask = call->args[4].as<IntImmNode>();
        if (mask == nullptr || (mask->value & 2) != 0) {
          written.insert(call->args[1].as<VarNode>());
        }
      } else if (call->op.same_as(builtin::address_of())) {
        // Handed to a function: what it does with the address is not seen here.
        if (const auto* load = call->args[0].as<BufferLoadNode>()) {
          written.insert(load->buffer->data.get());
        }
      }
    }
  });
  return written;
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

}  // namespace

Program Decode(const PrimFunc& kernel, const Buffers& buffers, const Chip& chip) {
  Program program;
  program.chip = chip;
  program.buffers = buffers.all;
  program.shared_buffers = buffers.shared;
  program.kernel = kernel->GetAttr<tvm::ffi::String>(tvm::attr::kGlobalSymbol, "kernel").value();
  const Layout layout = FindCores(kernel->body);
  program.has_simt = layout.simt;
  const std::set<const VarNode*> written = FindWritten(kernel->body);
  std::vector<std::pair<Var, int>> tensors;
  std::vector<std::pair<Var, Value>> inputs;
  for (const Var& param : kernel->params) {
    if (param->dtype.is_handle()) {
      tensors.push_back({param, static_cast<int>(program.tensors.size())});
      const auto* type = param->type_annotation.as<tvm::PointerTypeNode>();
      const auto* element = type ? type->element_type.as<tvm::PrimTypeNode>() : nullptr;
      const int64_t bytes = element == nullptr ? 1 : element->dtype.bytes();
      program.tensors.push_back(
          {param->name_hint, written.count(param.get()) != 0, std::max<int64_t>(bytes, 1)});
    } else {
      Value value;
      value.terms.push_back({program.symbols.Input(param->name_hint, {0, INT32_MAX}), 1});
      inputs.push_back({param, value});
    }
  }
  // Launch variables are the same on all cores of a block.
  PostOrderVisit(kernel->body, [&](const tvm::ffi::ObjectRef& node) {
    const auto* attr = node.as<AttrStmtNode>();
    if (attr == nullptr || attr->attr_key != tvm::tirx::attr::thread_extent) return;
    const auto* axis = attr->node.as<IterVarNode>();
    const std::string tag = axis == nullptr ? "" : std::string(axis->thread_tag);
    if (tag.rfind("blockIdx", 0) != 0) return;
    const auto* extent = attr->value.as<IntImmNode>();
    const Range range = {0, extent == nullptr ? INT32_MAX : extent->value - 1};
    Value value;
    if (range.high > 0)
      value.terms.push_back({program.symbols.Input(axis->var->name_hint, range), 1});
    inputs.push_back({axis->var, value});
  });

  for (const bool cube : {true, false}) {
    if (!(cube ? layout.cube : layout.vector)) continue;
    Decoder decoder(&program, buffers, cube);
    for (const auto& [param, tensor] : tensors) decoder.DeclareTensor(param, tensor);
    for (const auto& [var, value] : inputs) decoder.DeclareSymbol(var, value);
    decoder.FindPointers(kernel->body);
    Node* body = decoder.Statement(kernel->body);
    if (cube) {
      program.cores[0] = {true, body};
      continue;
    }
    program.cores[1] = {true, body};
    if (layout.cube && layout.vector_count == 2) program.cores[2] = {true, body};
  }
  return program;
}

void Decoder::FindPointers(const Stmt& body) {
  PostOrderVisit(body, [&](const tvm::ffi::ObjectRef& node) {
    const auto* store = node.as<BufferStoreNode>();
    if (store == nullptr || !store->value.dtype().is_handle()) return;
    const auto* call = store->value.as<CallNode>();
    const auto* op = call == nullptr ? nullptr : call->op.as<tvm::OpNode>();
    if (op != nullptr && std::string(op->name).rfind("tl.simd.", 0) == 0) return;
    pointers_[store->buffer->data.get()].push_back(store->value);
  });
}

Source Decoder::At(const tvm::ffi::ObjectRef& node, const std::string& text) const {
  Source source;
  source.text = text;
  tvm::Span span;
  if (const auto* stmt = node.as<StmtNode>()) span = stmt->span;
  if (const auto* call = node.as<CallNode>()) span = call->span;
  if (span.defined()) {
    if (span->source_name.defined()) source.file = span->source_name->name;
    source.line = span->line;
  }
  return source;
}

Node* Decoder::NotModelled(const std::string& why, const Source& source) {
  Node* node = program_.Make(NodeKind::kNotModelled);
  node->name = why;
  node->source = source;
  return node;
}

Node* Decoder::Sequence(const tvm::ffi::Array<Stmt>& stmts) {
  Node* sequence = program_.Make(NodeKind::kSequence);
  for (const Stmt& stmt : stmts) {
    Node* node = Statement(stmt);
    if (node != nullptr) sequence->children.push_back(node);
  }
  return sequence;
}

// Puts the memory reads of a statement's expressions in front of it. A decision and an instruction
// need what is read; a variable only keeps it.
Node* Decoder::AfterReads(Node* node) {
  if (reads_.empty()) return node;
  for (Node* read : reads_) {
    read->instruction.awaited = node == nullptr || node->kind != NodeKind::kAssign;
    if (node == nullptr) continue;
    read->instruction.source.file = node->source.file;
    read->instruction.source.line = node->source.line;
  }
  Node* sequence = program_.Make(NodeKind::kSequence);
  sequence->children = std::move(reads_);
  reads_.clear();
  if (node != nullptr) sequence->children.push_back(node);
  return sequence;
}

Node* Decoder::Statement(const Stmt& stmt) {
  if (const auto* sequence = stmt.as<SeqStmtNode>()) return Sequence(sequence->seq);
  if (const auto* loop = stmt.as<ForNode>()) return Loop(loop);
  if (const auto* loop = stmt.as<WhileNode>()) return Repeat(loop);
  if (const auto* branch = stmt.as<IfThenElseNode>()) return Branch(branch);
  if (const auto* store = stmt.as<BufferStoreNode>()) return Store(store);
  if (const auto* bind = stmt.as<BindNode>()) return Bound(bind);
  if (const auto* attr = stmt.as<AttrStmtNode>()) return Attribute(attr);
  if (const auto* realize = stmt.as<SBlockRealizeNode>()) return Statement(realize->block);
  if (const auto* block = stmt.as<SBlockNode>()) return Block(block);
  if (stmt.as<DeclBufferNode>() || stmt.as<AllocBufferNode>()) return nullptr;
  if (const auto* evaluate = stmt.as<EvaluateNode>()) {
    if (const auto* call = evaluate->value.as<CallNode>()) {
      return AfterReads(Call(call, At(stmt, "")));
    }
    return nullptr;
  }
  if (stmt.as<AssertStmtNode>()) return nullptr;
  return NotModelled(std::string("statement ") + stmt->GetTypeKey(), At(stmt, ""));
}

Node* Decoder::Loop(const ForNode* loop) {
  Node* node = program_.Make(NodeKind::kFor);
  node->source = At(GetRef<Stmt>(loop), "for");
  node->name = loop->loop_var->name_hint;
  node->staged = loop->annotations.count("enable_offset") != 0;
  node->minimum = Compile(loop->min);
  const size_t once = reads_.size();
  node->value = Compile(loop->extent);
  std::vector<Node*> reads = std::move(reads_);
  reads_.clear();
  loops_.push_back(node);
  node->slot = SlotOf(loop->loop_var.get(), SlotKind::kLoop);
  program_.slots[node->slot].definition = node;
  Node* body = Statement(loop->body);
  loops_.pop_back();
  if (body != nullptr) node->children.push_back(body);
  // Generated code compares with the extent again after each turn.
  Node* again = program_.Make(NodeKind::kSequence);
  for (size_t i = once; i < reads.size(); ++i) {
    const Node* read = reads[i];
    if (read->kind != NodeKind::kInstruction) continue;
    if (body != nullptr && MayWrite(body, read->instruction.accesses.front())) {
      again->children.push_back(NotModelled("a loop that may write its own length", node->source));
    }
    again->children.push_back(Issue(read->instruction, read->source));
    again->children.back()->instruction.awaited = true;
  }
  if (!again->children.empty()) {
    if (body == nullptr) node->children.push_back(program_.Make(NodeKind::kSequence));
    node->children.push_back(again);
  }
  reads_ = std::move(reads);
  return AfterReads(node);
}

Node* Decoder::Repeat(const WhileNode* loop) {
  Node* node = program_.Make(NodeKind::kWhile);
  node->source = At(GetRef<Stmt>(loop), "while");
  loops_.push_back(node);
  node->value = Compile(loop->condition);
  // The condition is read again at each turn.
  Node* reads = AfterReads(nullptr);
  Node* body = Statement(loop->body);
  loops_.pop_back();
  node->children.push_back(body != nullptr ? body : program_.Make(NodeKind::kSequence));
  if (reads != nullptr) node->children.push_back(reads);
  return node;
}

Node* Decoder::Branch(const IfThenElseNode* branch) {
  Node* node = program_.Make(NodeKind::kIf);
  node->source = At(GetRef<Stmt>(branch), "if");
  node->value = Compile(branch->condition);
  std::vector<Node*> reads = std::move(reads_);
  reads_.clear();
  Node* then_case = Statement(branch->then_case);
  node->children.push_back(then_case != nullptr ? then_case : program_.Make(NodeKind::kSequence));
  if (branch->else_case.has_value()) {
    Node* else_case = Statement(branch->else_case.value());
    if (else_case != nullptr) node->children.push_back(else_case);
  }
  reads_ = std::move(reads);
  return AfterReads(node);
}

Node* Decoder::Store(const BufferStoreNode* store) {
  const std::string scope = store->buffer.scope();
  const Source source = At(GetRef<Stmt>(store), "store to " + std::string(store->buffer->name));
  if (scope.rfind("local", 0) == 0) {
    const auto* index = store->indices.size() == 1 ? store->indices[0].as<IntImmNode>() : nullptr;
    if (index == nullptr || index->value != 0) return AfterReads(nullptr);
    Node* node = program_.Make(NodeKind::kAssign);
    node->slot = SlotOf(store->buffer->data.get(), SlotKind::kMutable);
    node->value = Compile(store->value);
    node->source = source;
    return AfterReads(node);
  }
  Compile(store->value);
  Pointer pointer;
  BufferLoad target(store->buffer, store->indices);
  const bool located = AddressOf(target.get(), &pointer);
  pointer.buffer = buffers_.Of(store);
  if (!located) {
    return AfterReads(NotModelled("a store to scope " + scope, source));
  }
  Instruction instruction{Action::kAccess, Pipe::kS};
  instruction.accesses.push_back(
      Rows(pointer, Constant(0), Constant(1), pointer.extent, Constant(0), true));
  return AfterReads(Issue(std::move(instruction), source));
}

Node* Decoder::Bound(const BindNode* bind) {
  if (bind->var.dtype().is_handle()) return nullptr;
  Node* node = program_.Make(NodeKind::kAssign);
  node->source = At(GetRef<Stmt>(bind), "let " + std::string(bind->var->name_hint));
  node->value = Compile(bind->value);
  node->slot = SlotOf(bind->var.get(), SlotKind::kBound);
  program_.slots[node->slot].definition = node;
  return AfterReads(node);
}

Node* Decoder::Block(const SBlockNode* block) {
  const std::string name = block->name_hint;
  if (name == (cube_ ? kVector : kCube)) return nullptr;
  if (name == "SIMT_VF" || name == "SIMD_VF") return AfterReads(Vector(block));
  Node* body = Statement(block->body);
  if (body != nullptr && body->kind == NodeKind::kSequence) {
    body->source = At(GetRef<Stmt>(block), "block");
  }
  return body;
}

Node* Decoder::Attribute(const AttrStmtNode* attr) {
  if (attr->attr_key == tvm::tirx::attr::thread_extent) {
    if (const auto* axis = attr->node.as<IterVarNode>()) {
      if (axis->thread_tag == "cthread") {
        // Every core starts with its number in this slot.
        slots_[axis->var.get()] = kSubBlockSlot;
      } else if (std::string(axis->thread_tag).rfind("blockIdx", 0) != 0) {
        expressions_[axis->var.get()] = Constant(0);
      }
    }
  }
  return Statement(attr->body);
}

}  // namespace tilelang_ascend_sched::verify
