#include "hw/json.h"

#include <tvm/ffi/error.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

namespace tilelang_ascend_sched {

namespace {

constexpr int kMaxDepth = 32;

class Parser {
 public:
  Parser(const std::string& file, std::string_view text) : file_(file), rest_(text) {}

  Json Document() {
    Json json = Value(0);
    SkipSpace();
    if (!rest_.empty()) Fail("text after the end of the value");
    return json;
  }

 private:
  [[noreturn]] void Fail(const std::string& message) const { FailAt(file_, line_, message); }

  void SkipSpace() {
    while (!rest_.empty() && std::string_view(" \t\r\n").find(rest_[0]) != std::string_view::npos) {
      line_ += rest_[0] == '\n';
      rest_.remove_prefix(1);
    }
  }

  // The next character that is not a space; 0 at the end.
  char Peek() {
    SkipSpace();
    return rest_.empty() ? '\0' : rest_[0];
  }

  bool Accept(char wanted) {
    if (Peek() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void Expect(char wanted) {
    if (Accept(wanted)) return;
    std::string message = "expected `";
    message += wanted;
    message += rest_.empty() ? "`, found the end" : "`, found `" + std::string(1, rest_[0]) + "`";
    Fail(message);
  }

  Json Value(int depth) {
    if (depth > kMaxDepth) Fail("nested too deeply");
    const char first = Peek();
    Json json{line_, {}};
    if (first == '{') {
      json.value = ObjectOf(depth);
    } else if (first == '[') {
      json.value = ArrayOf(depth);
    } else if (first == '"') {
      json.value = String();
    } else if (first == '-' || std::isdigit(static_cast<unsigned char>(first))) {
      json.value = Number();
    } else {
      json.value = Boolean();
    }
    return json;
  }

  Json::Object ObjectOf(int depth) {
    Json::Object object;
    Expect('{');
    if (Accept('}')) return object;
    do {
      if (Peek() != '"') Fail("expected a key in double quotes");
      std::string key = String();
      if (std::ranges::any_of(object, [&](const auto& entry) { return entry.first == key; })) {
        Fail("key `" + key + "` stands here a second time");
      }
      Expect(':');
      object.emplace_back(std::move(key), Value(depth + 1));
    } while (Accept(','));
    Expect('}');
    return object;
  }

  Json::Array ArrayOf(int depth) {
    Json::Array array;
    Expect('[');
    if (Accept(']')) return array;
    do {
      array.push_back(Value(depth + 1));
    } while (Accept(','));
    Expect(']');
    return array;
  }

  std::string String() {
    Expect('"');
    std::string text;
    while (!rest_.empty() && rest_[0] != '"') {
      char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '\n') Fail("a string ends in another line");
      if (c == '\\') {
        constexpr std::string_view kEscapes = "\"\\/";
        if (rest_.empty() || kEscapes.find(rest_[0]) == std::string_view::npos) {
          Fail("only \\\", \\\\ and \\/ may be escaped in a string");
        }
        c = rest_[0];
        rest_.remove_prefix(1);
      }
      text += c;
    }
    if (rest_.empty()) Fail("a string has no end");
    rest_.remove_prefix(1);
    return text;
  }

  int64_t Number() {
    const size_t length = std::min(rest_.find_first_not_of("+-.0123456789eE"), rest_.size());
    const std::string_view digits = rest_.substr(0, length);
    int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + length, number);
    if (error != std::errc() || end != digits.data() + length) {
      Fail("`" + std::string(digits) + "` is not a whole number of 64 bits");
    }
    rest_.remove_prefix(length);
    return number;
  }

  bool Boolean() {
    for (const auto& [word, value] :
         {std::pair{std::string_view("true"), true}, {"false", false}}) {
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    }
    Fail("expected an object, a list, a string, a whole number, true or false");
  }

  const std::string& file_;
  std::string_view rest_;
  int line_ = 1;
};

}  // namespace

const char* Json::kind() const {
  constexpr const char* kKinds[] = {"a boolean", "a whole number", "a string", "a list",
                                    "an object"};
  return kKinds[value.index()];
}

Json ParseJson(const std::string& file, const std::string& text) {
  return Parser(file, text).Document();
}

void FailAt(const std::string& file, int line, const std::string& message) {
  TVM_FFI_THROW(ValueError) << file << ":" << line << ": " << message;
}

}  // namespace tilelang_ascend_sched
