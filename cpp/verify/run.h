#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "verify/contents.h"
#include "verify/finding.h"
#include "verify/memory.h"
#include "verify/path.h"
#include "verify/periods.h"
#include "verify/program.h"
#include "verify/rates.h"
#include "verify/reads.h"
#include "verify/state.h"

namespace tilelang_ascend_sched::verify {

struct Limits {
  int64_t events;  // of all paths together
  int paths = 10'000;
  int turns = 256;  // of a loop whose end or whose body depends on run-time inputs
};

// What all paths of one check share.
struct Search {
  const Program& program;
  const Periods& periods;
  const Rates& rates;
  const Reads& reads;
  Symbols* symbols;
  Limits limits;
  // States at the heads of open loops: what threads know in each, by all else.
  std::unordered_map<std::string, std::vector<std::string>> seen;
  int64_t events = 0;
  bool skips = true;    // whether turns that are like those before are passed over
  bool forgets = true;  // whether decisions are taken back where they may be asked again
  // The cores that have loops to a run-time end, as bits: what is known of it is kept for them.
  std::map<std::vector<Term>, uint32_t> cores_to{};
  std::set<std::vector<Term>> closed{};     // ends of which something was forgotten
  bool closed_early = false;                // before a core asked that was not known to
  std::vector<bool>* used_hints = nullptr;  // those without which accesses would conflict
};

// Walks one path: executes all cores of a block together, each pipe taking its instructions in
// order, and keeps for every thread what it can know to be complete.
class Run {
 public:
  // `inputs`, if given, fixes every run-time input; nothing is left to decide then.
  Run(Search* search, Path* path, const Inputs* inputs);

  void Execute();

  const std::vector<Finding>& findings() const { return findings_; }
  // The path came to a state from which all continuations are walked elsewhere.
  bool covered() const { return covered_; }
  const Contents& contents() const { return contents_; }  // of a run with given inputs

 private:
  struct Access {
    Space space;
    int tensor;
    Region region;
    bool writes, atomic, approximate;
    const AccessPattern* pattern;
    int buffer = -1;
    int exact = -1;          // index into exact_, if inputs decide its ends
    bool somewhere = false;  // it touches some bytes of its region for sure, for some data
    int sure = -1;           // index into sure_, if these are known
  };
  // A region whose ends run-time inputs decide, made of counters.
  struct ExactRegion {
    Value begin, row_bytes;
    Value extent;  // from the first byte to the last
    int64_t stride;
    int age = 0;  // so many states came after it
  };
  struct Event {
    const Instruction* instruction;
    std::vector<Access> accesses{};
    int64_t id = -1;
    uint32_t sequence = 0;  // of a lock
    int snapshot = -1;      // what the scalar program knew when it issued this
    bool unit_flag = false;
    Turns turns{};
  };
  struct Frame {
    const Node* node;
    int stage = 0;
    int64_t turn = 0;    // so many were begun
    Value extent{};      // made of counters
    size_t choices = 0;  // that the path had made before the loop
    int open = -1;       // index in `CoreState::open`, of a loop whose end inputs decide
    std::shared_ptr<History> history{};
    bool loops() const { return node->kind == NodeKind::kFor || node->kind == NodeKind::kWhile; }
    int64_t index() const { return turn > 0 ? turn - 1 : 0; }  // of the present turn
  };
  // Loops of several cores to one end that run-time inputs decide, as far as those are the same
  // ones: so many to that end came before. What is asked of the end is another question at every
  // turn, and what is known of it says nothing of other loops to it, for of many turns that do the
  // same only a few are walked.
  using LoopKey = std::pair<std::vector<Term>, int>;
  struct OpenLoop {
    int number;      // in this walk
    Symbol counter;  // the turn of the first core in it
    int64_t index;   // its number
  };
  // A race with a scalar read: it is one for sure once the number is needed.
  struct Race {
    std::pair<int, int> pair;  // of instructions
    Finding finding;
  };
  // What has to be over before a number is there, as a count of events of the scalar pipe. That
  // completes in order, so the latest read tells of all others.
  struct Need {
    uint32_t sure = 0;                                 // has to be over
    uint32_t possible = 0;                             // and maybe more, up to this one
    std::vector<std::shared_ptr<const Race>> races{};  // of reads that have to happen

