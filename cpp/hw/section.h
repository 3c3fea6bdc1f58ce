#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/json.h"

namespace tilelang_ascend_sched {

// Reads one object of a hardware file, key by key, and knows in the end which keys nobody asked
// for. Each figure is an object {"value": ..., "unit": ..., "source": ...}. Every error is a
// ValueError "FILE:LINE: ..." that names the key by its path, such as `transfers.gm_to_l1.latency`.
class Section {
 public:
  // The whole file.
  Section(const std::string& file, const Json& json);

  // The object under `key`.
  Section Child(const std::string& key);

  // The list of objects under `key`.
  std::vector<Section> Children(const std::string& key);

  // A figure of 0 or more whose unit must be `unit`. Figures have ends that none comes near, so
  // that sums and products of them stay within 64 bits.
  int64_t Figure(const std::string& key, const std::string& unit);

  // The same, of 1 or more: something is divided by it.
  int64_t Divisor(const std::string& key, const std::string& unit);

  std::string Text(const std::string& key);

  // A text that must be one of the keys of "sources".
  void Source();

  bool Flag(const std::string& key);

  // A list of strings, none of them empty.
  std::vector<std::string> Texts(const std::string& key);

  bool Has(const std::string& key) const;

  // Fails for keys that were not asked for.
  void Done() const;

  // Fails at the value under `key`.
  [[noreturn]] void Fail(const std::string& key, const std::string& message) const;

 private:
  Section(const Section& file, const Json& json, std::string path);

  template <typename T>
  const T& Get(const std::string& key, const char* kind);
  const Json* Find(const std::string& key) const;
  std::string PathOf(const std::string& key) const;

  const std::string& file_;
  const Json& json_;
  std::vector<std::string> sources_;
  std::string path_;
  std::vector<std::string> asked_;
};

}  // namespace tilelang_ascend_sched
