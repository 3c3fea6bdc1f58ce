#pragma once

#include <tvm/tirx/stmt_functor.h>

#include <string>
#include <vector>

#include "verify/decode_expr.h"
#include "verify/decode_vector.h"

namespace tilelang_ascend_sched::verify {

// How TileLang marks the code of one kind of core, and vector functions.
inline constexpr const char* kCubeBlock = "CUBE";
inline constexpr const char* kVectorBlock = "VECTOR";
inline constexpr const char* kSimtBlock = "SIMT_VF";
inline constexpr const char* kSimdBlock = "SIMD_VF";

// Statements of the code of one kind of core. AIV0 and AIV1 share theirs.
class StmtDecoder : private tvm::tirx::StmtFunctor<Node*(const tvm::tirx::Stmt&)> {
 public:
  // `moved`: what pointers that move start from.
  StmtDecoder(bool cube, const PointerStarts& moved, ExprDecoder* exprs)
      : program_(exprs->program()), exprs_(*exprs), moved_(moved), cube_(cube) {}

  // Null if there is nothing to do.
  Node* Decode(const tvm::tirx::Stmt& stmt) { return VisitStmt(stmt); }

 private:
  Node* VisitStmt_(const tvm::tirx::SeqStmtNode* sequence) final;
  Node* VisitStmt_(const tvm::tirx::ForNode* loop) final;
  Node* VisitStmt_(const tvm::tirx::WhileNode* loop) final;
  Node* VisitStmt_(const tvm::tirx::IfThenElseNode* branch) final;
  Node* VisitStmt_(const tvm::tirx::BufferStoreNode* store) final;
  Node* VisitStmt_(const tvm::tirx::BindNode* bind) final;
  Node* VisitStmt_(const tvm::tirx::AttrStmtNode* attr) final;
  Node* VisitStmt_(const tvm::tirx::SBlockNode* block) final;
  Node* VisitStmt_(const tvm::tirx::SBlockRealizeNode* realize) final;
  Node* VisitStmt_(const tvm::tirx::EvaluateNode* evaluate) final;
  Node* VisitStmt_(const tvm::tirx::DeclBufferNode*) final { return nullptr; }
  Node* VisitStmt_(const tvm::tirx::AllocBufferNode*) final { return nullptr; }
  Node* VisitStmt_(const tvm::tirx::AssertStmtNode*) final { return nullptr; }
  Node* VisitStmtDefault_(const tvm::ffi::Object* stmt) final;

  Node* AfterReads(Node* node, bool awaited = true) {
    return After(exprs_.TakeReads(), node, awaited);
  }
  Node* After(std::vector<Node*> reads, Node* node, bool awaited);
  Node* ReadAgain(const std::vector<Node*>& reads, const Node* body, const Node& loop);

  Program* program_;
  ExprDecoder& exprs_;
  const PointerStarts& moved_;
  bool cube_;
};

}  // namespace tilelang_ascend_sched::verify
