#include <cstdio>

#include "verify/check.h"

namespace tilelang_ascend_sched::verify {

namespace {

std::string Quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", c);
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// Joins `key: value` pairs whose values are JSON already.
std::string Object(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string text = "{";
  for (const auto& [key, value] : members) {
    if (text.size() > 1) text += ", ";
    text += Quote(key) + ": " + value;
  }
  return text + "}";
}

template <typename Items, typename Write>
std::string List(const Items& items, Write write) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ", ";
    text += write(item);
  }
  return text + "]";
}

std::string SiteJson(const std::optional<Site>& site) {
  if (!site) return "null";
  const Source& source = site->source;
  const NearPlace& near = source.near;
  const bool has_near = near.line != 0;
  constexpr const char* kRelations[] = {"before", "after", "in"};
  return Object({{"statement", Quote(source.text)},
                 {"file", Quote(has_near ? near.file : source.file)},
                 {"line", std::to_string(has_near ? near.line : source.line)},
                 {"relation", Quote(has_near ? kRelations[static_cast<int>(near.relation)] : "at")},
                 {"core", Quote(NameOf(site->core))},
                 {"pipe", Quote(NameOf(site->pipe))},
                 {"turns", List(site->turns, [](const auto& turn) {
                    return "[" + Quote(turn.first) + ", " + std::to_string(turn.second) + "]";
                  })}});
}

std::string FindingJson(const Finding& finding) {
  return Object({{"kind", Quote(finding.kind)},
                 {"certain", finding.certain ? "true" : "false"},
                 {"message", Quote(finding.message)},
                 {"first", SiteJson(finding.first)},
                 {"second", SiteJson(finding.second)},
                 {"memory", Quote(finding.memory)},
                 {"tensor", Quote(finding.tensor)},
                 {"buffer", Quote(finding.buffer)},
                 {"begin", std::to_string(finding.begin)},
                 {"end", std::to_string(finding.end)},
                 {"distance", Quote(finding.distance)},
                 {"missing", Quote(finding.missing)},
                 {"supply", Quote(finding.supply)},
                 {"inputs", Quote(finding.inputs)}});
}

}  // namespace

std::string ToJson(const Report& report) {
  constexpr const char* kVerdicts[] = {"proven", "refused", "not_proven"};
  return Object({{"kernel", Quote(report.kernel)},
                 {"verdict", Quote(kVerdicts[static_cast<int>(report.verdict)])},
                 {"findings", List(report.findings, FindingJson)},
                 {"assumptions", List(report.assumptions, Quote)},
                 {"unused_hints", List(report.unused_hints, Quote)},
                 {"paths", std::to_string(report.paths)},
                 {"instructions", std::to_string(report.events)}});
}

}  // namespace tilelang_ascend_sched::verify
