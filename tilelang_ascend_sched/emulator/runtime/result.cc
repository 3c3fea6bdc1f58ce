#include "runtime/result.h"

#include <algorithm>
#include <cstdio>

#include "runtime/findings.h"
#include "runtime/ledger.h"
#include "runtime/race.h"
#include "runtime/time_model.h"

namespace emu {
namespace {

struct KernelResult {
  std::string name;
  std::vector<BlockStats> stats;
  std::vector<TimeModel::BlockTime> times;
  std::vector<TimeModel::Event> events;
  std::vector<int64_t> path;
  uint64_t path_cycles = 0;
};

std::vector<KernelResult> results;

// Plain values and vectors of them; pointers to string literals stay valid across fork().
class Writer {
 public:
  explicit Writer(std::FILE* f) : file_(f) {}
  template <class T>
  void put(const T& v) {
    std::fwrite(&v, sizeof v, 1, file_);
  }
  void put(const std::string& s) {
    put(uint64_t(s.size()));
    std::fwrite(s.data(), 1, s.size(), file_);
  }
  template <class T>
  void put(const std::vector<T>& v) {
    put(uint64_t(v.size()));
    for (const T& x : v) put(x);
  }
  void put(const Site& s) { put(s.core), put(s.pipe), put(s.name), put(s.loc); }
  void put(const Finding& f) { put(f.kind), put(f.message), put(f.block), put(f.sites); }

 private:
  std::FILE* file_;
};

class Reader {
 public:
  explicit Reader(std::FILE* f) : file_(f) {}
  bool good() const { return good_; }
  template <class T>
  void get(T& v) {
    good_ &= std::fread(&v, sizeof v, 1, file_) == 1;
  }
  void get(std::string& s) {
    s.resize(count());
    good_ &= std::fread(s.data(), 1, s.size(), file_) == s.size();
  }
  template <class T>
  void get(std::vector<T>& v) {
    v.resize(count());
    for (T& x : v) get(x);
  }
  void get(Site& s) { get(s.core), get(s.pipe), get(s.name), get(s.loc); }
  void get(std::vector<Site>& v) {
    v.resize(count());
    for (Site& s : v) get(s);
  }
  uint64_t count() {
    uint64_t n = 0;
    get(n);
    return good_ ? n : 0;
  }

 private:
  std::FILE* file_;
  bool good_ = true;
};

std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string number(uint64_t n) { return std::to_string(n); }

std::string site_json(const Site& s) {
  const bool code = s.loc.file == kCodeFile;
  const std::string file = code ? line_of(s.loc) : s.loc.file ? s.loc.file : "";
  return "{\"core\":" + quoted(s.core) + ",\"pipe\":" + quoted(s.pipe) +
         ",\"instruction\":" + quoted(s.name) + ",\"file\":" + quoted(file) +
         ",\"line\":" + number(code ? 0 : s.loc.line) +
         ",\"call_site\":" + number(code ? 0 : s.loc.call_site) + "}";
}

std::string table_json(const uint64_t (&table)[kCores][kPipes]) {
  std::string out = "[";
  for (int c = 0; c < kCores; ++c) {
    out += c ? ",[" : "[";
    for (int p = 0; p < kPipes; ++p) out += (p ? "," : "") + number(table[c][p]);
    out += "]";
  }
  return out + "]";
}

}  // namespace

void begin_kernel(const Kernel& kernel) {
  KernelResult r;
  r.name = kernel.name;
  r.stats.resize(kernel.blocks);
  results.push_back(std::move(r));
  machine().stats.assign(kernel.blocks, {});
}

void write_partial(const std::string& path) {
  std::FILE* file = std::fopen((path + ".tmp").c_str(), "wb");
  if (!file) return;
  Writer out(file);
  out.put(findings());
  out.put(machine().stats);
  TimeModel& time = ledger().time();
  out.put(time.blocks());
  out.put(time.kept());
  out.put(time.critical_path());
  ledger().race().dump(file);
  std::fclose(file);
  std::rename((path + ".tmp").c_str(), path.c_str());
}

bool read_partial(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) return false;
  Reader in(file);
  KernelResult& r = results.back();
  for (uint64_t n = in.count(); n > 0; --n) {
    Finding f("");
    in.get(f.kind), in.get(f.message), in.get(f.block), in.get(f.sites);
    report(std::move(f));
  }
  std::vector<BlockStats> stats;
  in.get(stats);
  for (size_t b = 0; b < stats.size() && b < r.stats.size(); ++b) {
    for (int c = 0; c < kCores; ++c) {
      for (int p = 0; p < kPipes; ++p) r.stats[b].executed[c][p] += stats[b].executed[c][p];
      r.stats[b].syncs[c] += stats[b].syncs[c];
    }
    r.stats[b].closure += stats[b].closure;
  }
  std::vector<TimeModel::BlockTime> times;
  std::vector<TimeModel::Event> events;
  std::vector<int64_t> path_events;
  in.get(times), in.get(events), in.get(path_events);
  r.times.insert(r.times.end(), times.begin(), times.end());
  uint64_t cycles = 0;
  for (const auto& e : events) cycles = std::max(cycles, e.done);
  if (!events.empty() && cycles > r.path_cycles) {
    r.events = std::move(events);
    r.path = std::move(path_events);
    r.path_cycles = cycles;
  }
  if (in.good()) ledger().race().load(file);
  std::fclose(file);
  return in.good();
}

