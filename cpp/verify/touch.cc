// Accesses: which of two that meet are not in order.
#include <algorithm>
#include <numeric>
#include <utility>

#include "verify/cases.h"
#include "verify/run.h"

namespace tilelang_ascend_sched::verify {

bool Run::Ordered(const Record& record, Thread thread) const {
  if (record.thread == thread && program_.chip.CompletesInOrder(PipeOf(thread))) return true;
  return clocks_[thread].known[record.thread] >= record.index;
}

void Run::Touch(const Event& event, Thread thread, uint32_t index) {
  for (const Access& access : event.accesses) {
    if (inputs_ != nullptr) Remember(access, thread);
    if (Excused(*access.pattern)) continue;
    const Record record{
        access.region, event.instruction, access.pattern, event.turns,        index,
        thread,        access.writes,     access.atomic,  access.approximate, event.unit_flag,
        access.exact,  access.somewhere,  access.sure,    access.buffer};
    bool newly_used = false;
    Memory& memory = access.space == Space::kGm ? tensors_[access.tensor]
                                                : memories_[static_cast<int>(access.space)];
    const Record* replaced = access.space == Space::kGm ? nullptr : memory.Replaced(record);
    if (replaced != nullptr) ReportReplaced(*replaced, record, access);
    memory.Touch(
        record, [&](const Record& other) { return Ordered(other, thread); },
        [&](const Record& other) {
          if (other.thread == thread && other.index == index) return;
          if (Ordered(other, thread)) return;
          if (Apart(other, record)) {
            return;
          }
          // Unit flags order M and FIX on L0C by themselves.
          const bool unit_flags = access.space == Space::kL0c && other.unit_flag &&
                                  record.unit_flag && other.thread != thread;
          if (unit_flags) return;
          const Excuse excuse = ExcuseOf(other, record);
          if (excuse.answer != Answer::kYes) return ReportRace(other, record, access, excuse);
          newly_used = Use(excuse.hint) || newly_used;
        });
    if (newly_used) memory.Forget([&](const Record& other) { return Excused(*other.pattern); });
    if (memory.records().size() < 32) continue;
    const uint32_t readers = search_.periods.accessors(access.space, access.tensor);
    memory.Forget([&](const Record& other) {
      if (KnownToAll(other, readers)) return true;
      // What a hint frees for ever need not be kept, if the hint may be needed.
      for (const int hint : other.pattern->apart_by) Use(hint);
      return !other.pattern->apart_by.empty();
    });
    // Each access meets all open ones: without an end, the work would grow with their square.
    constexpr size_t kMostOpen = 4096;
    if (memory.records().size() < kMostOpen) continue;
    Finding finding{"budget", false};
    finding.message = "more than " + std::to_string(kMostOpen) +
                      " accesses to one memory or tensor are never known to be complete";
    finding.first = SiteOf(*event.instruction, CoreOf(thread), event.turns);
    Report(std::move(finding));
    stopped_ = true;
    return;
  }
}

// Which numbers in memory stay what they are. Of a read that is only bounded nothing is.
void Run::Remember(const Access& access, Thread thread) {
  const Region& region = access.region;
  if (access.writes) {
    contents_.Write(access.space, access.tensor, region);
  } else if (PipeOf(thread) == Pipe::kS && !access.approximate && region.base == 0) {
    const int64_t first = access.buffer < 0 ? 0 : program_.buffers[access.buffer].begin;
    contents_.Read(static_cast<int>(CoreOf(thread)), access.space, access.tensor, region, first);
  }
}

// Whether nobody who may touch the record's memory can still conflict with it.
bool Run::KnownToAll(const Record& record, uint32_t threads) const {
  for (int thread = 0; thread < kThreads; ++thread) {
    if ((threads >> thread & 1) != 0 && !Ordered(record, static_cast<Thread>(thread))) {
      return false;
    }
  }
  return true;
}

// Whether two regions are disjoint whatever inputs put between them: if it is tiles, say, and each
// stays inside a part of its tile.
bool Run::ApartByRemainder(const Region& a, const Region& b) const {
  int64_t unit = 0;
  for (const Term& term : (BaseOf(b) - BaseOf(a)).terms) unit = std::gcd(unit, term.factor);
  auto bytes = [unit](const Region& region) {
    return region.stride % unit == 0 ? region.row_bytes : region.end() - region.begin;
  };
  const int64_t shift = ((b.begin - a.begin) % unit + unit) % unit;
  return bytes(a) <= shift && shift + bytes(b) <= unit;
}

// What has to hold of run-time inputs for two regions to have bytes in common; nothing if they have
// for all inputs.
std::vector<Decision> Run::WhereMeet(const Region& a, const Region& b) const {
  if (a.base == b.base) return {};
  const Value between = path_.Now(BaseOf(b) - BaseOf(a)) + Value(b.begin - a.begin);
  const int64_t most = a.end() - a.begin - 1, least = b.begin - b.end() + 1;
  return {{between.terms, most - between.constant, true, 0},
          {between.terms, least - 1 - between.constant, false, 0}};
}

// Whether the exact regions of two accesses are known to be disjoint, though their bounds are not.
bool Run::Apart(const Record& a, const Record& b) const {
  if (a.region.base != b.region.base) return ApartByRemainder(a.region, b.region);
  if (a.exact < 0 && b.exact < 0) return false;
  auto at_most_zero = [&](const Value& value) {
    return NeverPositive(search_.symbols, value, path_.facts());
  };
  auto exact = [&](const Record& record) {
    if (record.exact >= 0) return exact_[record.exact];
    const Region& region = record.region;
    return ExactRegion{region.begin, region.row_bytes, region.end() - region.begin, region.stride};
  };
  auto before = [&](const ExactRegion& p, const ExactRegion& q) {
    if (at_most_zero(p.begin + p.extent - q.begin)) return true;
    if (!at_most_zero(p.begin + p.row_bytes - q.begin)) return false;
    // Side by side in rows of one pitch: the end of q's row comes before p's next row.
    return p.stride == q.stride && at_most_zero(q.begin + q.row_bytes - p.begin - Value(p.stride));
  };
  const ExactRegion x = exact(a), y = exact(b);
  return before(x, y) || before(y, x);
}

// Whether two accesses touch a byte in common for sure, for some data: both known bytes, or the
// known ones of the one and wherever the other one goes.
bool Run::Meet(const Record& a, const Record& b) const {
  if (a.region.base != b.region.base) return false;
  auto sure = [&](const Record& record) {
    if (!record.approximate) return &record.region;
    return record.sure < 0 ? nullptr : &sure_[record.sure];
  };
  const Region *x = sure(a), *y = sure(b);
  if (x != nullptr && y != nullptr) return Overlap(*x, *y);
  return (x != nullptr && b.somewhere && Covers(*x, b.region)) ||
         (y != nullptr && a.somewhere && Covers(*y, a.region));
}

}  // namespace tilelang_ascend_sched::verify