    void Add(const Need& other, bool may);
  };
  struct CoreState {
    bool present = false;
    std::vector<Frame> frames;
    std::vector<Value> slots;
    std::vector<Value> loose;                        // the same, made of counters
    std::vector<Need> needs;                         // of what the variables hold
    std::vector<std::shared_ptr<const Race>> races;  // of the latest scalar read
    uint32_t maybe_over = 0;  // so many scalar events may have been waited for, or not
    std::deque<Event> queues[kPipes];
    int waiting = 0;                // events in them
    const Node* pending = nullptr;  // an instruction that could not be issued yet
    int snapshot = -1;
    bool atomic = false;
    int loops = 0;                              // around the present statement
    std::vector<LoopKey> open;                  // around it, too
    std::map<std::vector<Term>, int> loops_to;  // how many loops to an end were begun
  };
  struct Token {
    Clock clock;
    Thread thread;
    uint32_t index;
    const Instruction* instruction;
    Turns turns;
  };
  struct Wait {
    Thread thread;
    uint32_t index;
    const Instruction* instruction;
    Turns turns;
  };
  struct Flag {
    std::deque<Token> tokens;
    std::deque<Wait> waits;  // the latest ones
    uint32_t sets = 0, waited = 0;
  };
  struct Lock {
    uint32_t issued = 0;               // taken in program order
    uint32_t released = 0;             // so many, without a gap
    std::map<uint32_t, Token> tokens;  // of releases
    int holder = -1;                   // pipe, at issue
    const Instruction* taken_by = nullptr;
    uint32_t held = 0;
  };

  // run.cc: the scalar programs
  bool Advance(int core, int ahead);
  bool Step(int core);
  bool Enter(int core, const Node* node);
  void Leave(int core, bool continues);
  Value NumberRead(int core, const Node& read);
  bool Alone() const { return cores_[0].present + cores_[1].present + cores_[2].present == 1; }

  // loops.cc
  void StartLoop(int core, Frame* frame);
  Value ExtentOf(int core, const Node& loop);
  bool Head(int core, Frame* frame);
  bool SeenBefore(const State& state);
  bool Ends(int core, Frame* frame);
  std::vector<Term> EndOf(const Frame& frame) const;
  Value TurnOf(int core, const Frame& frame) const;
  void Open(int core, Frame* frame);
  void Close(int core, const Frame& frame);

  // counters.cc: what states leave open
  void Recount(int head);
  void CountLoops(std::map<Symbol, Counter>* counters, std::map<Symbol, Value>* moved);
  bool CountTurns(int core, Slot slot);
  void CountVariable(int core, Slot slot, std::map<Symbol, Counter>* counters,
                     std::map<Symbol, Value>* moved);
  Range ToldTurn(int core, const Frame& frame) const;
  Path::Ends EndQuestions() const;
  void TellElements();
  void ForgetReadings();

  // issue.cc: what is handed to the pipes
  bool Issue(int core, const Node* node);
  Event Evaluate(int core, const Instruction& instruction);
  bool HoldLock(int core, Event* event);
  void EvaluateAccess(int core, const AccessPattern& pattern, Event* event);
  void EvaluateSure(int core, Access* access);
  void CheckUb(const Access& access, const Event& event);
  void CheckCapacity(int core, const Access& access, const Event& event);

  // await.cc: scalar reads that are waited for
  Need NeedOfRead(int core);
  Need NeedOf(int core, Expr expr);
  void Await(int core, const Need& need);
  void AwaitDecision(int core, const Node& node);
  void AwaitOperands(int core, const Instruction& instruction);
  uint32_t OverFor(int core) const;
  void Tell(int core, uint32_t over);

  // evaluate.cc: expressions
  std::optional<int64_t> Number(int core, Expr expr) const;
  Value Eval(int core, Expr expr);
  Value EvalLoose(int core, Expr expr);
  Value EvalIndex(int core, int tensor, Expr expr);
  Value Unknown(const char* name);
  void Place(const Value& address, Region* region);
  void Assign(int core, Slot slot, Expr expr);
  bool Test(int core, Expr expr);
  std::optional<bool> Known(int core, Expr expr);
  bool Decides(Expr expr) const;
  int DepthOf(int core, Expr expr) const;

