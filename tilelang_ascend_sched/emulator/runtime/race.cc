#include "runtime/race.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace emu {
namespace {

bool conflicting(Mode a, Mode b) {
  if (a == Mode::Read && b == Mode::Read) return false;
  return !(a == Mode::Atomic && b == Mode::Atomic);
}

const char* kind_of(Mode before, Mode now) {
  if (before == Mode::Read) return "WAR";
  return now == Mode::Read ? "RAW" : "WAW";
}

constexpr uint32_t kGmPlace = ~0u;

const char* mode_name(Mode m) {
  return m == Mode::Read ? "reads" : m == Mode::Write ? "writes" : "adds to";
}

}  // namespace

void ByteOwners::split(uint64_t at) {
  auto it = segments_.upper_bound(at);
  if (it == segments_.begin()) return;
  --it;
  if (it->first == at || it->second.end <= at) return;
  Segment tail = it->second;
  it->second.end = at;
  segments_.emplace(at, std::move(tail));
}

template <class F>
void ByteOwners::enter(uint64_t begin, uint64_t end, const Mark& mark, const Clock& known,
                       F&& conflict) {
  if (begin >= end) return;
  // Most accesses meet exactly the segment an earlier one left.
  auto it = segments_.find(begin);
  if (it == segments_.end() || it->second.end != end) {
    split(begin);
    split(end);
    it = segments_.lower_bound(begin);
  }
  auto check = [&](const Mark& before, uint64_t b, uint64_t e) {
    if (before.epoch.agent < 0 || !conflicting(before.mode, mark.mode)) return;
    if (before.epoch.agent == mark.epoch.agent && before.epoch.tick == mark.epoch.tick) return;
    if (known[before.epoch.agent] < before.epoch.tick) conflict(before, b, e);
  };
  const bool writes = mark.mode != Mode::Read;
  uint64_t at = begin;
  while (at < end) {
    if (it == segments_.end() || it->first > at) {
      const uint64_t gap_end = it == segments_.end() ? end : std::min<uint64_t>(end, it->first);
      it = segments_.emplace_hint(it, at, Segment{gap_end, {}, {}});
    }
    Segment& s = it->second;
    check(s.writer, it->first, s.end);
    if (writes) {
      for (const Mark& reader : s.readers) check(reader, it->first, s.end);
      s.readers.clear();
      s.writer = mark;
    } else {
      bool found = false;
      for (Mark& reader : s.readers) {
        if (reader.epoch.agent != mark.epoch.agent) continue;
        reader = mark;
        found = true;
      }
      if (!found) s.readers.push_back(mark);
    }
    at = s.end;
    ++it;
  }
  if (!writes) return;
  // A write makes its whole range one again.
  auto first = segments_.find(begin);
  first->second.end = end;
  segments_.erase(std::next(first), segments_.lower_bound(end));
}

void RaceCheck::begin(int blocks) {
  last_clock_.assign(size_t(blocks) * kCores * kPipes, ~0u);
  notes_.clear();
  clocks_.clear();
  clock_sums_.clear();
}

uint32_t RaceCheck::site_of(const Core& core, const Instr& instr) {
  const uint64_t place = (uint64_t(instr.loc.line) << 32) | (uint64_t(instr.loc.call_site) << 8) |
                         (uint64_t(core.index) << 4) | uint64_t(instr.pipe);
  auto [it, fresh] = site_cache_.emplace(std::pair{(const void*)instr.loc.file, place}, 0);
  if (fresh) {
    const Site site{core.aic() ? "AIC" : "AIV", pipe_name(instr.pipe), instr.name, instr.loc};
    const std::string key = site.core + site.pipe + site.name + line_of(site.loc);
    auto [known, added] = site_index_.emplace(key, uint32_t(sites_.size()));
    if (added) sites_.push_back(site);
    it->second = known->second;
  }
  return it->second;
}