void write_json(const std::string& path) {
  std::FILE* out = std::fopen(path.c_str(), "w");
  if (!out) return;
  std::string text = "{\"findings\":[";
  bool first = true;
  for (const Finding& f : findings()) {
    text += first ? "" : ",";
    first = false;
    text += "{\"kind\":" + quoted(f.kind) + ",\"message\":" + quoted(f.message) +
            ",\"block\":" + std::to_string(f.block) + ",\"sites\":[";
    for (size_t i = 0; i < f.sites.size(); ++i) text += (i ? "," : "") + site_json(f.sites[i]);
    text += "]}";
  }
  text += "],\"kernels\":[";
  for (size_t k = 0; k < results.size(); ++k) {
    const KernelResult& r = results[k];
    text += std::string(k ? "," : "") + "{\"name\":" + quoted(r.name) + ",\"executed\":[";
    for (size_t b = 0; b < r.stats.size(); ++b) {
      text += (b ? "," : "") + table_json(r.stats[b].executed);
    }
    text += "],\"syncs\":[";
    for (size_t b = 0; b < r.stats.size(); ++b) {
      text += std::string(b ? "," : "") + "[";
      for (int c = 0; c < kCores; ++c) text += (c ? "," : "") + number(r.stats[b].syncs[c]);
      text += "]";
    }
    uint64_t closure = 0;
    for (const BlockStats& block : r.stats) closure += block.closure;
    text += "],\"closure\":" + number(closure) + ",\"times\":[";
    std::vector<TimeModel::BlockTime> times = r.times;
    std::sort(times.begin(), times.end(), [](auto& a, auto& b) { return a.block < b.block; });
    for (size_t i = 0; i < times.size(); ++i) {
      text += std::string(i ? "," : "") + "{\"block\":" + number(times[i].block) +
              ",\"cycles\":" + number(times[i].cycles) + ",\"busy\":" + table_json(times[i].busy) +
              "}";
    }
    text += "],\"events\":[";
    for (size_t i = 0; i < r.events.size(); ++i) {
      const TimeModel::Event& e = r.events[i];
      text += std::string(i ? "," : "") + "[" + number(e.agent) + "," + number(e.block) + "," +
              quoted(e.name) + "," + quoted(line_of(e.loc)) + "," + number(e.start) + "," +
              number(e.end) + "," + number(e.done) + "," + std::to_string(e.cause) + "," +
              std::to_string(e.wakes) + "," + (e.sync ? "1" : "0") + "]";
      if (text.size() > (1 << 20)) std::fwrite(text.data(), 1, text.size(), out), text.clear();
    }
    text += "],\"critical_path\":[";
    for (size_t i = 0; i < r.path.size(); ++i) text += (i ? "," : "") + std::to_string(r.path[i]);
    text += "]}";
  }
  text += "]}\n";
  std::fwrite(text.data(), 1, text.size(), out);
  std::fclose(out);
}

}  // namespace emu
