#include "analysis/accesses.h"

#include <tvm/arith/int_set.h>
#include <tvm/tirx/op.h>

#include <unordered_map>

#include "analysis/access_collector.h"

namespace tilelang_ascend_sched {

using namespace tvm::tirx;
using tvm::PrimExpr;
using tvm::Range;
using tvm::arith::IntSet;
using tvm::ffi::Array;

namespace {

using IntSets = std::vector<IntSet>;

// Per dimension, all values over the region's loops and lanes, and `threads`.
IntSets Relaxed(const Region& region, bool threads) {
  std::unordered_map<const VarNode*, IntSet> domains;
  for (const Iterator& iterator : region.iterators) {
    if (iterator.kind == Iterator::Kind::kThread && !threads) continue;
    domains[iterator.var.get()] = IntSet::FromRange(iterator.range);
  }
  auto values = [&](const PrimExpr& expr) {
    return tvm::arith::EvalSet(IntSet::Vector(expr), domains);
  };
  IntSets sets;
  for (const Range& range : region.box) {
    const IntSet lows = values(range->min);
    const int64_t* extent = as_const_int(range->extent);
    if (extent != nullptr && *extent <= 1) {
      sets.push_back(lows);
    } else {
      const PrimExpr last = range->min + range->extent - make_const(range->min.dtype(), 1);
      sets.push_back(IntSet::Interval(lows.min(), values(last).max()));
    }
  }
  return sets;
}

BufferRegion Cover(const Buffer& buffer, const IntSets& sets) {
  Array<Range> box;
  for (size_t i = 0; i < sets.size(); ++i) {
    box.push_back(sets[i].CoverRange(Range::FromMinExtent(0, buffer->shape[i])));
  }
  return BufferRegion(buffer, box);
}

// The boxes of one direction, a buffer each, in the order of first use.
class Boxes {
 public:
  void Add(const Region& region) {
    const IntSets sets = Relaxed(region, /*threads=*/false);
    for (Entry& entry : entries_) {
      if (!entry.buffer.same_as(region.buffer)) continue;
      for (size_t i = 0; i < sets.size(); ++i) {
        entry.sets[i] = tvm::arith::Union({entry.sets[i], sets[i]});
      }
      return;
    }
    entries_.push_back({region.buffer, sets});
  }

  std::vector<BufferRegion> Regions() const {
    std::vector<BufferRegion> regions;
    for (const Entry& entry : entries_) regions.push_back(Cover(entry.buffer, entry.sets));
    return regions;
  }

 private:
  struct Entry {
    Buffer buffer;
    IntSets sets;
  };

  std::vector<Entry> entries_;
};

}  // namespace

std::vector<Access> CollectAccesses(const Stmt& stmt) {
  AccessCollector collector;
  collector(stmt);
  return collector.Take();
}

std::vector<Access> CollectAccesses(const PrimExpr& expr) {
  AccessCollector collector;
  collector(expr);
  return collector.Take();
}

Accesses AccessesOf(const Stmt& stmt) {
  Boxes reads;
  Boxes writes;
  for (const Access& access : CollectAccesses(stmt)) {
    if (!access.declared || !access.region.buffer.defined()) continue;
    (access.write ? writes : reads).Add(access.region);
  }
  return {reads.Regions(), writes.Regions()};
}

BufferRegion BoxOf(const Region& region, bool threads) {
  return Cover(region.buffer, Relaxed(region, threads));
}

}  // namespace tilelang_ascend_sched
