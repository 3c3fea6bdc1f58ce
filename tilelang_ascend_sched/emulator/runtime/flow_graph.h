// From the bytes that a SIMD body stores back to those that it loaded; see emu/flow.h.
#pragma once

#include <cstdint>
#include <vector>

#include "emu/flow.h"

namespace emu {

class FlowGraph {
 public:
  // A load, by the number that it got from its owner, and bytes of it that are used for the first
  // time.
  struct Used {
    uint32_t load;
    ByteSet bytes;
  };

  void clear() { nodes_.resize(1); }
  Flow load(uint32_t load, int size, Trace trace);
  Flow lanes(int size, const ByteSet& out, const ByteSet& in, const Sources& from);
  Flow all(const ByteSet& in, const Sources& from);
  Flow moves(int size, Trace trace, Flow a, Flow b);
  // A value that comes after the loads before `load`.
  Flow after(uint32_t load);
  // One more than the last load that the node waits for; 0: none.
  uint32_t loads_awaited(Flow flow) const { return nodes_[flow].awaits; }
  // Whether no node can be added: what comes now has to be taken as used.
  bool full() const { return nodes_.size() >= kMost; }

  // What the bytes of the node came from. Valid until the next call.
  const std::vector<Used>& use(Flow flow, const ByteSet& bytes);

 private:
  static constexpr size_t kMost = size_t{1} << 18;

  enum class Kind : uint8_t { Load, Lanes, All, Moves };
  struct Node {
    Kind kind;
    uint8_t size;
    uint32_t load;
    uint32_t awaits;
    Sources from;
    Trace trace;
    ByteSet used, out, in;
  };
  struct Open {
    Flow flow;
    ByteSet bytes;
  };

  Flow add(const Node& node);
  uint32_t last_of(const Sources& from) const;
  void visit(Node& node, const ByteSet& bytes);
  void push(Flow flow, const ByteSet& bytes);

  std::vector<Node> nodes_{1};
  std::vector<Open> open_;
  std::vector<Used> found_;
};

}  // namespace emu