void RaceCheck::access(const Epoch& epoch, const Core& core, const Instr& instr,
                       const Access& access, const Clock& known) {
  uint32_t& last = last_clock_[epoch.agent];
  if (last == ~0u || !(clocks_[last] == known)) {
    last = uint32_t(clocks_.size());
    clocks_.push_back(known);
    clock_sums_.push_back(known.sum());
  }
  const int owner = access.sub < 0 ? core.index : access.sub == kAic ? 0 : 1 + access.sub;
  const uint32_t place = uint32_t(core.block * kCores + owner) * kSpaces + uint32_t(access.space);
  // What happens before has a smaller vector with its own tick in it, so a smaller sum.
  const uint64_t weight = clock_sums_[last] - known[epoch.agent] + epoch.tick;
  notes_.push_back({access, Mark{epoch, site_of(core, instr), access.mode},
                    access.space == Space::GM ? kGmPlace : place,
                    machine().blocks[core.block]->index, last, weight});
}

void RaceCheck::conflict(const Mark& before, const Mark& now, Space space, const std::string& where,
                         int block) {
  const uint64_t pair =
      (uint64_t(std::min(before.site, now.site)) << 32) | std::max(before.site, now.site);
  if (!reported_.insert({pair, int(space)}).second) return;
  // On one core program order tells which access was meant to come first.
  const Mark* first = &before;
  const Mark* second = &now;
  const bool one_core = before.epoch.agent / kPipes == now.epoch.agent / kPipes && block >= 0;
  if (one_core && second->epoch.sequence < first->epoch.sequence) std::swap(first, second);
  const Site& a = sites_[first->site];
  const Site& b = sites_[second->site];
  Finding finding(one_core && first->epoch.agent == second->epoch.agent ? "race-same-pipe"
                                                                        : "race");
  finding.block = block;
  auto who = [](const Site& s) {
    return s.core + " " + s.pipe + " " + s.name + " at line " + line_of(s.loc);
  };
  finding.message = std::string(kind_of(first->mode, second->mode)) + " race on " +
                    space_name(space) + " " + where + ": " + who(a) + " " + mode_name(first->mode) +
                    ", " + who(b) + " " + mode_name(second->mode) +
                    (block >= 0 ? ", nothing orders them" : " in another block");
  finding.sites = {a, b};
  report(std::move(finding));
}

namespace {

std::string gm_range(uint64_t begin, uint64_t end) {
  const GmArray* array = find_array(begin);
  const uint64_t base = array ? array->begin : 0;
  return (array ? array->name + " " : "") + "bytes " + std::to_string(begin - base) + ".." +
         std::to_string(end - base - 1);
}

const GmArray* array_of(const Access& a) { return find_array(a.begin); }

}  // namespace

void RaceCheck::enter(ByteOwners& bytes, const Note& note) {
  for (uint32_t r = 0; r < note.access.rows; ++r) {
    const uint64_t begin = note.access.begin + int64_t(r) * note.access.stride;
    bytes.enter(begin, begin + note.access.row_bytes, note.mark, clocks_[note.clock],
                [&](const Mark& before, uint64_t b, uint64_t e) {
                  const std::string where =
                      note.place == kGmPlace
                          ? gm_range(b, e)
                          : "bytes " + std::to_string(b) + ".." + std::to_string(e - 1);
                  conflict(before, note.mark, note.access.space, where, int(note.block));
                });
  }
}

void RaceCheck::replay() {
  std::stable_sort(notes_.begin(), notes_.end(), [](const Note& a, const Note& b) {
    return std::tie(a.weight, a.mark.epoch.agent, a.mark.epoch.tick) <
           std::tie(b.weight, b.mark.epoch.agent, b.mark.epoch.tick);
  });
  // Arrays that nothing writes cannot race, and they are read in many small rows.
  std::set<const GmArray*> written;
  for (const Note& n : notes_) {
    if (n.place == kGmPlace && n.mark.mode != Mode::Read) written.insert(array_of(n.access));
  }
  std::map<uint32_t, ByteOwners> local;
  std::map<const GmArray*, ByteOwners> global;
  for (const Note& n : notes_) {
    if (n.place != kGmPlace) {
      enter(local[n.place], n);
      continue;
    }
    const GmArray* array = array_of(n.access);
    records_.push_back({n.access, n.mark.site, n.block});
    if (written.count(array)) enter(global[array], n);
  }
}

