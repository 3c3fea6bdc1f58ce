#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "verify/program.h"

namespace tilelang_ascend_sched::verify {

// How many events of each thread have completed, as far as the owner of the clock can know.
struct Clock {
  std::array<uint32_t, kClocked> known{};

  void Join(const Clock& other) {
    for (int i = 0; i < kClocked; ++i) known[i] = std::max(known[i], other.known[i]);
  }
};

// `rows` runs of `row_bytes` bytes, `stride` bytes apart. Two regions compare only if the symbolic
// parts of their addresses (`base`) are the same.
struct Region {
  int64_t begin = 0;
  int64_t row_bytes = 0;
  int64_t rows = 1;
  int64_t stride = 0;
  int32_t base = 0;

  int64_t end() const { return begin + (rows - 1) * stride + row_bytes; }
};

bool Overlap(const Region& a, const Region& b);
bool Covers(const Region& outer, const Region& inner);

// The innermost loops around an event and their turns; a null loop ends the list.
struct Turns {
  static constexpr int kKept = 3;
  std::array<const Node*, kKept> loops{};
  std::array<int64_t, kKept> turns{};
  bool more = false;  // there are loops around those
};

// By how many turns of each loop around both an event on core `to` is later than one on `from`.
std::string Distance(const Turns& first, Core from, const Turns& second, Core to);

// One access that a later one may have to wait for.
struct Record {
  Region region;
  const Instruction* instruction;
  const AccessPattern* pattern;
  Turns turns;
  uint32_t index;  // of the event in its thread
  Thread thread;
  bool writes;
  bool atomic;
  bool approximate;
  bool unit_flag;
  int exact;          // index of the region that run-time inputs decide; -1 if this one is exact
  bool somewhere;     // it touches some bytes of its region for sure, for some data
  int sure;           // index of those, if they are known; else -1
  int buffer;         // that the bytes were touched as; -1 if not known
  uint64_t lost = 0;  // buffers whose contents this write replaced, as bits

  // Buffers that share bytes have the lowest numbers; the others need no bit.
  uint64_t buffer_bit() const { return buffer >= 0 && buffer < 64 ? uint64_t{1} << buffer : 0; }
};

// What was touched in one memory, as far as it can still conflict.
class Memory {
 public:
  // Calls `conflict(record)` for each recorded access that overlaps `access`, one of the two a
  // write; records `access`; forgets what `access` stands for from now on: accesses that it covers
  // and that `ordered(record)` says are complete before it. Whoever is ordered after the access is
  // ordered after those too; that it may touch less than its region can only ask for more order.
  template <typename Ordered, typename Conflict>
  void Touch(Record access, Ordered ordered, Conflict conflict) {
    size_t kept = 0;
    for (size_t i = 0; i < records_.size(); ++i) {
      const Record& record = records_[i];
      bool forget = false;
      if (Overlap(record.region, access.region)) {
        if (record.writes && access.writes) {
          access.lost |= record.lost | record.buffer_bit();
        }
        if ((record.writes || access.writes) && !(record.atomic && access.atomic)) conflict(record);
        // Knowing that the later of two reads by one thread is complete is knowing both are.
        const bool stands_for =
            access.writes ? ordered(record) : !record.writes && record.thread == access.thread;
        forget = stands_for && Covers(access.region, record.region) &&
                 access.atomic == record.atomic && access.unit_flag == record.unit_flag;
      }
      if (!forget) records_[kept++] = records_[i];
    }
    access.lost &= ~access.buffer_bit();
    records_.resize(kept);
    records_.push_back(access);
  }

  // The write, by way of another buffer, that replaced what `access` is about to read; null if
  // there is none. Any later write by way of the same buffer is taken to have filled it anew.
  const Record* Replaced(const Record& access) const {
    if (access.writes || access.buffer < 0) return nullptr;
    for (size_t i = records_.size(); i-- > 0;) {
      const Record& record = records_[i];
      if (!record.writes || record.buffer < 0 || !Overlap(record.region, access.region)) continue;
      if (record.buffer == access.buffer) return nullptr;
      if ((record.lost & access.buffer_bit()) != 0) return &record;
    }
    return nullptr;
  }

  template <typename Predicate>
  void Forget(Predicate predicate) {
    std::erase_if(records_, predicate);
  }

  std::vector<Record>& records() { return records_; }

 private:
  std::vector<Record> records_;
};

}  // namespace tilelang_ascend_sched::verify
