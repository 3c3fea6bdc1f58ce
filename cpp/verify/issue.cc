// What the scalar programs hand to the pipes: ids, locks, and the bytes that are touched.
#include <algorithm>

#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

// Hands an instruction to its pipe; false if the scalar program has to wait with it.
bool Run::Issue(int core, const Node* node) {
  const Instruction& instruction = node->instruction;
  CoreState& state = cores_[core];
  if (instruction.action == Action::kBarrierAll) return BarrierAll(core);
  const int pipe = static_cast<int>(instruction.pipe);
  std::deque<Event>& queue = state.queues[pipe];
  if (queue.size() >= kQueueDepth) {
    Drain();
    if (queue.size() >= kQueueDepth) return false;
  }
  if (++search_.events > search_.limits.events) {
    Finding finding{"budget", false};
    finding.message = "the kernel takes more than " + std::to_string(search_.limits.events) +
                      " instructions to check";
    Report(std::move(finding));
    stopped_ = true;
    return false;
  }
  Event event = Evaluate(core, instruction);
  if (stopped_) return false;
  if (queue.empty() && Try(core, &event)) {
    // What it gave may be what others wait for.
    const bool others_wait = std::any_of(std::begin(cores_), std::end(cores_),
                                         [](const CoreState& each) { return each.waiting > 0; });
    if (others_wait && instruction.action != Action::kAccess) Drain();
    return true;
  }
  ++state.waiting;
  queue.push_back(std::move(event));
  return true;
}

Run::Event Run::Evaluate(int core, const Instruction& instruction) {
  AwaitOperands(core, instruction);
  CoreState& state = cores_[core];
  Event event{&instruction};
  event.snapshot = state.snapshot;
  int kept = 0;
  for (auto frame = state.frames.rbegin(); frame != state.frames.rend(); ++frame) {
    if (frame->node->kind != NodeKind::kFor && frame->node->kind != NodeKind::kWhile) continue;
    if (kept == Turns::kKept) {
      event.turns.more = true;
      break;
    }
    event.turns.loops[kept] = frame->node;
    event.turns.turns[kept++] = frame->turn - 1;
  }
  if (instruction.id != kNone) {
    const Value id = path_.Told(EvalLoose(core, instruction.id));
    const auto number = path_.Number(id, 64, state.loops);
    if (number) {
      event.id = *number;
    } else {
      Finding finding{"undecided id", false};
      finding.message = "the id is " + search_.symbols->Text(id) + ", which may be anything";
      finding.first = SiteOf(instruction, static_cast<Core>(core), event.turns);
      Report(std::move(finding));
      stopped_ = true;
      return event;
    }
  }
  if (instruction.unit_flag != kNone) {
    const Value unit_flag = path_.Told(EvalLoose(core, instruction.unit_flag));
    event.unit_flag = unit_flag.known() && unit_flag.constant != 0;
  }
  const bool locks = instruction.action == Action::kLock;
  if ((locks || instruction.action == Action::kUnlock) && !HoldLock(core, &event)) return event;
  event.accesses.reserve(instruction.accesses.size());
  for (const AccessPattern& pattern : instruction.accesses) EvaluateAccess(core, pattern, &event);
  return event;
}

// Takes or gives back a lock in program order. False if that cannot be.
bool Run::HoldLock(int core, Event* event) {
  const Instruction& instruction = *event->instruction;
  const bool locks = instruction.action == Action::kLock;
  const int pipe = static_cast<int>(instruction.pipe);
  auto refuse = [&](const char* kind, std::string message, const Instruction* taken_by) {
    Finding finding{kind, true, std::move(message)};
    const Site site = SiteOf(instruction, static_cast<Core>(core), event->turns);
    finding.first = taken_by == nullptr ? site : SiteOf(*taken_by, static_cast<Core>(core), {});
    if (taken_by != nullptr) finding.second = site;
    Report(std::move(finding));
    stopped_ = true;
    return false;
  };
  const std::string name = "lock " + std::to_string(event->id);
  const int ids = program_.chip.lock_ids;
  if (event->id < 0 || event->id >= ids) {
    return refuse(
        "range",
        "lock id " + std::to_string(event->id) + " is not one of 0 to " + std::to_string(ids - 1),
        nullptr);
  }
  Lock& lock = locks_[core * ids + static_cast<int>(event->id)];
  if (locks == (lock.holder >= 0) || (!locks && lock.holder != pipe)) {
    return refuse("lock",
                  name + (locks ? " is taken again before it was given back"
                                : " is given back by a pipe that does not hold it"),
                  lock.holder >= 0 ? lock.taken_by : nullptr);
  }
  if (locks) {
    lock.held = lock.issued++;
    lock.taken_by = &instruction;
  }
  lock.holder = locks ? pipe : -1;
  event->sequence = lock.held;
  return true;
}

