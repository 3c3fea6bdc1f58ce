#pragma once

#include <tvm/tirx/stmt_functor.h>

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/access.h"

namespace tilelang_ascend_sched {

// The walk behind CollectAccesses (analysis/accesses.h).
class AccessCollector : public tvm::tirx::StmtExprVisitor {
 public:
  std::vector<Access> Take();

 private:
  using Box = tvm::ffi::Array<tvm::Range>;

  // `expr` without the variables that the statement binds itself.
  tvm::PrimExpr Unbound(tvm::PrimExpr expr) const;

  // The iterators that `exprs` depend on, in their order.
  std::vector<Iterator> IteratorsOf(const std::vector<tvm::PrimExpr>& exprs) const;

  void AddMemory(int64_t mask, const tvm::tirx::Buffer& buffer, const Box& box, Access access = {});
  void AddWholeStorage(int64_t mask, const tvm::tirx::Var& data);
  void AddState(std::string name, bool write, int64_t window = 0);
  void AddBinding(const tvm::tirx::Var& var, bool write);

  // One element a dimension; a vector index gets an iterator for its lanes.
  Box PointBox(const tvm::tirx::Buffer& buffer, const tvm::ffi::Array<tvm::PrimExpr>& indices,
               Access* access);
  // A run of elements in row-major order from `load` on, as long as no part of it goes on behind
  // the end of a row: the condition for that is added to `access`.
  Box RunBox(const tvm::tirx::BufferLoadNode* load, const tvm::PrimExpr& extent,
             Access* access) const;

  void VisitRegion(const tvm::tirx::CallNode* op);
  void VisitPointer(const tvm::tirx::CallNode* op, const tvm::tirx::BufferLoadNode* load);
  void VisitFlatPointer(const tvm::tirx::CallNode* op);
  void VisitReduce(const tvm::tirx::CallNode* op);
  void VisitArguments(const tvm::tirx::CallNode* op);
  // What the parsers know of a tile operation, beside the masks of the operands just visited.
  void ApplyOperandUses(const tvm::tirx::CallNode* op, const std::vector<size_t>& operands);
  void AddTemplate(const tvm::tirx::CallNode* op);

  template <typename Visit>
  void Under(const tvm::PrimExpr& condition, Visit visit);

  void VisitExpr_(const tvm::tirx::CallNode* op) final;
  void VisitExpr_(const tvm::tirx::BufferLoadNode* op) final;
  void VisitExpr_(const tvm::tirx::VarNode* op) final;
  void VisitStmt_(const tvm::tirx::BufferStoreNode* op) final;
  void VisitStmt_(const tvm::tirx::ForNode* op) final;
  void VisitStmt_(const tvm::tirx::WhileNode* op) final;
  void VisitStmt_(const tvm::tirx::IfThenElseNode* op) final;
  void VisitStmt_(const tvm::tirx::BindNode* op) final;
  void VisitStmt_(const tvm::tirx::AttrStmtNode* op) final;
  void VisitStmt_(const tvm::tirx::AllocBufferNode* op) final;
  void VisitStmt_(const tvm::tirx::DeclBufferNode*) final {}
  void VisitStmt_(const tvm::tirx::SBlockNode* op) final;
  // A block that is realized is another kernel's affair.
  void VisitStmt_(const tvm::tirx::SBlockRealizeNode*) final {}

  std::vector<Access> accesses_;
  std::vector<size_t> operands_;  // accesses that are operands of the tile operation at hand
  std::vector<Iterator> iterators_;
  std::vector<tvm::PrimExpr> guards_;
  std::unordered_map<const tvm::tirx::VarNode*, tvm::PrimExpr> bindings_;
  std::unordered_set<const tvm::tirx::VarNode*> allocated_;
  std::unordered_set<const tvm::tirx::VarNode*> bindings_read_;
  int may_end_early_ = 0;   // depth of `while` loops
  bool unbounded_ = false;  // the call at hand reaches behind what its pointers name
  bool leaves_loop_ = false;
  int lanes_ = 0;
};

}  // namespace tilelang_ascend_sched
