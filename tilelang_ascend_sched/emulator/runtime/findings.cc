#include "runtime/findings.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <set>

namespace emu {
namespace {

std::vector<Finding> all;
std::set<std::string> seen;

const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool in_kernel(const Loc& loc) { return std::strcmp(loc.file, "kernel.asc") == 0; }

std::string key_of(const Finding& f) {
  std::string key = f.kind;
  // Both AIVs run one program: what one does the other does.
  for (const Site& s : f.sites) key += "|" + s.core.substr(0, 3) + s.pipe + s.name + line_of(s.loc);
  return f.sites.empty() ? key + f.message : key;
}

}  // namespace

void (*write_result)() = nullptr;

const char* pipe_name(Pipe p) {
  static const char* names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"};
  return names[int(p)];
}

const char* space_name(Space s) {
  static const char* names[] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "MXA", "MXB"};
  return names[int(s)];
}

std::string Core::name() const { return aic() ? "AIC" : "AIV" + std::to_string(sub()); }

std::string line_of(const Loc& loc) {
  if (!loc.file) return "?";
  if (in_kernel(loc)) return std::to_string(loc.line);
  if (loc.file == kCodeFile) {
    char place[32];
    std::snprintf(place, sizeof place, "code+0x%x/%u", loc.line, loc.call_site);
    return place;
  }
  std::string text = std::string(base_name(loc.file)) + ":" + std::to_string(loc.line);
  if (loc.call_site) text += " (called at " + std::to_string(loc.call_site) + ")";
  return text;
}

void Finding::add_site(std::string core, Pipe pipe, std::string name, const Loc& loc) {
  sites.push_back({std::move(core), pipe_name(pipe), std::move(name), loc});
}

void Finding::at(const Core& core, const Instr& instr) {
  if (block < 0) block = int(machine().block_of(core).index);
  add_site(core.name(), instr.pipe, instr.name, instr.loc);
}

void report(Finding finding) {
  if (seen.insert(key_of(finding)).second) all.push_back(std::move(finding));
}

void stop_with(Finding finding) {
  report(std::move(finding));
  if (write_result) write_result();
  _exit(0);
}

const std::vector<Finding>& findings() { return all; }

std::string describe(const Entry& entry) {
  const Instr& instr = entry.instr;
  std::string text = instr.name;
  switch (entry.op) {
    case Op::SetFlag:
    case Op::WaitFlag:
      return text + "(" + pipe_name(entry.from) + ", " + pipe_name(entry.to) + ", " +
             std::to_string(entry.id) + ")";
    case Op::CrossArrive:
    case Op::CrossWait:
    case Op::Lock:
    case Op::Unlock:
      return text + "(" + pipe_name(instr.pipe) + ", " + std::to_string(entry.id) + ")";
    default:
      return text;
  }
}

std::string wait_reason(const Core& core) {
  switch (core.blocked) {
    case Blocked::QueueFull:
      return std::string("room in the queue of ") + pipe_name(core.blocked_pipe);
    case Blocked::Sync:
      return describe(*core.pending);
    case Blocked::All:
      return "every pipe (asc_sync)";
    case Blocked::No:
      break;
  }
  return "nothing";
}

void fail(const char* what, const char* argument) {
  if (*argument) {
    failf("%s: %s", what, argument);
  }
  failf("%s", what);
}

namespace {

Finding finding_here(const char* kind, const char* format, va_list args) {
  char text[512];
  vsnprintf(text, sizeof text, format, args);
  Machine& m = machine();
  Finding finding(kind);
  finding.message = text;
  if (m.core && m.entry) {
    finding.at(*m.core, m.entry->instr);
    finding.message += " (line " + line_of(m.entry->instr.loc) + ")";
  } else if (m.core) {
    finding.block = int(m.block_of(*m.core).index);
    finding.add_site(m.core->name(), Pipe::S, "scalar", m.core->last_at);
    finding.message += " (line " + line_of(m.core->last_at) + ")";
  }
  return finding;
}

}  // namespace

void failf(const char* format, ...) {
  va_list args;
  va_start(args, format);
  Finding finding = finding_here("error", format, args);
  va_end(args);
  stop_with(std::move(finding));
}

void findf(const char* kind, const char* format, ...) {
  va_list args;
  va_start(args, format);
  Finding finding = finding_here(kind, format, args);
  va_end(args);
  report(std::move(finding));
}

}  // namespace emu
