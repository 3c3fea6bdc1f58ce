// Happens-before and time travel together: a Token is what one side of a synchronization leaves
// behind and the other side takes up.
#pragma once

#include <cstdint>
#include <vector>

namespace emu {

// Component i counts the instructions of agent i; an agent is one pipe of one core.
class Clock {
 public:
  uint32_t operator[](int agent) const { return size_t(agent) < ticks_.size() ? ticks_[agent] : 0; }
  void raise(int agent, uint32_t tick) {
    if (ticks_.size() <= size_t(agent)) ticks_.resize(agent + 1, 0);
    if (ticks_[agent] < tick) ticks_[agent] = tick;
  }
  // True if anything was learned.
  bool join(const Clock& other) {
    bool changed = false;
    if (ticks_.size() < other.ticks_.size()) ticks_.resize(other.ticks_.size(), 0);
    for (size_t i = 0; i < other.ticks_.size(); ++i) {
      if (ticks_[i] < other.ticks_[i]) ticks_[i] = other.ticks_[i], changed = true;
    }
    return changed;
  }
  uint64_t sum() const {
    uint64_t total = 0;
    for (uint32_t t : ticks_) total += t;
    return total;
  }
  bool operator==(const Clock&) const = default;

 private:
  std::vector<uint32_t> ticks_;
};

struct Token {
  Clock clock;
  uint64_t time = 0;   // cycles
  int64_t event = -1;  // of the time model: who set it

  void join(const Token& other) {
    clock.join(other.clock);
    if (other.time >= time) time = other.time, event = other.event;
  }
};

// What the scalar program knew, and when, as it issued an instruction.
struct Issue {
  uint32_t knowledge = 0;  // index into the issuing core's list of scalar clocks
  uint32_t sequence = 0;   // place in the core's program order
  uint64_t time = 0;
  int64_t event = -1;
};

}  // namespace emu
