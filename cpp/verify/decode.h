#pragma once

#include <tvm/arith/analyzer.h>
#include <tvm/tirx/function.h>
#include <tvm/tirx/stmt.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// Reads a device function as MergeUBAllocations and RewriteFlagToBuf leave it: on-chip addresses
// are physical, flag and lock ids final.
Program Decode(const tvm::tirx::PrimFunc& kernel, const Buffers& buffers, const Chip& chip);

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

// Decodes the code of one kind of core. AIV0 and AIV1 share theirs.
class Decoder {
 public:
  Decoder(Program* program, const Buffers& buffers, bool cube)
      : program_(*program), buffers_(buffers), cube_(cube) {}

  Node* Statement(const tvm::tirx::Stmt& stmt);

  // Notes where the pointers start that vector code moves.
  void FindPointers(const tvm::tirx::Stmt& body);

  // A GM tensor, an on-chip allocation at address 0, or neither.
  void DeclareTensor(const tvm::tirx::Var& data, int tensor) { tensors_[data.get()] = tensor; }
  void DeclareSymbol(const tvm::tirx::Var& var, const Value& value) {
    expressions_[var.get()] = Add(Constant(value.constant), SymbolExpr(value));
  }

 private:
  friend class VectorFunction;

  // decode.cc
  Node* Sequence(const tvm::ffi::Array<tvm::tirx::Stmt>& stmts);
  Node* Loop(const tvm::tirx::ForNode* loop);
  Node* Repeat(const tvm::tirx::WhileNode* loop);
  Node* Branch(const tvm::tirx::IfThenElseNode* branch);
  Node* Store(const tvm::tirx::BufferStoreNode* store);
  Node* Block(const tvm::tirx::SBlockNode* block);
  Node* Bound(const tvm::tirx::BindNode* bind);
  Node* Attribute(const tvm::tirx::AttrStmtNode* attr);
  Node* NotModelled(const std::string& why, const Source& source);
  Node* AfterReads(Node* node);
  Source At(const tvm::ffi::ObjectRef& node, const std::string& text) const;

  // decode_expr.cc
  Expr Compile(const tvm::PrimExpr& expr);
  Expr CompileLoad(const tvm::tirx::BufferLoadNode* load);
  Expr CompileCall(const tvm::tirx::CallNode* call);
  Expr ReadMemory(const Pointer& pointer, int64_t bytes, const std::string& name,
                  tvm::DataType dtype);
  Expr Make(ExprKind kind, Expr a, Expr b = kNone, Expr c = kNone);
  Expr Constant(int64_t number);
  Expr SymbolExpr(const Value& value);
  Expr Add(Expr a, Expr b);
  Expr Multiply(Expr a, Expr b);
  Expr Times(Expr a, int64_t factor) { return Multiply(a, Constant(factor)); }
  Expr DivideUp(Expr a, int64_t divisor);
  bool IsConstant(Expr expr, int64_t* number) const;
  Slot SlotOf(const tvm::tirx::VarNode* var, SlotKind kind);
  bool Locate(const tvm::tirx::Var& data, Pointer* pointer) const;
  bool Parse(const tvm::PrimExpr& expr, Pointer* pointer);
  bool AddressOf(const tvm::tirx::BufferLoadNode* load, Pointer* pointer);
  Expr BytesOf(Expr elements, int bits);

  // decode_instruction.cc
  Node* Call(const tvm::tirx::CallNode* call, const Source& source);
  Node* Flag(const tvm::tirx::CallNode* call, const Source& source);
  Node* CrossFlag(const tvm::tirx::CallNode* call, const Source& source);
  Node* Lock(const tvm::tirx::CallNode* call, const Source& source);
  Node* Barrier(const tvm::tirx::CallNode* call, const Source& source);
  Node* Copy(const std::string& name, const tvm::tirx::CallNode* call, const Source& source);
  void CopyAccesses(const std::string& name, const tvm::ffi::Array<tvm::PrimExpr>& args,
                    std::vector<AccessPattern>* accesses);
  Node* Gemm(const tvm::tirx::CallNode* call, bool scaled, const Source& source);
  AccessPattern Rows(const Pointer& base, Expr offset, Expr rows, Expr row_bytes, Expr stride,
                     bool writes);
  Node* Issue(Instruction instruction, const Source& source);

  // decode_vector.cc
  Node* Vector(const tvm::tirx::SBlockNode* block);

  Program& program_;
  const Buffers& buffers_;
  bool cube_;
  std::unordered_map<const tvm::tirx::VarNode*, int> tensors_;
  std::unordered_map<const tvm::tirx::VarNode*, Expr> expressions_;  // bound to an expression
  std::unordered_map<const tvm::tirx::VarNode*, Slot> slots_;
  // What variable pointers are set to, but for moves of themselves.
  std::unordered_map<const tvm::tirx::VarNode*, std::vector<tvm::PrimExpr>> pointers_;
  std::vector<Node*> reads_;  // of memory, by the expressions of the statement being decoded
  std::vector<const Node*> loops_;
};

// Throws a line for the user if an intrinsic has not the shape that this decoder knows.
struct DecodeError {
  std::string message;
};

}  // namespace tilelang_ascend_sched::verify
