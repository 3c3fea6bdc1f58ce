#include "runtime/flow_graph.h"

#include <algorithm>

namespace emu {
namespace {

ByteSet operator&(const ByteSet& a, const ByteSet& b) {
  ByteSet both;
  for (int w = 0; w < ByteSet::kWords; ++w) both.word[w] = a.word[w] & b.word[w];
  return both;
}

ByteSet without(const ByteSet& a, const ByteSet& b) {
  ByteSet rest;
  for (int w = 0; w < ByteSet::kWords; ++w) rest.word[w] = a.word[w] & ~b.word[w];
  return rest;
}

// All bytes of every element that has one in the set.
ByteSet whole_elements(ByteSet set, int size) {
  for (uint64_t& word : set.word) {
    uint64_t w = word;
    if (size >= 2) w = (w | w >> 1) & 0x5555555555555555u;
    if (size >= 4) w = (w | w >> 2) & 0x1111111111111111u;
    if (size >= 8) w = (w | w >> 4) & 0x0101010101010101u;
    word = w * ((uint64_t{1} << size) - 1);
  }
  return set;
}

}  // namespace

Flow FlowGraph::add(const Node& node) {
  nodes_.push_back(node);
  return static_cast<Flow>(nodes_.size() - 1);
}

Flow FlowGraph::load(uint32_t load, int size, Trace trace) {
  return add({Kind::Load, uint8_t(size), load, load + 1, {}, trace, {}, {}, {}});
}

Flow FlowGraph::lanes(int size, const ByteSet& out, const ByteSet& in, const Sources& from) {
  return add({Kind::Lanes, uint8_t(size), 0, last_of(from), from, nullptr, {}, out, in});
}

Flow FlowGraph::all(const ByteSet& in, const Sources& from) {
  return add({Kind::All, 1, 0, last_of(from), from, nullptr, {}, {}, in});
}

Flow FlowGraph::moves(int size, Trace trace, Flow a, Flow b) {
  const Sources from{.a = a, .b = b};
  return add({Kind::Moves, uint8_t(size), 0, last_of(from), from, trace, {}, {}, {}});
}

Flow FlowGraph::after(uint32_t load) {
  return add({Kind::All, 1, 0, load, {}, nullptr, {}, {}, {}});
}

uint32_t FlowGraph::last_of(const Sources& from) const {
  uint32_t last = 0;
  for (Flow flow : {from.kept, from.a, from.b, from.c, from.mask}) {
    last = std::max(last, nodes_[flow].awaits);
  }
  return last;
}

void FlowGraph::push(Flow flow, const ByteSet& bytes) {
  if (flow != 0 && bytes.any()) open_.push_back({flow, bytes});
}

const std::vector<FlowGraph::Used>& FlowGraph::use(Flow flow, const ByteSet& bytes) {
  found_.clear();
  push(flow, bytes);
  while (!open_.empty()) {
    const Open next = open_.back();
    open_.pop_back();
    visit(nodes_[next.flow], next.bytes);
  }
  return found_;
}

void FlowGraph::visit(Node& node, const ByteSet& bytes) {
  const ByteSet wanted = node.kind == Kind::All ? kEveryByte : whole_elements(bytes, node.size);
  const ByteSet fresh = without(wanted, node.used);
  if (!fresh.any()) return;
  for (int w = 0; w < ByteSet::kWords; ++w) node.used.word[w] |= fresh.word[w];
  const Sources& from = node.from;
  switch (node.kind) {
    case Kind::Load:
      found_.push_back({node.load, node.trace ? node.trace(fresh, 0) : fresh});
      return;
    case Kind::Moves:
      if (from.a != 0) push(from.a, node.trace(fresh, 0));
      if (from.b != 0) push(from.b, node.trace(fresh, 1));
      return;
    case Kind::All:
      push(from.a, node.in);
      for (Flow other : {from.b, from.c, from.kept, from.mask}) push(other, kEveryByte);
      return;
    case Kind::Lanes: {
      const ByteSet needed = whole_elements(fresh & node.out, node.size) & node.in;
      for (Flow source : {from.a, from.b, from.c}) push(source, needed);
      push(from.mask, fresh);
      push(from.kept, without(fresh, node.out));
      return;
    }
  }
}

}  // namespace emu
