#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "verify/decode_expr.h"
#include "verify/decode_vector.h"
#include "verify/vector_scope.h"

namespace tilelang_ascend_sched::verify {

// Which bytes a vector function touches, statement by statement. What cannot conflict with anything
// and what is the same once more is left out.
class VectorAccesses {
 public:
  VectorAccesses(const PointerStarts& moved, VectorScope* scope, ExprDecoder* exprs)
      : exprs_(*exprs), scope_(*scope), moved_(moved) {}

  // One element; `node`: the load or store.
  void Element(const tvm::ffi::Object* node, const tvm::tirx::Buffer& buffer,
               const tvm::ffi::Array<tvm::PrimExpr>& indices, bool writes);

  // `extent` elements from a pointer on, or -1 if that is not known. `sure`: of so many elements it
  // is known that they are touched.
  void Elements(const tvm::tirx::CallNode* pointer, int64_t extent, bool writes, int64_t sure);

  // Somewhere in the buffer of a pointer, or of what a variable pointer starts from. `some`: it is
  // known to touch something.
  void Anywhere(const tvm::PrimExpr& base, bool writes, bool some);

  bool atomic = false;  // what follows is so
  std::vector<AccessPattern> found;
  std::string not_modelled;  // why nothing is known, or empty

 private:
  bool Conflicts(const Pointer& pointer) const;
  bool IsNew(const Pointer& pointer, const tvm::tirx::Var& data, const tvm::PrimExpr& index,
             int64_t extent, bool writes);
  void Add(Pointer pointer, const tvm::PrimExpr& index, int64_t extent, bool writes, int64_t sure,
           const tvm::tirx::Buffer& buffer);
  bool Happens(const Witness& witness, AccessPattern* access);
  void NoteSure(const tvm::PrimExpr& index, int64_t elements, int bits, const Witness& witness,
                AccessPattern* access);

  ExprDecoder& exprs_;
  VectorScope& scope_;
  const PointerStarts& moved_;
  std::unordered_map<int64_t, std::vector<tvm::ffi::Array<tvm::ffi::Any>>> seen_;
};

}  // namespace tilelang_ascend_sched::verify
