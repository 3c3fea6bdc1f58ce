// The state of the emulated machine: cores, their pipes and memories, and what a run is asked to
// do.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "emu/cube.h"
#include "emu/dma.h"
#include "emu/fiber.h"
#include "emu/issue.h"
#include "runtime/order.h"

namespace emu {

inline constexpr int kCores = 3;        // AIC, AIV 0, AIV 1 of one block
inline constexpr int kQueueDepth = 32;  // FACTS: queue depth of every pipe
inline constexpr int kFlagIds = 8;      // flags of one pair of pipes
inline constexpr int kLockIds = 32;
inline constexpr int kCrossIds = 16;    // cross-core flags of one AIV
inline constexpr int kCrossLimit = 15;  // 4-bit counters

// Bytes. UB is what a kernel may use; a kernel with a SIMT function has 216 KiB of it.
inline constexpr uint64_t kUbBytes = 248 * 1024;
inline constexpr uint64_t kUbSimtBytes = 216 * 1024;
inline constexpr uint64_t kL1Bytes = 512 * 1024;
inline constexpr uint64_t kL0Bytes = 64 * 1024;
inline constexpr uint64_t kL0cBytes = 256 * 1024;
inline constexpr uint64_t kScaleBytes = kL0Bytes / 16;  // a tile's scales lie at its address / 16

// Issue order is not completion order on these pipes.
constexpr bool is_async(Pipe p) {
  return p == Pipe::MTE1 || p == Pipe::MTE2 || p == Pipe::MTE3 || p == Pipe::FIX;
}

const char* pipe_name(Pipe p);
const char* space_name(Space s);

// A local memory with one validity byte for each byte: 0 until something is written there.
struct LocalMemory {
  std::unique_ptr<uint8_t[], void (*)(uint8_t*)> own{nullptr, nullptr};  // UB is mapped instead
  uint8_t* data = nullptr;
  std::vector<uint8_t> valid;
  uint64_t size = 0;

  void allocate(uint64_t bytes);
  void clear();  // every byte 0xff, nothing valid
};

enum class Op : uint8_t {
  Run,
  SetFlag,
  WaitFlag,
  Barrier,
  CrossArrive,
  CrossWait,
  Lock,
  Unlock,
};

struct Entry {
  Op op;
  Instr instr;
  Pipe from = Pipe::S, to = Pipe::S;  // flags
  CrossMode mode = CrossMode::Intra;
  int id = 0;
  bool block = true;    // locks
  uint64_t ticket = 0;  // locks
  uint8_t unit = 0;     // unit flag control of M and FIX
  Issue issued;
  bool bad = false;  // an access is out of range: the body is skipped

  Entry(Op o, Instr&& i) : op(o), instr(std::move(i)) {}
};

struct PipeQueue {
  std::deque<Entry> waiting;
  std::vector<Entry> running;  // started on an asynchronous pipe, not completed
  bool idle() const { return waiting.empty() && running.empty(); }
};

struct Flag {
  bool set = false;
  Token token;
  Loc by{};
};

// Locks are taken in program order: each lock instruction draws a ticket when it is issued.
struct Lock {
  struct Hold {
    Pipe pipe;
    bool released = false;
    Token token;
    Loc by{};
  };
  std::deque<Hold> holds;            // tickets not yet released by everyone before them
  uint64_t first = 0;                // ticket of holds.front()
  Token released;                    // join of every release before `first`
  std::array<int64_t, kPipes> open;  // ticket each pipe's next unlock releases, at issue; -1: none
  Lock() { open.fill(-1); }
};

struct CrossCounter {
  std::deque<Token> tokens;
  std::deque<Loc> by;
};

// Registers that copies read; captured when the copy is issued.
struct Registers {
  uint64_t pad_value = 0;
  uint64_t nz_row_stride = 1, nz_column_stride = 0;
  AtomicOp atomic = AtomicOp::None;
  DType atomic_type = DType::F32;
  int hf32 = 0;
};

// An L0C region that M filled under a unit flag and FIX has not yet drained.
struct UnitRegion {
  uint64_t begin, end;
  Token token;
  Loc by;
};

enum class Blocked : uint8_t { No, QueueFull, Sync, All };

struct Core {
  int index = 0;  // 0 AIC, 1 and 2 AIV
  int block = 0;
  bool present = false;
  bool finished = true;
  std::unique_ptr<Fiber> fiber;
  std::array<PipeQueue, kPipes> pipes;
  std::array<LocalMemory, kSpaces> memory;
  Registers registers;
  Flag flags[kPipes][kPipes][kFlagIds];
  Lock locks[kLockIds];
  CrossCounter cross[2 * kCrossIds];
  std::vector<UnitRegion> unit_full;
  Token unit_drained;
  uint32_t call_site = 0;
  Loc last_at{};  // the scalar program's last known place

