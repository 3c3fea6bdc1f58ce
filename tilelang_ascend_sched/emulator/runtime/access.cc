// Local memories, the GM arrays, and the checks that every declared access goes through.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/findings.h"
#include "runtime/ledger.h"
#include "runtime/local.h"
#include "runtime/places.h"

namespace emu {
namespace {

constexpr uint64_t kGuard = 1 << 20;
constexpr uint64_t kUbMapped = 256 * 1024;

// UB is dereferenced by the kernel's own code, so it lies between pages that fault. Mappings are
// kept for the next block.
uint8_t* map_ub(int core) {
  static uint8_t* maps[kCores] = {};
  static std::vector<uint8_t*> more;
  auto fresh = [] {
    void* p = mmap(nullptr, kUbMapped + 2 * kGuard, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) abort();
    uint8_t* ub = static_cast<uint8_t*>(p) + kGuard;
    mprotect(ub, kUbMapped, PROT_READ | PROT_WRITE);
    return ub;
  };
  if (machine().blocks.size() > 1) return fresh();
  if (!maps[core]) maps[core] = fresh();
  return maps[core];
}

// Where the AIC's pointers into UB point: never mapped, only ever turned back into offsets.
uint8_t* ub_view() {
  static uint8_t* view = [] {
    void* p = mmap(nullptr, kUbMapped + 2 * kGuard, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) abort();
    return static_cast<uint8_t*>(p) + kGuard;
  }();
  return view;
}

// The array that an address was meant for: the one it lies in, or behind which it lies.
const GmArray* nearest_array(uint64_t address) {
  const Machine& m = machine();
  if (address < m.gm_begin || address >= m.gm_end) return nullptr;
  const GmArray* nearest = nullptr;
  for (const GmArray& array : m.arrays) {
    if (!nearest || array.begin <= address) nearest = &array;
  }
  return nearest;
}

std::string range_text(Core& core, const Access& a) {
  const int64_t last = int64_t(a.begin) + int64_t(a.rows - 1) * a.stride;
  const int64_t low = std::min<int64_t>(int64_t(a.begin), last);
  const int64_t high = std::max<int64_t>(int64_t(a.begin), last) + int64_t(a.row_bytes);
  if (a.space == Space::GM) {
    const GmArray* array = nearest_array(a.begin);
    if (!array) return "outside every argument";
    return array->name + " bytes " + std::to_string(low - int64_t(array->begin)) + ".." +
           std::to_string(high - 1 - int64_t(array->begin)) + " of " +
           std::to_string(array->end - array->begin);
  }
  const char* other = nullptr;
  if (a.space == Space::UB && (low < 0 || low >= int64_t(kUbMapped))) {
    other = meaning_of(home_of(core, reinterpret_cast<uint64_t>(ub_base()) + uint64_t(low)));
  } else if (low < 0 || low >= int64_t(1) << 32) {
    other = meaning_of(home_of(core, uint64_t(low)));
  }
  if (other) return std::string("through a pointer to ") + other;
  return "bytes " + std::to_string(low) + ".." + std::to_string(high - 1);
}

bool in_range(Core& core, const Access& a) {
  if (a.rows == 0 || a.row_bytes == 0) return true;
  const int64_t last = int64_t(a.begin) + int64_t(a.rows - 1) * a.stride;
  const int64_t low = std::min<int64_t>(int64_t(a.begin), last);
  const int64_t high = std::max<int64_t>(int64_t(a.begin), last) + int64_t(a.row_bytes);
  if (a.space == Space::GM) {
    const GmArray* array = find_array(a.begin);
    return array && low >= int64_t(array->begin) && high <= int64_t(array->end);
  }
  return low >= 0 && high <= int64_t(memory_of(core, a).size);
}

}  // namespace

void LocalMemory::allocate(uint64_t bytes) {
  size = bytes;
  valid.assign(bytes, 0);
  if (!data) {
    own = {static_cast<uint8_t*>(std::aligned_alloc(64, bytes)), [](uint8_t* p) { std::free(p); }};
    data = own.get();
  }
  clear();
}

void LocalMemory::clear() {
  std::memset(data, 0xff, size);
  std::memset(valid.data(), 0, size);
}

Core& owner_of(Core& core, const Access& access) {
  if (access.sub < 0) return core;
  return machine().block_of(core).cores[access.sub == kAic ? 0 : 1 + access.sub];
}

LocalMemory& memory_of(Core& core, const Access& access) {
  return owner_of(core, access).memory[int(access.space)];
}

void check_written(const LocalMemory& memory, Space space, uint64_t offset, uint64_t bytes) {
  const uint8_t* valid = &memory.valid[offset];
  const void* hole = std::memchr(valid, 0, bytes);
  if (!hole) return;
  const Machine& m = machine();
  const uint64_t at = offset + (static_cast<const uint8_t*>(hole) - valid);
  Finding finding("never-written");
  finding.message = std::string(m.entry->instr.name) + " at line " + line_of(m.entry->instr.loc) +
                    " reads " + space_name(space) + " byte " + std::to_string(at) +
                    ", which nothing has written";
  finding.at(*m.core, m.entry->instr);
  report(std::move(finding));
}

void check_unit_flag(const char* name, int control) {
  if (control != 0 && control != 2 && control != 3) {
    failf("%s: unit flag control %d is not modelled", name, control);
  }
}

void enqueue_unit(Instr&& instr, int control) {
  Entry entry(Op::Run, std::move(instr));
  entry.unit = uint8_t(control);
  enqueue(std::move(entry));
}

const GmArray* find_array(uint64_t address) {
  const auto& arrays = machine().arrays;
  auto it = std::upper_bound(arrays.begin(), arrays.end(), address,
                             [](uint64_t a, const GmArray& g) { return a < g.begin; });
  if (it == arrays.begin()) return nullptr;
  --it;
  return address < it->end || (address == it->end && it->begin == it->end) ? &*it : nullptr;
}

namespace {

// What the data movers and the Cube demand of an address, in bytes.
uint64_t alignment_of(Space space) {
  switch (space) {
    case Space::UB:
    case Space::L1:
    case Space::MXA:
    case Space::MXB:
      return 32;
    case Space::L0A:
    case Space::L0B:
      return 512;
    case Space::L0C:
      return 64;
    case Space::GM:
      break;
  }
  return 1;
}

void report_access(Core& core, const Entry& entry, const Access& a, const char* kind,
                   const std::string& problem) {
  Finding finding(kind);
  finding.message = std::string(entry.instr.name) + " at line " + line_of(entry.instr.loc) +
                    (a.mode == Mode::Read ? " reads " : " writes ") + space_name(a.space) + " " +
                    range_text(core, a) + problem;
  finding.at(core, entry.instr);
  report(std::move(finding));
}

}  // namespace

void check_bounds(Core& core, Entry& entry) {
  for (int i = 0; i < entry.instr.access_count; ++i) {
    const Access& a = entry.instr.access[i];
    const uint64_t alignment = alignment_of(a.space);
    if (a.begin % alignment != 0) {
      report_access(core, entry, a, "alignment",
                    ", which is not aligned to " + std::to_string(alignment) + " bytes");
    }
    if (in_range(core, a)) continue;
    entry.bad = true;
    if (a.space == Space::GM) {
      report_access(core, entry, a, "out-of-range", "");
      continue;
    }
    const uint64_t size = memory_of(core, a).size;
    const bool simt = machine().kernel->simt && a.space == Space::UB;
    report_access(core, entry, a, a.space == Space::UB ? "capacity" : "out-of-range",
                  ", beyond its " + std::to_string(size) + " bytes" +
                      (simt ? " (of a kernel with a SIMT function)" : ""));
  }
}

namespace {

void report_scalar(Core& core, const char* kind, const std::string& what, Mode mode,
                   const Loc& at) {
  Finding finding(kind);
  finding.block = int(machine().block_of(core).index);
  finding.message = "the scalar program " + std::string(mode == Mode::Read ? "reads " : "writes ") +
                    what + " at line " + line_of(at);
  finding.add_site(core.name(), Pipe::S, "scalar access", at);
  report(std::move(finding));
}

}  // namespace

void scalar_touch(Core& core, uint64_t address, uint64_t bytes, Mode mode, const Loc& at) {
  LocalMemory& ub = core.memory[int(Space::UB)];
  const uint64_t offset = address - reinterpret_cast<uint64_t>(ub.data);
  Access access{Space::UB, mode, -1, offset, bytes};
  if (ub.data && offset < ub.size && bytes <= ub.size - offset) {
    if (mode == Mode::Write) {
      std::memset(&ub.valid[offset], 1, bytes);
    } else if (std::memchr(&ub.valid[offset], 0, bytes)) {
      report_scalar(core, "never-written",
                    "UB byte " + std::to_string(offset) + ", which nothing has written,", mode, at);
    }
    ledger().scalar_access(core, access, at);
    return;
  }
  const Home home = home_of(core, address);
  switch (home) {
    case Home::Gm:
      access.space = Space::GM;
      access.begin = address;
      if (in_range(core, access)) {
        ledger().scalar_access(core, access, at);
      } else {
        expect_fault(address, bytes);
        report_scalar(core, "out-of-range", "GM " + range_text(core, access), mode, at);
      }
      return;
    case Home::Ub:
    case Home::NearUb:
      expect_fault(address, bytes);
      report_scalar(core, "capacity",
                    "UB byte " + std::to_string(int64_t(offset)) + ", beyond its " +
                        std::to_string(ub.size) + " bytes,",
                    mode, at);
      return;
    case Home::Variable:
      report_scalar(core, "blind-spot",
                    "a static or global variable, whose place on the device is not known,", mode,
                    at);
      return;
    default:
      break;
  }
  if (const char* objection = objection_to(home)) {
    expect_fault(address, bytes);
    report_scalar(core, "wild-pointer", address_text(address) + ", " + objection + ",", mode, at);
  }
}

void scalar_access(const void* address, uint64_t bytes, Mode mode, At at) {
  Core& core = *machine().core;
  if (machine().entry) {
    mode == Mode::Read ? vf_read(address, bytes) : vf_write(address, bytes);
    return;
  }
  core.last_at = make_loc(at);
  scalar_touch(core, reinterpret_cast<uint64_t>(address), bytes, mode, core.last_at);
}

char* ub_base() {
  Core& core = *machine().core;
  return reinterpret_cast<char*>(core.aic() ? ub_view() : core.memory[int(Space::UB)].data);
}

uint64_t ub_offset(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  // An address made from an integer at run time has not been given the base.
  return address < kUbMapped ? address : address - reinterpret_cast<uint64_t>(ub_base());
}

void map_ub_of(Core& core) { core.memory[int(Space::UB)].data = map_ub(core.index); }

}  // namespace emu
