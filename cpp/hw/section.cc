#include "hw/section.h"

#include <algorithm>

namespace tilelang_ascend_sched {

namespace {

constexpr int64_t kMostOfNumber = 65'536;
constexpr int64_t kMostOfAmount = 1'000'000'000'000;

}  // namespace

Section::Section(const std::string& file, const Json& json) : file_(file), json_(json) {
  if (!std::holds_alternative<Json::Object>(json.value)) {
    FailAt(file_, json.line, std::string("the file is ") + json.kind() + "; it must be an object");
  }
  Section sources = Child("sources");
  for (const auto& [name, value] : std::get<Json::Object>(sources.json_.value)) {
    sources.Text(name);
    sources_.push_back(name);
  }
}

Section::Section(const Section& outer, const Json& json, std::string path)
    : file_(outer.file_), json_(json), sources_(outer.sources_), path_(std::move(path)) {
  if (!std::holds_alternative<Json::Object>(json.value)) {
    FailAt(file_, json.line, "`" + path_ + "` is " + json.kind() + "; it must be an object");
  }
}

std::string Section::PathOf(const std::string& key) const {
  return "`" + (path_.empty() ? key : path_ + "." + key) + "`";
}

const Json* Section::Find(const std::string& key) const {
  for (const auto& [name, value] : std::get<Json::Object>(json_.value)) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool Section::Has(const std::string& key) const { return Find(key) != nullptr; }

void Section::Fail(const std::string& key, const std::string& message) const {
  const Json* json = Find(key);
  FailAt(file_, json != nullptr ? json->line : json_.line, PathOf(key) + " " + message);
}

template <typename T>
const T& Section::Get(const std::string& key, const char* kind) {
  asked_.push_back(key);
  const Json* json = Find(key);
  if (json == nullptr) Fail(key, "is missing");
  const T* value = std::get_if<T>(&json->value);
  if (value == nullptr) Fail(key, std::string("is ") + json->kind() + "; it must be " + kind);
  return *value;
}

Section Section::Child(const std::string& key) {
  Get<Json::Object>(key, "an object");
  return Section(*this, *Find(key), path_.empty() ? key : path_ + "." + key);
}

std::vector<Section> Section::Children(const std::string& key) {
  std::vector<Section> children;
  for (const Json& item : Get<Json::Array>(key, "a list")) {
    const std::string index = "[" + std::to_string(children.size()) + "]";
    children.push_back(Section(*this, item, (path_.empty() ? key : path_ + "." + key) + index));
  }
  return children;
}

int64_t Section::Figure(const std::string& key, const std::string& unit) {
  Section figure = Child(key);
  const int64_t value = figure.Get<int64_t>("value", "a whole number");
  if (value < 0) figure.Fail("value", "is " + std::to_string(value) + "; it must be 0 or more");
  const std::string found = figure.Text("unit");
  if (found != unit) figure.Fail("unit", "is \"" + found + "\"; it must be \"" + unit + "\"");
  const bool number = unit == "count" || unit == "elements" || unit == "bits";
  const int64_t most = number ? kMostOfNumber : kMostOfAmount;
  if (value > most) {
    figure.Fail("value",
                "is " + std::to_string(value) + "; it must be at most " + std::to_string(most));
  }
  figure.Source();
  if (figure.Has("note")) figure.Text("note");
  figure.Done();
  return value;
}

int64_t Section::Divisor(const std::string& key, const std::string& unit) {
  const int64_t value = Figure(key, unit);
  if (value == 0) Fail(key, "is 0; it must be 1 or more");
  return value;
}

std::string Section::Text(const std::string& key) {
  const std::string& text = Get<std::string>(key, "a string");
  if (text.empty()) Fail(key, "is empty");
  return text;
}

void Section::Source() {
  const std::string source = Text("source");
  if (std::ranges::find(sources_, source) == sources_.end()) {
    Fail("source", "is \"" + source + "\", which is not a key of `sources`");
  }
}

bool Section::Flag(const std::string& key) { return Get<bool>(key, "a boolean"); }

std::vector<std::string> Section::Texts(const std::string& key) {
  std::vector<std::string> texts;
  for (const Json& item : Get<Json::Array>(key, "a list of strings")) {
    const std::string* text = std::get_if<std::string>(&item.value);
    if (text == nullptr || text->empty()) {
      FailAt(file_, item.line, PathOf(key) + " has an item that is not a string with text in it");
    }
    texts.push_back(*text);
  }
  return texts;
}

void Section::Done() const {
  for (const auto& [name, value] : std::get<Json::Object>(json_.value)) {
    if (std::ranges::find(asked_, name) != asked_.end()) continue;
    std::string known;
    for (const std::string& key : asked_) known += (known.empty() ? "" : ", ") + key;
    FailAt(file_, value.line, PathOf(name) + " is not a known key; known are " + known);
  }
}

}  // namespace tilelang_ascend_sched