  // sync.cc: the pipes
  bool Drain();
  bool DrainPipe(int core, int pipe);
  bool Try(int core, Event* event);
  std::pair<Thread, uint32_t> Met(int core);
  bool IsCrossId(int64_t id, bool both) const;
  bool SetFlag(int core, const Event& event, Thread thread, uint32_t index);
  bool CrossSet(int core, const Event& event, Thread thread, uint32_t index);
  void Arrive(int core, const Event& event, const Token& token);
  bool BarrierAll(int core);
  void PushToken(Flag* flag, const Event& event, Token token, int most, const std::string& name,
                 bool alone);
  Token MakeToken(const Event& event, Thread thread, uint32_t index) const;

  // touch.cc: which of two accesses are not in order
  void Touch(const Event& event, Thread thread, uint32_t index);
  void Remember(const Access& access, Thread thread);
  bool Ordered(const Record& record, Thread thread) const;
  bool KnownToAll(const Record& record, uint32_t threads) const;
  bool Apart(const Record& a, const Record& b) const;
  bool ApartByRemainder(const Region& a, const Region& b) const;
  Value BaseOf(const Region& region) const { return SumOf(bases_[region.base]); }
  std::vector<Decision> WhereMeet(const Region& a, const Region& b) const;
  bool Meet(const Record& a, const Record& b) const;

  // excuse.cc: what hints say of two accesses that nothing orders
  enum class Answer : uint8_t { kNo, kMaybe, kYes };
  struct Excuse {
    Answer answer = Answer::kNo;
    int hint = -1;
  };
  Excuse ExcuseOf(const Record& earlier, const Record& later) const;
  Answer SpeaksOf(const Hint& hint, const Record& earlier, const Record& later) const;
  bool Use(int hint);
  bool Excused(const AccessPattern& pattern) const;

  // state.cc, state_known.cc: what the rest of a path depends on
  friend class StateWriter;
  friend class KnownWriter;
  State StateAt(int core, const Frame& head, bool open);
  bool Live(int core, Slot slot, bool at_head) const;

  // skip.cc: turns that are like those before
  void SkipAhead(int core, Frame* frame);
  int64_t Repetitions(int head, const State& past, const State& now) const;

  // finish.cc: waits that never end, and what is left behind
  void Finish();
  // What would end a wait, and the thread whose own wait it comes after; -1 if there is none.
  struct Release {
    const Instruction* instruction;
    Site site;
    int held_up_by;
  };
  bool Answers(int setter, const Instruction& instruction, std::optional<int64_t> id, int core,
               const Event& wait) const;
  std::optional<Release> ReleaseOf(int core, const Event& wait) const;
  int HeldUpBy(int core) const;
  bool ReportStuck();
  void ReportStuck(int core, const Event& wait, const std::optional<Release>& release);

  // messages.cc
  std::string BuffersOf(const Record& a, const Record& b) const;
  Site SiteOf(const Instruction& instruction, Core core, const Turns& turns) const;
  void ReportReplaced(const Record& writer, const Record& reader, const Access& access);
  void ReportRace(const Record& earlier, const Record& later, const Access& access,
                  const Excuse& excuse);
  void Report(Finding finding);

  Search& search_;
  const Program& program_;
  Path& path_;
  const Inputs* inputs_;
  Contents contents_;
  CoreState cores_[kCores];
  Clock clocks_[kThreads];
  uint32_t counts_[kClocked] = {};
  std::vector<Clock> snapshots_;
  int joined_[kThreads];             // latest snapshot that the thread has taken in
  std::map<int, Flag> flags_;        // (core, set pipe, wait pipe, id)
  std::map<int, Flag> cross_flags_;  // (from, to, id)
  std::map<int, Lock> locks_;        // (core, id)
  std::map<LoopKey, OpenLoop> open_loops_;
  int loops_begun_ = 0;          // of those
  std::set<int> told_elements_;  // tensors of which states tell which elements are read next
  std::map<int, std::deque<Token>> arrivals_;  // (scope, core, id): sets that wait for others
  Memory memories_[kOnChipSpaces];
  std::vector<Memory> tensors_;
  std::vector<std::vector<Term>> bases_;  // the first one is empty
  std::vector<ExactRegion> exact_;
  std::vector<Region> sure_;
  std::vector<Finding> findings_;
  std::map<std::pair<int, int>, bool> reported_;  // whether for certain
  bool at_head_ = false;                          // a core has come to the head of a loop
  bool covered_ = false;
  bool stopped_ = false;  // a budget ran out
};

}  // namespace tilelang_ascend_sched::verify
