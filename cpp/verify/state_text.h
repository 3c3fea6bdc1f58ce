#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "verify/value.h"

namespace tilelang_ascend_sched::verify {

// A text of numbers, bits and values.
class StateText {
 public:
  explicit StateText(const Symbols& symbols) : symbols_(symbols) {}

  void Number(int64_t number) {
    for (int i = 0; i < 8; ++i) text_.push_back(static_cast<char>(number >> (8 * i)));
  }
  void Bit(bool bit) {
    bits_ = static_cast<uint8_t>(bits_ << 1 | bit);
    if (++count_ < 8) return;
    text_.push_back(static_cast<char>(bits_));
    bits_ = count_ = 0;
  }
  void Of(const Value& value) {
    Number(value.constant);
    Terms(value.terms);
  }
  void Terms(const std::vector<Term>& terms) {
    Number(static_cast<int64_t>(terms.size()));
    for (const Term& term : terms) {
      Number(term.factor);
      OfSymbol(term.symbol);
    }
  }
  std::string Take() {
    while (count_ != 0) Bit(false);
    return std::move(text_);
  }

 private:
  // Numbers that were read are told by the order in which they stand in the text.
  void OfSymbol(Symbol symbol) {
    const Symbols::Parts parts = symbols_.PartsOf(symbol);
    if (!parts.has_fresh) return Number(symbol);
    Number(-1 - static_cast<int64_t>(parts.operation));
    if (parts.operation == Operation::kLoad && parts.a->known()) {
      return Number(fresh_.try_emplace(symbol, fresh_.size()).first->second);
    }
    Number(parts.tensor);
    Of(*parts.a);
    Of(*parts.b);
  }

  const Symbols& symbols_;
  std::map<Symbol, size_t> fresh_;
  std::string text_;
  uint8_t bits_ = 0;
  int count_ = 0;
};

}  // namespace tilelang_ascend_sched::verify
