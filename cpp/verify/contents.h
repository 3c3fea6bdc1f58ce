#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "verify/memory.h"

namespace tilelang_ascend_sched::verify {

// What the scalar units read of memory that the kernel writes, in a run with given inputs: where
// nothing has been written since, the same number as before.
class Contents {
 public:
  // A scalar read, or any write, takes place. `first`: where element 0 of what it names begins.
  void Read(int core, Space space, int tensor, const Region& region, int64_t first);
  void Write(Space space, int tensor, const Region& region);

  // The number that the latest read of a core finds: `fresh` if nothing is known of it. `range`
  // tells types from each other.
  int64_t Number(int core, const std::string& name, const Range& range, int64_t fresh);

  // Such as `a[5] = 64, b[0] = 1 then 0`: elements in the order in which they were first read.
  std::string Text() const;

 private:
  struct Place {
    Space space;
    int tensor;
    int64_t begin, bytes;
    int64_t element;
  };
  struct Told {
    std::string name;
    std::vector<int64_t> numbers;
  };
  // Memory, tensor, bytes, and the range that the type has.
  using Key = std::tuple<Space, int, int64_t, int64_t, int64_t, int64_t>;

  std::optional<Place> latest_[kCores];
  std::map<Key, int64_t> known_;
  std::vector<Told> told_;
};

}  // namespace tilelang_ascend_sched::verify
