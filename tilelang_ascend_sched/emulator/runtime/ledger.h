// Keeps, for every pipe of every running core, what it knows (vector clock) and how far it is
// (cycles). Both follow from the program and its synchronization alone, not from the order in
// which the scheduler happens to run things, so every policy gives the same races and cycles.
#pragma once

#include <memory>
#include <vector>

#include "runtime/machine.h"
#include "runtime/order.h"

namespace emu {

// FACTS, the time model, in cycles.
inline constexpr uint64_t kScalarIssueCycles = 4;
inline constexpr uint64_t kFlagCycles = 4;
inline constexpr uint64_t kCrossCycles = 40;

class RaceCheck;
class TimeModel;

class Ledger {
 public:
  Ledger();
  ~Ledger();

  void begin(int blocks);  // before blocks run together
  void end();              // after

  // The scalar program issues an instruction to `pipe`.
  Issue issue(Core& core, Pipe pipe);

  // An instruction starts: its accesses are checked against all that it does not know of.
  void start(Core& core, const Entry& entry);

  // A vector function: its accesses and its work are known after its body has run.
  void start_vector(Core& core, const Entry& entry);
  void finish_vector(Core& core, const Entry& entry);

  // A load or store by the scalar program itself.
  void scalar_access(Core& core, const Access& access, const Loc& at);

  // Everything before `entry` on its pipe is complete: what the other side learns.
  Token leave(Core& core, const Entry& entry, uint64_t cycles = 0);
  void take(Core& core, const Entry& entry, const Token& token);
  void barrier(Core& core, const Entry& entry);
  void barrier_all(Core& core, const Entry& entry);

  // M filled an L0C region under a unit flag (control 3), or FIX drained it; called on completion.
  void unit_flag(Core& core, const Entry& entry, uint64_t begin, uint64_t end);

  RaceCheck& race() { return *race_; }
  TimeModel& time() { return *time_; }

 private:
  struct Agent {
    Clock known;
    uint32_t tick = 0;
  };
  Agent& agent(const Core& core, Pipe pipe) { return agents_[index(core, pipe)]; }
  static int index(const Core& core, Pipe pipe) {
    return (core.block * kCores + core.index) * kPipes + int(pipe);
  }
  void learn(const Core& core, Pipe pipe, const Clock& clock);
  void advance(Core& core, const Entry& entry);
  void record(Core& core, const Entry& entry, const Access& access);
  void learn_unit(Core& core, const Entry& entry);

  std::vector<Agent> agents_;
  std::vector<std::vector<Clock>> scalar_knowledge_;  // by core: grows when S learns something
  std::vector<uint32_t> sequence_;                    // by core: instructions issued
  std::unique_ptr<RaceCheck> race_;
  std::unique_ptr<TimeModel> time_;
};

Ledger& ledger();

}  // namespace emu