void Run::EvaluateAccess(int core, const AccessPattern& pattern, Event* event) {
  if (pattern.space == Space::kGm && !program_.tensors[pattern.tensor].written) return;
  if (pattern.condition != kNone && !Test(core, pattern.condition)) return;
  Access access;
  access.space = pattern.own_ub ? UbOf(static_cast<Core>(core)) : pattern.space;
  access.tensor = pattern.tensor;
  access.buffer = pattern.buffer;
  access.pattern = &pattern;
  access.writes = pattern.writes;
  access.atomic = pattern.atomic || (pattern.space == Space::kGm && pattern.writes &&
                                     cores_[core].atomic && event->instruction->pipe != Pipe::kV);
  access.approximate = pattern.approximate;
  Region& region = access.region;
  const bool gm = access.space == Space::kGm;
  // What run-time inputs do not decide is the same at all turns that a state stands for.
  auto eval = [&](Expr expr) {
    return search_.periods.symbolic(expr) ? path_.Told(EvalLoose(core, expr)) : Eval(core, expr);
  };
  auto most = [&](const Value& value) {
    if (value.known()) return value.constant;
    access.approximate = true;
    return path_.Bounds(value).high;
  };
  const Value begin = gm ? Value() : eval(pattern.begin);
  const Value row_bytes = eval(pattern.row_bytes), rows = eval(pattern.rows);
  region.rows = most(rows);
  region.row_bytes = most(row_bytes);
  if (region.rows <= 0 || region.row_bytes <= 0) return;
  const Value stride = rows == Value(1) ? Value(0) : eval(pattern.stride);
  if (stride.known() && !gm && !(begin.known() && row_bytes.known())) {
    access.exact = static_cast<int>(exact_.size());
    const Value extent = row_bytes + Scale(rows - Value(1), stride.constant);
    exact_.push_back({begin, row_bytes, extent, stride.constant});
  }
  region.begin = begin.constant;
  if (gm) Place(EvalLoose(core, pattern.begin), &region);
  if (stride.known()) {
    region.stride = stride.constant;
  } else {
    access.approximate = true;
    region.row_bytes += (region.rows - 1) * most(stride);
    region.rows = 1;
  }
  if (region.rows > 1 && region.stride == region.row_bytes) {
    region.row_bytes *= region.rows;
    region.rows = 1;
  }
  if (region.rows == 1) region.stride = 0;
  if (!begin.known()) {
    const Range range = path_.Bounds(begin);
    int64_t end = range.high + region.end() - region.begin;
    // Where both ends move, they may move together.
    if (access.exact >= 0) {
      end = std::min(end, path_.Bounds(begin + exact_[access.exact].extent).high);
    }
    region = {range.low, end - range.low, 1, 0, 0};
    if (region.row_bytes <= 0) return;
    access.approximate = true;
  }
  if (core == 0) CheckUb(access, *event);
  if (!gm) CheckCapacity(core, access, *event);
  if (access.approximate) EvaluateSure(core, &access);
  event->accesses.push_back(access);
}

void Run::CheckCapacity(int core, const Access& access, const Event& event) {
  const int64_t capacity = program_.chip.CapacityOf(access.space, program_.has_simt);
  const Region& region = access.region;
  if (region.begin >= 0 && region.end() <= capacity) return;
  Finding finding{"capacity", !access.approximate};
  finding.message = std::string("bytes ") + std::to_string(region.begin) + " to " +
                    std::to_string(region.end()) + " of " + NameOf(access.space) +
                    " are touched, which has " + std::to_string(capacity) + " bytes";
  finding.first = SiteOf(*event.instruction, static_cast<Core>(core), event.turns);
  Report(std::move(finding));
}

// Where an address is: its number in this walk, beside what run-time inputs put to it.
void Run::Place(const Value& address, Region* region) {
  Value counted = address.constant, base;
  for (const Term& term : address.terms) {
    (path_.counters().count(term.symbol) != 0 ? counted : base).terms.push_back(term);
  }
  const auto known = std::find(bases_.begin(), bases_.end(), base.terms);
  region->begin = path_.Now(counted).constant;
  region->base = static_cast<int32_t>(known - bases_.begin());
  if (known == bases_.end()) bases_.push_back(base.terms);
}

// The AIC has no UB; it can copy to that of an AIV, if one runs the kernel.
void Run::CheckUb(const Access& access, const Event& event) {
  if (access.space != Space::kUb0 && access.space != Space::kUb1) return;
  const bool own = access.pattern->own_ub;
  if (!own && (cores_[1].present || cores_[2].present)) return;
  Finding finding{"no core"};
  finding.message = own ? "touches UB, which the AIC that runs it does not have"
                        : "copies to the UB of an AIV, but the kernel has no code for AIVs and is "
                          "launched on the AIC alone";
  finding.memory = NameOf(access.space);
  finding.begin = access.region.begin;
  finding.end = access.region.end();
  finding.first = SiteOf(*event.instruction, Core::kAic, event.turns);
  Report(std::move(finding));
}

// Of an access with a region that is only a bound: what it touches for sure.
void Run::EvaluateSure(int core, Access* access) {
  const AccessPattern& pattern = *access->pattern;
  access->somewhere =
      pattern.somewhere && (pattern.happens_if == kNone || Known(core, pattern.happens_if) == true);
  if (!access->somewhere || pattern.sure_begin == kNone || Decides(pattern.sure_begin)) return;
  Region region;
  Place(EvalLoose(core, pattern.sure_begin), &region);
  if (region.base != access->region.base) return;
  region.row_bytes = pattern.sure_bytes;
  access->sure = static_cast<int>(sure_.size());
  sure_.push_back(region);
}

}  // namespace tilelang_ascend_sched::verify
