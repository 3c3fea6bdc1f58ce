// Finds pairs of accesses to one byte, at least one a write, that nothing orders.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/findings.h"
#include "runtime/machine.h"

namespace emu {

// Which instruction: the tick-th of its agent, the sequence-th of its core's program.
struct Epoch {
  int agent = -1;
  uint32_t tick = 0;
  uint32_t sequence = 0;
};

// An access with the place it is reported under.
struct Mark {
  Epoch epoch;
  uint32_t site = 0;
  Mode mode = Mode::Read;
};

// Who last touched each byte of one memory.
class ByteOwners {
 public:
  struct Conflict {
    Mark before;
    uint64_t begin, end;
  };
  // Enters the access and hands every earlier one that `known` does not cover to `conflict`.
  template <class F>
  void enter(uint64_t begin, uint64_t end, const Mark& mark, const Clock& known, F&& conflict);

 private:
  struct Segment {
    uint64_t end;
    Mark writer;                // agent -1: none
    std::vector<Mark> readers;  // one an agent
  };
  void split(uint64_t at);
  std::map<uint64_t, Segment> segments_;  // by begin, disjoint
};

// A GM access kept for the check across blocks.
struct GmRecord {
  Access access;
  uint32_t site;
  uint32_t block;
};

class RaceCheck {
 public:
  void begin(int blocks);
  void end();
  // Only noted here; end() compares all of them in an order that every policy gives.
  void access(const Epoch& epoch, const Core& core, const Instr& instr, const Access& access,
              const Clock& known);

  // Accesses of arrays that this process wrote or read, for check_across().
  void dump(std::FILE* out) const;
  void load(std::FILE* in);
  // Blocks that do not synchronize: every overlap of two blocks is a race, two atomics aside.
  void check_across();

 private:
  struct Note {
    Access access;
    Mark mark;
    uint32_t place;  // core and space, or GM
    uint32_t block;
    uint32_t clock;   // index into clocks_
    uint64_t weight;  // grows along happens-before
  };
  uint32_t site_of(const Core& core, const Instr& instr);
  void conflict(const Mark& before, const Mark& now, Space space, const std::string& where,
                int block);
  void replay();
  // Of every access: what happens before it. Two runs of one program that differ in their
  // synchronization have the same digest if that difference orders nothing.
  uint64_t closure() const;
  void enter(ByteOwners& bytes, const Note& note);

  std::vector<Site> sites_;
  std::map<std::string, uint32_t> site_index_;
  std::map<std::pair<const void*, uint64_t>, uint32_t> site_cache_;
  std::set<std::pair<uint64_t, int>> reported_;
  std::vector<Note> notes_;
  std::vector<Clock> clocks_;
  std::vector<uint64_t> clock_sums_;
  std::vector<uint32_t> last_clock_;  // by agent
  std::vector<GmRecord> records_;
};

}  // namespace emu