uint64_t RaceCheck::closure() const {
  uint64_t digest = 0;
  auto mix = [](uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    return hash ^ (hash >> 29);
  };
  for (const Note& n : notes_) {
    // Where GM lies differs from run to run.
    const uint64_t base = n.place == kGmPlace ? machine().gm_begin : 0;
    uint64_t hash = mix(n.place, n.access.begin - base);
    for (uint64_t value : {n.access.row_bytes, uint64_t(n.access.rows), uint64_t(n.access.stride),
                           uint64_t(n.mark.mode), uint64_t(n.mark.epoch.agent),
                           uint64_t(n.mark.epoch.tick), uint64_t(n.block)}) {
      hash = mix(hash, value);
    }
    const int agents = int(last_clock_.size());
    for (int a = 0; a < agents; ++a) hash = mix(hash, clocks_[n.clock][a]);
    digest += hash;
  }
  return digest;
}

void RaceCheck::end() {
  if (!machine().options.race) return;
  if (machine().options.closure) {
    machine().stats[machine().blocks.front()->index].closure = closure();
  }
  replay();
  if (machine().kernel->together) records_.clear();  // replay has seen every block
}

void RaceCheck::dump(std::FILE* out) const {
  auto put = [&](const auto& v) { std::fwrite(&v, sizeof v, 1, out); };
  put(uint64_t(sites_.size()));
  for (const Site& s : sites_) {
    // String literals keep their addresses over fork().
    put(s.loc);
    for (const std::string* text : {&s.core, &s.pipe, &s.name}) {
      char fixed[64] = {};
      std::strncpy(fixed, text->c_str(), sizeof fixed - 1);
      put(fixed);
    }
  }
  put(uint64_t(records_.size()));
  for (const GmRecord& r : records_) put(r);
}

void RaceCheck::load(std::FILE* in) {
  auto get = [&](auto& v) { return std::fread(&v, sizeof v, 1, in) == 1; };
  uint64_t count = 0;
  if (!get(count)) return;
  std::vector<uint32_t> site_map(count);
  for (uint64_t i = 0; i < count; ++i) {
    Site s;
    get(s.loc);
    char text[64];
    for (std::string* field : {&s.core, &s.pipe, &s.name}) {
      if (get(text)) *field = text;
    }
    const std::string key = s.core + s.pipe + s.name + line_of(s.loc);
    auto [it, added] = site_index_.emplace(key, uint32_t(sites_.size()));
    if (added) sites_.push_back(s);
    site_map[i] = it->second;
  }
  if (!get(count)) return;
  for (uint64_t i = 0; i < count; ++i) {
    GmRecord r;
    if (!get(r)) return;
    r.site = site_map[r.site];
    records_.push_back(r);
  }
}

void RaceCheck::check_across() {
  struct Row {
    uint64_t begin, end;
    uint32_t block, site;
    Mode mode;
    bool operator<(const Row& o) const {
      return std::tie(begin, end, block, site, mode) <
             std::tie(o.begin, o.end, o.block, o.site, o.mode);
    }
    bool operator==(const Row&) const = default;
  };
  std::set<const GmArray*> written;
  for (const GmRecord& r : records_) {
    if (r.access.mode != Mode::Read) written.insert(array_of(r.access));
  }
  std::vector<Row> rows;
  for (const GmRecord& r : records_) {
    if (!written.count(array_of(r.access))) continue;
    for (uint32_t i = 0; i < r.access.rows; ++i) {
      const uint64_t begin = r.access.begin + int64_t(i) * r.access.stride;
      rows.push_back({begin, begin + r.access.row_bytes, r.block, r.site, r.access.mode});
    }
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<const Row*> open;
  for (const Row& row : rows) {
    std::erase_if(open, [&](const Row* o) { return o->end <= row.begin; });
    for (const Row* o : open) {
      if (o->block == row.block || !conflicting(o->mode, row.mode)) continue;
      conflict({{0, 0, 0}, o->site, o->mode}, {{0, 0, 0}, row.site, row.mode}, Space::GM,
               gm_range(row.begin, std::min(o->end, row.end)) + " of block " +
                   std::to_string(o->block) + " and " + std::to_string(row.block),
               -1);
    }
    open.push_back(&row);
  }
  records_.clear();
}

}  // namespace emu
