#include "verify/decode.h"

#include <tvm/tirx/builtin.h>
#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <algorithm>
#include <set>
#include <utility>

#include "verify/decode_operand.h"
#include "verify/decode_stmt.h"

namespace tilelang_ascend_sched::verify {

using namespace tvm::tirx;
using tvm::IntImmNode;

namespace {

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
      if (block->name_hint == kCubeBlock) layout.cube = marked = true;
      if (block->name_hint == kVectorBlock) {
        layout.vector = marked = true;
        if (auto count = block->annotations.Get("vector_count")) {
          if (const auto* number = count.value().as<IntImmNode>()) {
            layout.vector_count = static_cast<int>(number->value);
          }
        }
      }
      if (block->name_hint == kSimtBlock) layout.simt = true;
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
        if (IsWritable(call)) written.insert(call->args[1].as<VarNode>());
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
    if (range.high > 0) {
      value.terms.push_back({program.symbols.Input(axis->var->name_hint, range), 1});
    }
    inputs.push_back({axis->var, value});
  });

  const PointerStarts moved = FindPointerStarts(kernel->body);
  for (const bool cube : {true, false}) {
    if (!(cube ? layout.cube : layout.vector)) continue;
    ExprDecoder exprs(&program, buffers);
    for (const auto& [param, tensor] : tensors) exprs.DeclareTensor(param, tensor);
    for (const auto& [var, value] : inputs) exprs.DeclareExpr(var, exprs.SymbolExpr(value));
    Node* body = StmtDecoder(cube, moved, &exprs).Decode(kernel->body);
    if (cube) {
      program.cores[0] = {true, body};
      continue;
    }
    program.cores[1] = {true, body};
    if (layout.cube && layout.vector_count == 2) program.cores[2] = {true, body};
  }
  return program;
}

}  // namespace tilelang_ascend_sched::verify
