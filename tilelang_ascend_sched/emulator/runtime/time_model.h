// The max-plus time model: cycles of one block from the instructions it executed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/machine.h"

namespace emu {

struct Cost {
  uint64_t interval = 0;  // the pipe is busy
  uint64_t latency = 0;   // from start until the data are there
};

// Figures: the time model of the machine's facts, cycles and bytes a cycle.
Cost cost_of(const Work& work);
Cost cost_of_vector(const Work& work, const VfCounts& counts);

class TimeModel {
 public:
  // One executed instruction or one synchronization that made its pipe wait.
  struct Event {
    uint32_t agent;
    uint32_t block;
    const char* name;
    Loc loc;
    uint64_t start, end;  // the pipe is taken
    uint64_t done;        // the data are there
    int64_t cause = -1;   // the event that decided the start
    int64_t wakes = -1;   // for waits: the event that set the flag
    bool sync = false;
  };

  void begin(int blocks);
  void end();

  Issue issue(int scalar_agent, int agent);
  void run(int agent, const Core& core, const Entry& entry, const Cost& cost);
  void leave(int agent, const Core& core, const Entry& entry, uint64_t cycles, Token& token);
  void take(int agent, const Core& core, const Entry& entry, const Token& token);
  void barrier(int agent, const Core& core, const Entry& entry);
  void barrier_all(int scalar_agent, const Core& core, const Entry& entry);

  struct BlockTime {
    uint32_t block = 0;
    uint64_t cycles = 0;
    uint64_t busy[kCores][kPipes] = {};
  };
  const std::vector<BlockTime>& blocks() const { return blocks_; }
  // Events of the block that took longest, or of the one asked for; and the chain of causes that
  // ends with its last event.
  const std::vector<Event>& kept() const { return kept_; }
  std::vector<int64_t> critical_path() const;

 private:
  struct AgentTime {
    uint64_t free = 0;     // the pipe can start something new
    uint64_t done = 0;     // all its data are there
    int64_t free_by = -1;  // events that decide these
    int64_t done_by = -1;
    std::vector<uint64_t> starts;  // start times, for the queue's depth
    uint64_t busy = 0;
  };
  int64_t add(Event event);

  std::vector<AgentTime> agents_;
  std::vector<Event> events_, kept_;
  std::vector<BlockTime> blocks_;
  uint64_t kept_cycles_ = 0;
};

}  // namespace emu
