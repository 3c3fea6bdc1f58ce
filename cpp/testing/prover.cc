// Lets the tests ask the prover.

#include "analysis/dependence/prover.h"

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/reflection/registry.h>

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::PrimExpr;
using tvm::ffi::Array;

namespace {

// `ranges` are the values that each of `vars` may have.
Facts FactsOf(const Array<Var>& vars, const Array<tvm::Range>& ranges,
              const Array<PrimExpr>& conditions) {
  Facts facts;
  for (size_t i = 0; i < vars.size(); ++i) facts.AddRange(vars[i], ranges[i]);
  for (const PrimExpr& condition : conditions) facts.AddCondition(condition);
  return facts;
}

Region RegionOf(const BufferRegion& region) { return {region->buffer, region->region, {}}; }

bool Disjoint(const BufferRegion& a, const BufferRegion& b, const Array<Var>& vars,
              const Array<tvm::Range>& ranges, const Array<PrimExpr>& conditions) {
  const Facts facts = FactsOf(vars, ranges, conditions);
  return Prover().Disjoint(RegionOf(a), RegionOf(b), facts, /*guards=*/0);
}

// Piece i under `guards[i]`.
bool Covers(const Array<BufferRegion>& pieces, const Array<PrimExpr>& guards,
            const BufferRegion& whole, const Array<Var>& vars, const Array<tvm::Range>& ranges,
            const Array<PrimExpr>& conditions) {
  std::vector<Prover::Piece> parts;
  for (size_t i = 0; i < pieces.size(); ++i) parts.push_back({RegionOf(pieces[i]), guards[i]});
  return Prover().Covers(parts, RegionOf(whole), FactsOf(vars, ranges, conditions));
}

// `region` over all values of `vars`, as one box if they leave no gap; unchanged otherwise.
BufferRegion Fill(const BufferRegion& region, const Array<Var>& vars,
                  const Array<tvm::Range>& ranges) {
  Region open = RegionOf(region);
  for (size_t i = 0; i < vars.size(); ++i) open.iterators.push_back({vars[i], ranges[i]});
  tvm::arith::Analyzer analyzer;
  const Region filled = Filled(open, &analyzer);
  return BufferRegion(filled.buffer, filled.box);
}

}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef()
      .def("tl.ascend_sched.testing.disjoint", Disjoint)
      .def("tl.ascend_sched.testing.covers", Covers)
      .def("tl.ascend_sched.testing.filled", Fill);
}

}  // namespace tilelang_ascend_sched
