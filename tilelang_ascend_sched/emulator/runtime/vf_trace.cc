#include "runtime/vf_trace.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/findings.h"
#include "runtime/ledger.h"
#include "runtime/places.h"

namespace emu {
namespace {

constexpr uint32_t kThreadMask = 0xfff;
// Numbers that no thread has: more than one thread, of several warps or of warp n.
constexpr uint32_t kSeveral = kThreadMask;
constexpr uint32_t kSeveralOfWarp = 2048;
constexpr uint32_t kWarp = 32;

uint32_t warp_of(uint32_t who) {
  const uint32_t thread = who & kThreadMask;
  if (thread == kSeveral) return ~0u;
  return thread >= kSeveralOfWarp ? thread - kSeveralOfWarp : thread / kWarp;
}

void set_bits(std::vector<uint64_t>& bits, uint64_t begin, uint64_t count) {
  while (count > 0) {
    const uint64_t in_word = std::min<uint64_t>(count, 64 - begin % 64);
    const uint64_t ones = in_word == 64 ? ~0ull : ((1ull << in_word) - 1);
    bits[begin / 64] |= ones << (begin % 64);
    begin += in_word;
    count -= in_word;
  }
}

}  // namespace

VfTrace the_vf_trace;

void VfTrace::begin(Core& core, const Entry& entry) {
  core_ = &core;
  instr_ = &entry.instr;
  simt_ = entry.instr.work.kind == kVfSimt;
  ++serial_;
  who_ = 0;
  warp_syncs_ = 0;
  counts_ = {};
  gm_.clear();
  clashed_ = false;
  order_.begin();
  flow_.clear();
  loads_.clear();
  early_.clear();
  unwritten_.clear();
  overtaking_.clear();
  unwritten_begin_ = unwritten_end_ = unwritten_by_ = 0;
  const size_t words = kUbBytes / 64;
  read_.assign(words, 0);
  written_.assign(words, 0);
  if (reader_.empty()) {
    reader_.assign(kUbBytes, 0);
    writer_.assign(kUbBytes, 0);
    reader_syncs_.assign(kUbBytes, 0);
    writer_syncs_.assign(kUbBytes, 0);
    atomic_serial_.assign(kUbBytes, 0);
  }
}

Loc VfTrace::in_body(uint32_t line) const {
  Loc loc = instr_->loc;
  if (line > 0) loc.line = line;
  return loc;
}

void VfTrace::report_here(const char* kind, const std::string& message, uint32_t line) {
  const Loc place = line > 0
                        ? in_body(line)
                        : code_place(caller_, {nullptr, instr_->loc.line, instr_->loc.call_site});
  Finding finding(kind);
  finding.message = message + (place.file ? " at line " + line_of(place) : "") +
                    "; launched at line " + line_of(instr_->loc);
  finding.at(*core_, *instr_);
  report(std::move(finding));
}

void VfTrace::touch(uint64_t address, uint64_t bytes, Mode mode, uint64_t caller, bool vector) {
  if (!core_) return;
  caller_ = caller;
  const LocalMemory& ub = core_->memory[int(Space::UB)];
  const uint64_t offset = address - reinterpret_cast<uint64_t>(ub.data);
  if (offset < ub.size && bytes <= ub.size - offset) {
    if (simt_) (mode == Mode::Read ? counts_.loads : counts_.stores) += bytes;
    if (!simt_) touch_simd(offset, bytes, mode, vector);
    touch_ub(offset, bytes, mode);
    return;
  }
  const Machine& m = machine();
  if (address >= m.gm_begin && address < m.gm_end) {
    if (simt_) (mode == Mode::Read ? counts_.loads : counts_.stores) += bytes;
    touch_gm(address, bytes, mode);
    return;
  }
  touch_other(address, bytes, mode);
}

void VfTrace::touch_other(uint64_t address, uint64_t bytes, Mode mode) {
  const LocalMemory& ub = core_->memory[int(Space::UB)];
  const std::string who =
      mode == Mode::Read ? "a vector function reads " : "a vector function writes ";
  const Home home = home_of(*core_, address);
  switch (home) {
    case Home::Ub:
    case Home::NearUb:
      expect_fault(address, bytes);
      report_here("capacity",
                  who + "UB byte " +
                      std::to_string(int64_t(address - reinterpret_cast<uint64_t>(ub.data))) +
                      ", beyond its " + std::to_string(ub.size) + " bytes");
      return;
    case Home::ScalarStack:
      // Reading such an array is no race, but what it holds on the device is not known.
      report_here(mode == Mode::Read ? "blind-spot" : "race-simt",
                  who + "an array of the scalar program, which all threads share");
      return;
    case Home::Variable:
      report_here("blind-spot",
                  who + "a static or global variable, whose place on the device is not known");
      return;
    default:
      break;
  }
  if (const char* objection = objection_to(home)) {
    expect_fault(address, bytes);
    report_here("wild-pointer", who + address_text(address) + ", " + objection);
  }
}

void VfTrace::touch_ub(uint64_t offset, uint64_t bytes, Mode mode) {
  LocalMemory& ub = core_->memory[int(Space::UB)];
  const uint64_t mine = (uint64_t(serial_) << 32) | who_;
  const bool write = mode != Mode::Read;
  set_bits(write ? written_ : read_, offset, bytes);
  if (mode != Mode::Write) {
    if (std::memchr(&ub.valid[offset], 0, bytes))
      note_unwritten(offset, offset + bytes, caller_, 0);
  }
  if (write) std::memset(&ub.valid[offset], 1, bytes);
  if (!simt_) return;
  if (mode == Mode::Atomic) {
    for (uint64_t i = offset; i < offset + bytes; ++i) atomic_serial_[i] = serial_;
  }
  const uint32_t epoch = who_ & ~kThreadMask;
  auto same_epoch = [&](uint64_t last) {
    return (last >> 32) == serial_ && (uint32_t(last) & ~kThreadMask) == epoch;
  };
  const uint32_t warp = warp_of(who_);
  auto ordered = [&](uint32_t other, uint32_t syncs) {
    return warp_of(other) == warp && syncs != warp_syncs_;
  };
  for (uint64_t i = offset; i < offset + bytes; ++i) {
    const bool atomics = mode == Mode::Atomic && atomic_serial_[i] == serial_;
    const bool other_wrote = same_epoch(writer_[i]) && uint32_t(writer_[i]) != who_ &&
                             !ordered(uint32_t(writer_[i]), writer_syncs_[i]);
    const bool other_read = same_epoch(reader_[i]) && uint32_t(reader_[i]) != who_ &&
                            !ordered(uint32_t(reader_[i]), reader_syncs_[i]);
    if (other_wrote && !atomics) clash(i, uint32_t(writer_[i]), write);
    if (other_read && write && !atomics) clash(i, uint32_t(reader_[i]), write);
    if (write) {
      writer_[i] = mine;
      writer_syncs_[i] = warp_syncs_;
    } else {
      // One that this warp has synchronized with need not be kept: whom it races with in another
      // warp, this thread races with too.
      const bool one_warp = warp_of(uint32_t(reader_[i])) == warp;
      const uint64_t several = one_warp ? kSeveralOfWarp + warp : kSeveral;
      reader_[i] = other_read ? (mine & ~uint64_t{kThreadMask}) | several : mine;
      reader_syncs_[i] = warp_syncs_;
    }
  }
}

void VfTrace::note_unwritten(uint64_t begin, uint64_t end, uint64_t caller, uint32_t line) {
  if (unwritten_end_ > 0) return;
  unwritten_begin_ = begin, unwritten_end_ = end;
  unwritten_by_ = caller;
  unwritten_line_ = line;
}

void VfTrace::touch_simd(uint64_t offset, uint64_t bytes, Mode mode, bool vector) {
  if (!machine().options.race) return;
  if (mode != Mode::Read) {
    order_.store(offset, bytes, vector, counts_.line);
    overtaken_.clear();
    order_.overtaken(offset, bytes, vector, overtaken_);
    uint32_t told = ~0u;
    for (const SimdOrder::Overtaken& byte : overtaken_) {
      if (byte.load == told) continue;
      const Load& load = loads_[byte.load];
      if (load.used.test(int(byte.offset - load.offset))) {
        report_overtaken(byte.offset, load.line, counts_.line);
        told = byte.load;
      } else {
        overtaking_.push_back({byte.offset, byte.load, counts_.line});
      }
    }
    return;
  }
  const size_t before = early_.size();
  order_.load(offset, bytes, vector, early_);
  if (early_.size() > before) report_early(early_[before], counts_.line, vector);
}

Flow VfTrace::load(uint64_t address, uint64_t bytes, int size, Trace trace, uint64_t caller) {
  const LocalMemory& ub = core_->memory[int(Space::UB)];
  const uint64_t offset = address - reinterpret_cast<uint64_t>(ub.data);
  if (offset >= ub.size || bytes > ub.size - offset) {
    touch(address, bytes, Mode::Read, caller, true);
    return 0;
  }
  const auto number = uint32_t(loads_.size());
  Load load{offset, caller, uint32_t(bytes), counts_.line, 0, 0, 0, 0, {}};
  load.early_begin = uint32_t(early_.size());
  if (machine().options.race) order_.load(offset, bytes, true, early_);
  load.early_end = uint32_t(early_.size());
  load.unwritten_begin = uint32_t(unwritten_.size());
  if (std::memchr(&ub.valid[offset], 0, bytes)) {
    for (uint64_t i = offset; i < offset + bytes; ++i) {
      if (!ub.valid[i]) unwritten_.push_back(uint32_t(i));
    }
  }
  load.unwritten_end = uint32_t(unwritten_.size());
  loads_.push_back(load);
  if (machine().options.race) order_.vector_load(number, offset, bytes);
  if (!flow_.full()) return flow_.load(number, size, trace);
  loaded(number, kEveryByte);
  order_.awaits(number + 1);  // which stores take it is not known
  return 0;
}

void VfTrace::flow_out(Flow flow, const ByteSet& bytes) {
  for (const FlowGraph::Used& used : flow_.use(flow, bytes)) loaded(used.load, used.bytes);
}

void VfTrace::loaded(uint32_t number, const ByteSet& bytes) {
  Load& load = loads_[number];
  for (int w = 0; w < ByteSet::kWords; ++w) load.used.word[w] |= bytes.word[w];
  for (uint64_t at = 0; at < load.bytes;) {
    const uint64_t word = bytes.word[at / 64] >> (at % 64);
    const uint64_t skip = word == 0 ? 64 - at % 64 : uint64_t(__builtin_ctzll(word));
    at += skip;
    if (word == 0) continue;
    const uint64_t rest = ~(word >> skip);
    const uint64_t run =
        std::min<uint64_t>(rest == 0 ? 64 : uint64_t(__builtin_ctzll(rest)), load.bytes - at);
    set_bits(read_, load.offset + at, run);
    at += run;
  }
  const auto used = [&](uint64_t offset) { return bytes.test(int(offset - load.offset)); };
  for (uint32_t i = load.early_begin; i < load.early_end; ++i) {
    if (!used(early_[i].offset)) continue;
    report_early(early_[i], load.line, true);
    break;
  }
  for (const Overtaking& store : overtaking_) {
    if (store.load != number || !used(store.offset)) continue;
    report_overtaken(store.offset, load.line, store.store_line);
    break;
  }
  uint32_t first = load.unwritten_begin;
  while (first < load.unwritten_end && !used(unwritten_[first])) ++first;
  if (first == load.unwritten_end) return;
  uint32_t last = first;
  while (last + 1 < load.unwritten_end && unwritten_[last + 1] == unwritten_[last] + 1 &&
         used(unwritten_[last + 1])) {
    ++last;
  }
  note_unwritten(unwritten_[first], unwritten_[last] + 1, load.caller, load.line);
}

void VfTrace::report_early(const SimdOrder::Early& byte, uint32_t line, bool vector) {
  report_order(std::string("the ") + (vector ? "" : "scalar ") + "load at line " +
                   line_of(in_body(line)) + " may overtake the store at line " +
                   line_of(in_body(byte.store_line)) + " of one SIMD body: both touch UB byte " +
                   std::to_string(byte.offset) +
                   ", with no asc_mem_bar from that kind of store to this kind of load between",
               byte.store_line, line);
}

void VfTrace::report_overtaken(uint32_t offset, uint32_t load_line, uint32_t store_line) {
  report_order("the store at line " + line_of(in_body(store_line)) +
                   " may overtake the load at line " + line_of(in_body(load_line)) +
                   " of one SIMD body: both touch UB byte " + std::to_string(offset) +
                   ", with no asc_mem_bar from the load to the store between, and no store up to "
                   "this one takes what that load or a later one brings",
               store_line, load_line);
}

void VfTrace::report_order(const std::string& message, uint32_t store_line, uint32_t load_line) {
  Finding finding("race-simd");
  finding.block = int(machine().block_of(*core_).index);
  finding.message = message + "; launched at line " + line_of(instr_->loc);
  finding.add_site(core_->name(), instr_->pipe, "store", in_body(store_line));
  finding.add_site(core_->name(), instr_->pipe, "load", in_body(load_line));
  report(std::move(finding));
}

void VfTrace::clash(uint64_t offset, uint32_t other, bool write) {
  if (clashed_) return;
  clashed_ = true;
  const uint32_t first = other & kThreadMask;
  report_here("race-simt", std::string("threads ") +
                               (first >= kSeveralOfWarp ? "several" : std::to_string(first)) +
                               " and " + std::to_string(who_ & kThreadMask) +
                               " of one SIMT region both touch UB byte " + std::to_string(offset) +
                               (write ? ", the second writing it" : ", one writing it") +
                               ", with no barrier between");
}

void VfTrace::touch_gm(uint64_t address, uint64_t bytes, Mode mode) {
  const GmArray* array = find_array(address);
  if (!array || address + bytes > array->end) {
    expect_fault(address, bytes);
    report_here("out-of-range", "a vector function " +
                                    std::string(mode == Mode::Read ? "reads" : "writes") + " " +
                                    std::to_string(bytes) + " bytes of GM outside every argument");
    return;
  }
  if (!gm_.empty()) {
    Access& last = gm_.back();
    if (last.mode == mode && last.begin + last.row_bytes == address) {
      last.row_bytes += bytes;
      return;
    }
  }
  gm_.push_back({Space::GM, mode, -1, address, bytes});
}

void VfTrace::collect(const std::vector<uint64_t>& bits, Mode mode) {
  uint64_t begin = 0;
  bool open = false;
  auto close = [&](uint64_t end) {
    if (open) result_.push_back({Space::UB, mode, -1, begin, end - begin});
    open = false;
  };
  for (uint64_t w = 0; w < bits.size(); ++w) {
    const uint64_t word = bits[w];
    if (word == 0) {
      close(w * 64);
    } else if (word == ~0ull) {
      if (!open) begin = w * 64, open = true;
    } else {
      for (int b = 0; b < 64; ++b) {
        const bool one = word >> b & 1;
        if (one && !open) begin = w * 64 + b, open = true;
        if (!one) close(w * 64 + b);
      }
    }
  }
  close(bits.size() * 64);
}

const std::vector<Access>& VfTrace::finish() {
  result_.clear();
  collect(read_, Mode::Read);
  collect(written_, Mode::Write);
  std::sort(gm_.begin(), gm_.end(), [](const Access& a, const Access& b) {
    return std::tie(a.mode, a.begin, a.row_bytes) < std::tie(b.mode, b.begin, b.row_bytes);
  });
  for (const Access& a : gm_) {
    Access* last = result_.empty() ? nullptr : &result_.back();
    if (last && last->space == Space::GM && last->mode == a.mode &&
        a.begin <= last->begin + last->row_bytes &&
        find_array(a.begin) == find_array(last->begin)) {
      last->row_bytes = std::max(last->row_bytes, a.begin + a.row_bytes - last->begin);
    } else {
      result_.push_back(a);
    }
  }
  if (unwritten_end_ > 0) {
    caller_ = unwritten_by_;
    report_here("never-written",
                std::string(instr_->name) + " reads UB bytes " + std::to_string(unwritten_begin_) +
                    ".." + std::to_string(unwritten_end_ - 1) + ", which nothing has written,",
                unwritten_line_);
  }
  core_ = nullptr;
  instr_ = nullptr;
  return result_;
}

}  // namespace emu