  Blocked blocked = Blocked::No;   // what the scalar program waits for
  Pipe blocked_pipe = Pipe::S;     // whose queue is full
  const Entry* pending = nullptr;  // the synchronization of pipe S it stands at
  Loc blocked_at{};

  bool aic() const { return index == 0; }
  int sub() const { return index == 2 ? 1 : 0; }
  std::string name() const;
};

// Arrivals of the cross-core modes that wait for a whole group.
struct Arrival {
  Token token;
  Loc at;
};
struct GroupArrivals {
  std::deque<Arrival> by_core[kCores];
};

struct Block {
  uint32_t index = 0;
  Core cores[kCores];
  GroupArrivals subblock[kCrossIds], block[kCrossIds], inter[kCrossIds];
};

struct GmArray {
  std::string name;
  uint64_t begin, end;  // host addresses
};

enum class Policy : uint8_t { Eager, Lazy, Random, Starve };

struct Options {
  Policy policy = Policy::Eager;
  Pipe starved = Pipe::S;
  uint64_t seed = 0;
  uint64_t step_budget = 200'000'000;
  bool race = true;
  bool time = true;
  int timeline_block = -1;
  bool closure = false;  // digest the happens-before relation of all accesses
};

enum class KernelKind : uint8_t { Mix, Cube, Vector };

struct Kernel {
  std::string name;
  void (*entry)(const unsigned long*) = nullptr;
  std::vector<uint64_t> slots;
  uint32_t blocks = 0;
  KernelKind kind = KernelKind::Mix;
  bool simt = false;
  bool together = false;  // blocks synchronize with each other and run at once
};

struct BlockStats {
  uint64_t executed[kCores][kPipes] = {};
  uint64_t syncs[kCores] = {};
  uint64_t closure = 0;  // of blocks that run together, all in the first one's
};

struct Machine {
  Options options;
  const Kernel* kernel = nullptr;
  std::vector<GmArray> arrays;        // sorted by address
  uint64_t gm_begin = 0, gm_end = 0;  // the window all arrays lie in

  std::vector<std::unique_ptr<Block>> blocks;  // running at once
  Core* core = nullptr;                        // whose code runs
  const Entry* entry = nullptr;  // the instruction whose body runs, null in scalar code
  uint64_t steps = 0;
  uint64_t random = 0;
  std::vector<BlockStats> stats;  // by block index

  Block& block_of(const Core& c) { return *blocks[c.block]; }
};

extern Machine the_machine;
inline Machine& machine() { return the_machine; }

// Runs the kernel for these blocks, together or one after the other.
void run_blocks(const std::vector<uint32_t>& indices);

// Suspends the scalar program of the running core until the scheduler finds it can go on.
void block_scalar(Blocked why, const Loc& at, Pipe full = Pipe::S, const Entry* pending = nullptr);

// Ends the run if a vector function's body runs: only the scalar program issues instructions.
void refuse_in_vector_function(const char* name);

// Queues an entry; `S` entries are executed by the scalar program itself and never get here.
void enqueue(Entry&& entry);

// ---- sync.cc: the state machine of each synchronization instruction ----
// The head of a queue may go on.
bool sync_ready(Core& core, const Entry& entry);
void sync_execute(Core& core, Entry& entry);
bool scalar_ready(Core& core);
// After a block has run: flags left set, counters left, locks left.
void check_left_over(Block& block);

// ---- access.cc: what every executed instruction's accesses go through ----
// Bounds of all accesses of the entry; reports and marks it bad.
void check_bounds(Core& core, Entry& entry);
Core& owner_of(Core& core, const Access& access);  // of the memory
LocalMemory& memory_of(Core& core, const Access& access);
const GmArray* find_array(uint64_t address);
// A load or store of the scalar program itself, at this place of it.
void scalar_touch(Core& core, uint64_t address, uint64_t bytes, Mode mode, const Loc& at);
void map_ub_of(Core& core);
uint64_t ub_offset(const void* pointer);  // of the running core

}  // namespace emu
