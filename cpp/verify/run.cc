#include "verify/run.h"

#include <algorithm>

namespace tilelang_ascend_sched::verify {

Run::Run(Search* search, Path* path, const std::map<Symbol, int64_t>* inputs)
    : search_(*search),
      program_(search->program),
      path_(*path),
      inputs_(inputs),
      tensors_(search->program.tensors.size()) {
  search_.symbols->RestartFresh();
  bases_[{}] = 0;
  std::fill(std::begin(joined_), std::end(joined_), -1);
  for (int core = 0; core < kCores; ++core) {
    CoreState& state = cores_[core];
    state.present = program_.cores[core].present;
    if (!state.present) continue;
    state.slots.assign(program_.slots.size(), Value());
    state.slots[kSubBlockSlot] = Value(core == static_cast<int>(Core::kAiv1) ? 1 : 0);
    state.loose = state.slots;
    if (program_.cores[core].body != nullptr) {
      state.frames.push_back({program_.cores[core].body});
    }
  }
}

// The order in which cores run decides nothing. A core goes on while little of what it has issued
// waits, so that cores stay close to each other and come back to few states.
void Run::Execute() {
  int ahead = 0;
  while (!covered_ && !stopped_) {
    bool progress = false;
    for (int core = 0; core < kCores; ++core) {
      if (cores_[core].present) progress = Advance(core, ahead) || progress;
    }
    progress = Drain() || progress;
    if (!progress && ahead >= kPipes * kQueueDepth) break;
    ahead = progress ? 0 : 2 * ahead + 1;
  }
  if (!covered_ && !stopped_) Finish();
}

// Runs a core's scalar program until it ends, has to wait, or more than `ahead` events of the core
// wait.
bool Run::Advance(int core, int ahead) {
  bool progress = false;
  path_.AskFrom(cores_[core].open);
  while (!covered_ && !stopped_ && cores_[core].waiting <= ahead) {
    // The scalar unit stands still at a flag that is not set.
    if (!cores_[core].queues[static_cast<int>(Pipe::kS)].empty()) return progress;
    if (cores_[core].pending != nullptr) {
      const Node* node = cores_[core].pending;
      if (!Issue(core, node)) return progress;
      cores_[core].pending = nullptr;
    } else if (cores_[core].frames.empty()) {
      return progress;
    } else if (!Step(core)) {
      return progress;
    }
    progress = true;
  }
  return progress;
}

// One step of the innermost statement that is not finished. False if it has to wait.
bool Run::Step(int core) {
  CoreState& state = cores_[core];
  Frame& frame = state.frames.back();
  const Node& node = *frame.node;
  switch (node.kind) {
    case NodeKind::kSequence:
      if (frame.stage == static_cast<int>(node.children.size())) {
        state.frames.pop_back();
        return true;
      }
      return Enter(core, node.children[frame.stage++]);
    case NodeKind::kFor: {
      if (frame.stage == 0) {
        StartLoop(core, &frame);
        frame.extent = Eval(core, node.value);
        Assign(core, node.slot, node.minimum);
        frame.stage = 1;
      }
      if (frame.stage == 2) {
        // A turn is over, by `continue` too.
        frame.stage = 1;
        return Enter(core, node.children[1]);
      }
      if (!Head(core, &frame)) return false;
      if (Ends(core, &frame) || node.children.empty()) {
        Leave(core, false);
        return true;
      }
      if (frame.turn > 0) {
        state.slots[node.slot] = state.slots[node.slot] + Value(1);
        state.loose[node.slot] = state.loose[node.slot] + Value(1);
      }
      ++frame.turn;
      if (node.children.size() > 1) frame.stage = 2;
      return Enter(core, node.children[0]);
    }
    case NodeKind::kWhile: {
      if (frame.stage == 0) {
        if (frame.turn == 0) StartLoop(core, &frame);
        if (!Head(core, &frame)) return false;
        frame.stage = 1;
        if (node.children.size() > 1) return Enter(core, node.children[1]);
      }
      frame.stage = 0;
      ++frame.turn;
      if (Test(core, node.value)) return Enter(core, node.children[0]);
      Leave(core, false);
      return true;
    }
    case NodeKind::kIf: {
      if (frame.stage++ > 0) {
        state.frames.pop_back();
        return true;
      }
      if (Test(core, node.value)) return Enter(core, node.children[0]);
      return node.children.size() < 2 || Enter(core, node.children[1]);
    }
    default:
      state.frames.pop_back();
      return Enter(core, &node);
  }
}

bool Run::Enter(int core, const Node* node) {
  CoreState& state = cores_[core];
  switch (node->kind) {
    case NodeKind::kSequence:
    case NodeKind::kFor:
    case NodeKind::kWhile:
    case NodeKind::kIf:
      state.frames.push_back({node});
      return true;
    case NodeKind::kInstruction:
      if (Issue(core, node)) return true;
      state.pending = node;
      return false;
    case NodeKind::kAssign:
      Assign(core, node->slot, node->value);
      return true;
    case NodeKind::kFresh:
      state.slots[node->slot] = search_.symbols->Fresh(node->name, node->range);
      if (inputs_ != nullptr) {
        auto at = inputs_->find(state.slots[node->slot].terms[0].symbol);
        state.slots[node->slot] = at == inputs_->end() ? Value(0) : Value(at->second);
      }
      state.loose[node->slot] = state.slots[node->slot];
      return true;
    case NodeKind::kBreak:
      Leave(core, false);
      return true;
    case NodeKind::kContinue:
      Leave(core, true);
      return true;
    case NodeKind::kAtomicOn:
    case NodeKind::kAtomicOff:
      state.atomic = node->kind == NodeKind::kAtomicOn;
      return true;
    case NodeKind::kNotModelled: {
      Finding finding{"not modelled", false};
      finding.message = "the check does not model " + node->name;
      finding.first = Site{node->source, static_cast<Core>(core), Pipe::kS, {}};
      Report(std::move(finding));
      return true;
    }
  }
  return true;
}

// Leaves the innermost loop, or its present turn only.
void Run::Leave(int core, bool continues) {
  CoreState& state = cores_[core];
  while (!state.frames.empty()) {
    const Frame& frame = state.frames.back();
    const bool is_loop = frame.node->kind == NodeKind::kFor || frame.node->kind == NodeKind::kWhile;
    if (is_loop && continues) return;
    if (is_loop) Close(core, frame);
    state.loops -= is_loop;
    state.frames.pop_back();
    if (is_loop) return;
  }
}

void Run::StartLoop(int core, Frame* frame) {
  frame->choices = path_.choices().size();
  ++cores_[core].loops;
}

// Whether a loop that is counted ends here. Whether it has turns at all says the same of all loops
// to this end; that it ends after some turns says nothing of others.
bool Run::Ends(int core, Frame* frame) {
  const Value remaining = frame->extent - Value(frame->turn);
  if (remaining.known()) return remaining.constant <= 0;
  if (frame->turn > 0) return path_.AtMostZero(remaining, cores_[core].loops, true);
  if (path_.AtMostZero(remaining, DepthOf(core, frame->node->value))) return true;
  Open(core, frame);
  return false;
}

void Run::Open(int core, Frame* frame) {
  CoreState& state = cores_[core];
  const Path::Question now = EndOf(*frame);
  const Path::Question next = path_.Asked(frame->extent - Value(frame->turn + 1));
  // From another start, the variable is not the turn.
  const bool counts = program_.exprs[frame->node->minimum].kind == ExprKind::kConstant;
  frame->open = static_cast<int>(state.open.size());
  state.open.push_back({now.terms, state.loops_to[now.terms]++, counts ? frame->node->slot : -1,
                        next.bound - now.bound});
  uint32_t& cores = search_.cores_to[now.terms];
  if ((cores >> core & 1) == 0 && search_.closed.count(now.terms) != 0) search_.closed_early = true;
  cores |= 1u << core;
  path_.AskFrom(state.open);
}

// At the end of a loop: what was found out inside of it is not known of the turns that were not
// walked. Other cores may still be inside a loop to the same end.
void Run::Close(int core, const Frame& frame) {
  CoreState& state = cores_[core];
  if (inputs_ != nullptr) return;
  const bool counted = frame.node->kind == NodeKind::kFor && frame.extent.known();
  if (Alone() && !counted) path_.ForgetFrom(state.loops);
  if (frame.open < 0) return;
  const OpenLoop loop = state.open[frame.open];
  state.open.resize(frame.open);
  path_.AskFrom(state.open);
  for (int other = 0; other < kCores; ++other) {
    if (other == core || (search_.cores_to[loop.end] >> other & 1) == 0) continue;
    const CoreState& its = cores_[other];
    const auto begun = its.loops_to.find(loop.end);
    if (begun == its.loops_to.end()) return;
    const auto inside = std::count_if(its.open.begin(), its.open.end(),
                                      [&](const OpenLoop& open) { return open.end == loop.end; });
    if (begun->second - inside <= loop.generation) return;
  }
  path_.Close(loop);
  search_.closed.insert(loop.end);
}

// What the head of a loop asks, as a bound on its run-time end; no terms if the end is known.
Path::Question Run::EndOf(const Frame& frame) const {
  if (frame.node->kind != NodeKind::kFor || frame.extent.known()) return {};
  return path_.Asked(frame.extent - Value(frame.turn));
}

// At the head of a loop: false if the path need not be walked further.
bool Run::Head(int core, Frame* frame) {
  // Turns without instructions cost as well.
  if (++search_.events > search_.limits.events) {
    Finding finding{"budget", false};
    finding.message = "the kernel takes more than " + std::to_string(search_.limits.events) +
                      " turns and instructions to check";
    finding.first = Site{frame->node->source, static_cast<Core>(core), Pipe::kS, {}};
    Report(std::move(finding));
    stopped_ = true;
    return false;
  }
  const bool depends_on_inputs = frame->node->kind == NodeKind::kFor
                                     ? !frame->extent.known()
                                     : path_.choices().size() > frame->choices;
  if (!depends_on_inputs && path_.choices().size() == frame->choices) {
    SkipAhead(core, frame);
    return true;
  }
  if (frame->turn <= search_.limits.turns) {
    if (inputs_ != nullptr) return true;
    if (Alone()) path_.ForgetFrom(cores_[core].loops);
    if (!path_.replaying()) covered_ = SeenBefore(StateAt(core, *frame, true));
    Loosen();
    return !covered_;
  }
  Finding finding{"not periodic", false};
  finding.message = "after " + std::to_string(frame->turn) +
                    " turns the loop has not come back to a state that it was in before";
  finding.first = Site{frame->node->source, static_cast<Core>(core), Pipe::kS, {}};
  Report(std::move(finding));
  stopped_ = true;
  return false;
}

// Whether all that can follow was walked: from a state that is the same but for threads that knew
// no more. Who knows less goes wrong wherever one who knows more does.
bool Run::SeenBefore(const State& state) {
  std::vector<std::string>& earlier = search_.seen[state.text];
  auto knows_all = [](const std::string& more, const std::string& less) {
    for (size_t i = 0; i < less.size(); ++i) {
      if ((less[i] & ~more[i]) != 0) return false;
    }
    return true;
  };
  for (const std::string& known : earlier) {
    if (knows_all(state.known, known)) return true;
  }
  std::erase_if(earlier, [&](const std::string& known) { return knows_all(known, state.known); });
  earlier.push_back(state.known);
  return false;
}

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
    const Value id = Eval(core, instruction.id);
    const auto number = path_.Number(id, 64, state.loops);
    if (number) {
      event.id = *number;
    } else {
      Finding finding{"undecided id", false};
      finding.message = "the id is " + search_.symbols->Text(id) + ", which may be anything";
      finding.first = SiteOf(instruction, static_cast<Core>(core), event.turns);
      Report(std::move(finding));
      stopped_ = true;
    }
  }
  if (instruction.unit_flag != kNone) {
    const Value unit_flag = Eval(core, instruction.unit_flag);
    event.unit_flag = unit_flag.known() && unit_flag.constant != 0;
  }
  if (instruction.action == Action::kLock || instruction.action == Action::kUnlock) {
    const bool locks = instruction.action == Action::kLock;
    const int pipe = static_cast<int>(instruction.pipe);
    Finding finding{"range"};
    finding.first = SiteOf(instruction, static_cast<Core>(core), event.turns);
    if (event.id < 0 || event.id >= program_.chip.lock_ids) {
      finding.message = "lock id " + std::to_string(event.id) + " is not one of 0 to " +
                        std::to_string(program_.chip.lock_ids - 1);
      Report(std::move(finding));
      stopped_ = true;
      return event;
    }
    Lock& lock = locks_[core * program_.chip.lock_ids + static_cast<int>(event.id)];
    if (locks == (lock.holder >= 0) || (!locks && lock.holder != pipe)) {
      finding.kind = "lock";
      finding.message = "lock " + std::to_string(event.id) +
                        (locks ? " is taken again before it was given back"
                               : " is given back by a pipe that does not hold it");
      if (lock.holder >= 0) {
        finding.second = std::move(finding.first);
        finding.first = SiteOf(*lock.taken_by, static_cast<Core>(core), {});
      }
      Report(std::move(finding));
      stopped_ = true;
      return event;
    }
    if (locks) {
      lock.held = lock.issued++;
      lock.taken_by = &instruction;
    }
    lock.holder = locks ? pipe : -1;
    event.sequence = lock.held;
  }
  event.accesses.reserve(instruction.accesses.size());
  for (const AccessPattern& pattern : instruction.accesses) EvaluateAccess(core, pattern, &event);
  return event;
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
  // Of two values of one number, by what is known here and at all turns of the loops.
  struct Both {
    Value here, loose;
  };
  auto eval = [&](Expr expr) {
    Value here = Eval(core, expr);
    return Both{here, EvalLoose(core, expr, here)};
  };
  auto most = [&](const Both& value) {
    if (value.loose.known()) return value.loose.constant;
    access.approximate = true;
    const int64_t ceiling = search_.symbols->LooseBounds(value.loose).high;
    return ceiling < kUnbounded ? ceiling : path_.Bounds(value.here).high;
  };
  const auto [begin, loose_begin] = eval(pattern.begin);
  const Both row_bytes = eval(pattern.row_bytes), rows = eval(pattern.rows);
  region.rows = most(rows);
  region.row_bytes = most(row_bytes);
  if (region.rows <= 0 || region.row_bytes <= 0) return;
  const Both stride = rows.loose == Value(1) ? Both{0, 0} : eval(pattern.stride);
  if (stride.loose.known() && access.space != Space::kGm &&
      !(loose_begin.known() && row_bytes.loose.known())) {
    access.exact = static_cast<int>(exact_.size());
    const int64_t pitch = stride.loose.constant;
    auto add = [&](const Value& from, const Value& bytes, const Value& count) {
      exact_.push_back({from, bytes, bytes + Scale(count - Value(1), pitch), pitch, heads_});
    };
    add(begin, row_bytes.here, rows.here);
    add(loose_begin, row_bytes.loose, rows.loose);
  }
  region.begin = begin.constant;
  if (stride.loose.known()) {
    region.stride = stride.loose.constant;
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
  if (access.space == Space::kGm) {
    if (!begin.known()) {
      region.base =
          bases_.try_emplace(begin.terms, static_cast<int32_t>(bases_.size())).first->second;
    }
  } else if (!loose_begin.known()) {
    Range range = search_.symbols->LooseBounds(loose_begin);
    if (range.low <= -kUnbounded || range.high >= kUnbounded) {
      range = path_.Bounds(begin);
      if (loose_begin.terms != begin.terms) search_.exact_used = true;
    }
    int64_t end = range.high + region.end() - region.begin;
    if (access.exact >= 0) {
      // Where both ends move, they may move together.
      const Value last = loose_begin + exact_[access.exact + 1].extent;
      end = std::min(end, search_.symbols->LooseBounds(last).high);
    }
    region = {range.low, end - range.low, 1, 0, 0};
    if (region.row_bytes <= 0) return;
    access.approximate = true;
  }
  if (access.space != Space::kGm) {
    const int64_t capacity = program_.chip.CapacityOf(access.space, program_.has_simt);
    auto fits = [&](const Range& bytes) { return bytes.low >= 0 && bytes.high <= capacity; };
    Range touched = {region.begin, region.end()};
    if (access.exact >= 0 && !fits(touched)) {
      touched.low = std::max(touched.low, path_.Bounds(begin).low);
      const Value end = begin + exact_[access.exact].extent;
      touched.high = std::min(touched.high, path_.Bounds(end).high);
      search_.exact_used = search_.exact_used || fits(touched);
    }
    if (!fits(touched)) {
      Finding finding{"capacity", !access.approximate};
      finding.message = std::string("bytes ") + std::to_string(touched.low) + " to " +
                        std::to_string(touched.high) + " of " + NameOf(access.space) +
                        " are touched, which has " + std::to_string(capacity) + " bytes";
      finding.first = SiteOf(*event->instruction, static_cast<Core>(core), event->turns);
      Report(std::move(finding));
    }
  }
  if (access.approximate) EvaluateSure(core, &access);
  event->accesses.push_back(access);
}

// Of an access with a region that is only a bound: what it touches for sure.
void Run::EvaluateSure(int core, Access* access) {
  const AccessPattern& pattern = *access->pattern;
  access->somewhere =
      pattern.somewhere && (pattern.happens_if == kNone || Known(core, pattern.happens_if) == true);
  if (!access->somewhere || pattern.sure_begin == kNone || Decides(pattern.sure_begin)) return;
  const Value begin = Eval(core, pattern.sure_begin);
  const auto base = bases_.find(begin.terms);
  if (base == bases_.end() || base->second != access->region.base) return;
  Region region{begin.constant, pattern.sure_bytes};
  region.base = base->second;
  access->sure = static_cast<int>(sure_.size());
  sure_.push_back(region);
}

}  // namespace tilelang_ascend_sched::verify
