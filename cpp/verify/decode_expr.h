#pragma once

#include <tvm/tirx/expr_functor.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// The address that an access pointer denotes.
struct Pointer {
  Space space = Space::kGm;
  bool own_ub = false;
  int tensor = -1;
  Expr begin = kNone;   // in bytes
  Expr extent = kNone;  // in bytes
  int element_bits = 8;
  int buffer = -1;  // -1 if not known
};

// Expressions, variables and addresses of the code of one kind of core.
class ExprDecoder : private tvm::tirx::ExprFunctor<Expr(const tvm::PrimExpr&)> {
 public:
  ExprDecoder(Program* program, const Buffers& buffers) : program_(*program), buffers_(buffers) {}

  Program* program() const { return &program_; }

  // What variables stand for. A tensor's number, an expression, or a slot.
  void DeclareTensor(const tvm::tirx::Var& data, int tensor) { tensors_[data.get()] = tensor; }
  void DeclareExpr(const tvm::tirx::Var& var, Expr expr) { expressions_[var.get()] = expr; }
  void DeclareSlot(const tvm::tirx::Var& var, Slot slot) { slots_[var.get()] = slot; }
  bool HasSlot(const tvm::tirx::VarNode* var) const { return slots_.count(var) != 0; }
  // The slot of a variable that is new, or already has one.
  Slot SlotOf(const tvm::tirx::VarNode* var, SlotKind kind);

  // decode_expr.cc: new expressions.
  Expr Compile(const tvm::PrimExpr& expr) { return VisitExpr(expr); }
  Expr Make(ExprKind kind, Expr a = kNone, Expr b = kNone, Expr c = kNone);
  Expr Constant(int64_t number);
  Expr SymbolExpr(const Value& value);
  Expr Add(Expr a, Expr b);
  Expr Multiply(Expr a, Expr b);
  Expr Times(Expr a, int64_t factor) { return Multiply(a, Constant(factor)); }
  Expr DivideUp(Expr a, int64_t divisor);

  // decode_address.cc. Those that return a bool: whether the address is known.
  Expr BytesOf(Expr elements, int bits);
  bool Locate(const tvm::tirx::Var& data, Pointer* pointer) const;
  bool Parse(const tvm::PrimExpr& expr, Pointer* pointer);
  bool AddressOf(const tvm::tirx::BufferLoadNode* load, Pointer* pointer);
  int BufferOf(const tvm::ffi::Object* access) const { return buffers_.Of(access); }
  AccessPattern Rows(const Pointer& base, Expr offset, Expr rows, Expr row_bytes, Expr stride,
                     bool writes);
  AccessPattern OneRow(const Pointer& base, Expr bytes, bool writes) {
    return Rows(base, Constant(0), Constant(1), bytes, Constant(0), writes);
  }

  // The loops around what is decoded, the innermost last.
  void Enter(const Node* loop) { loops_.push_back(loop); }
  void Leave() { loops_.pop_back(); }

  // Reads of memory by what has been compiled since these were taken last: for each an instruction
  // and what it sets.
  std::vector<Node*> TakeReads() { return std::exchange(reads_, {}); }

 private:
  Expr VisitExpr_(const tvm::IntImmNode* number) final { return Constant(number->value); }
  Expr VisitExpr_(const tvm::tirx::VarNode* var) final;
  Expr VisitExpr_(const tvm::tirx::CastNode* cast) final;
  Expr VisitExpr_(const tvm::tirx::AddNode* op) final;
  Expr VisitExpr_(const tvm::tirx::SubNode* op) final;
  Expr VisitExpr_(const tvm::tirx::MulNode* op) final;
  Expr VisitExpr_(const tvm::tirx::FloorDivNode* op) final;
  Expr VisitExpr_(const tvm::tirx::FloorModNode* op) final;
  Expr VisitExpr_(const tvm::tirx::DivNode* op) final;
  Expr VisitExpr_(const tvm::tirx::ModNode* op) final;
  Expr VisitExpr_(const tvm::tirx::MinNode* op) final;
  Expr VisitExpr_(const tvm::tirx::MaxNode* op) final;
  Expr VisitExpr_(const tvm::tirx::LTNode* op) final;
  Expr VisitExpr_(const tvm::tirx::LENode* op) final;
  Expr VisitExpr_(const tvm::tirx::GTNode* op) final;
  Expr VisitExpr_(const tvm::tirx::GENode* op) final;
  Expr VisitExpr_(const tvm::tirx::EQNode* op) final;
  Expr VisitExpr_(const tvm::tirx::NENode* op) final;
  Expr VisitExpr_(const tvm::tirx::AndNode* op) final;
  Expr VisitExpr_(const tvm::tirx::OrNode* op) final;
  Expr VisitExpr_(const tvm::tirx::NotNode* op) final;
  Expr VisitExpr_(const tvm::tirx::SelectNode* op) final;
  Expr VisitExpr_(const tvm::tirx::BroadcastNode* op) final { return Compile(op->value); }
  Expr VisitExpr_(const tvm::tirx::BufferLoadNode* load) final;
  Expr VisitExpr_(const tvm::tirx::CallNode* call) final;
  Expr VisitExprDefault_(const tvm::ffi::Object*) final { return Make(ExprKind::kUnknown); }

  Expr Side(const tvm::PrimExpr& expr, Expr condition, bool holds);
  Expr Choose(const tvm::PrimExpr& condition, const tvm::PrimExpr& yes, const tvm::PrimExpr& no);
  bool HasUnknown(Expr expr) const;
  Expr Binary(ExprKind kind, const tvm::PrimExpr& a, const tvm::PrimExpr& b);
  Expr Compare(ExprKind kind, const tvm::PrimExpr& a, const tvm::PrimExpr& b);
  Expr Reading(Slot slot);
  Expr ReadMemory(const Pointer& pointer, int64_t bytes, const std::string& name,
                  tvm::DataType dtype);
  bool IsConstant(Expr expr, int64_t* number) const;

  Program& program_;
  const Buffers& buffers_;
  std::unordered_map<const tvm::tirx::VarNode*, int> tensors_;
  std::unordered_map<const tvm::tirx::VarNode*, Expr> expressions_;
  std::unordered_map<const tvm::tirx::VarNode*, Slot> slots_;
  std::vector<Node*> reads_;
  std::vector<const Node*> loops_;
};

}  // namespace tilelang_ascend_sched::verify
