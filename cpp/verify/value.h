#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tilelang_ascend_sched::verify {

// A number that the lowered code only learns at run time, or an expression of such numbers that is
// not linear. Equal expressions get equal symbols.
using Symbol = int32_t;

struct Term {
  Symbol symbol;
  int64_t factor;
  auto operator<=>(const Term&) const = default;
};

// `constant + sum of factor * symbol`, terms sorted by symbol, no zero factors.
struct Value {
  int64_t constant = 0;
  std::vector<Term> terms;

  Value() = default;
  Value(int64_t number) : constant(number) {}  // NOLINT: a number is a value
  bool known() const { return terms.empty(); }
  auto operator<=>(const Value&) const = default;
};

inline Value SumOf(std::vector<Term> terms) {
  Value sum;
  sum.terms = std::move(terms);
  return sum;
}
inline Value ValueOf(Symbol symbol) { return SumOf({{symbol, 1}}); }

int64_t FloorDiv(int64_t a, int64_t b);

Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value Scale(const Value& a, int64_t factor);

struct Range {
  int64_t low;
  int64_t high;
};
// What is known of sums of terms, beyond the ranges of their symbols.
using Facts = std::map<std::vector<Term>, Range>;

inline constexpr int kMostCores = 3;

// Ends of ranges are clamped to this, so that sums of a few products cannot overflow.
inline constexpr int64_t kUnbounded = int64_t{1} << 40;

enum class Operation : uint8_t { kInput, kLoad, kDivide, kModulo, kMultiply, kMinimum };

// The symbols of one check and what is known of their ranges.
class Symbols {
 public:
  // A run-time input, such as a block index or a tensor's extent.
  Symbol Input(const std::string& name, Range range);

  // An element of a tensor that nobody writes: the same for every reader.
  // `begin` is its first byte.
  Value Load(int tensor, const std::string& name, int64_t element_bytes, const Value& begin,
             Range range);

  // A number read from memory that the kernel writes: another one at each reading.
  Value Fresh(const std::string& name, Range range);
  // The number of turns of a loop of `core` that is taken to be any: another one at each time.
  Value Turns(int core, Range range);
  // Equal runs get equal fresh numbers.
  void RestartFresh() {
    fresh_ = 0;
    std::fill(std::begin(turns_), std::end(turns_), 0);
  }

  // A number that states leave open: that of a variable of a core. See `Counter`.
  Symbol Counter(int core, int slot);
  // The turn of the last loop of some, in which no core is any more.
  Symbol CounterLeft(int number);

  Value Multiply(const Value& a, const Value& b);
  Value FloorDivide(const Value& a, const Value& b);
  Value FloorModulo(const Value& a, const Value& b);
  // Without `settles` it stays a minimum though bounds say which one it is.
  Value Minimum(const Value& a, const Value& b, const Facts* facts = nullptr, bool settles = true);
  Value Maximum(const Value& a, const Value& b, const Facts* facts = nullptr);

  // Bounds by interval arithmetic, with `facts` if given.
  Range Bounds(const Value& value, const Facts* facts = nullptr) const;

  // `value` with others for some counters. Without `settles` minima stay minima.
  Value Replaced(const Value& value, const std::map<Symbol, Value>& by,
                 const Facts* facts = nullptr, bool settles = true);

  // Counters that `value` depends on.
  void Counters(const Value& value, std::set<Symbol>* found) const;
  // Whether there are any.
  bool Counts(const Value& value) const;

  // Numbers in `value` that are others at each reading.
  void FreshIn(const Value& value, std::set<Symbol>* found) const;

  // What `symbol` is made of, for texts in which it is not the order of readings that counts.
  struct Parts {
    Operation operation;
    bool has_fresh;  // is a number that is another one at each reading, or has one inside
    int tensor;      // of an element
    const Value *a, *b;
  };
  Parts PartsOf(Symbol symbol) const {
    const Definition& definition = definitions_[symbol];
    return {definition.operation, definition.has_fresh, definition.tensor, &definition.a,
            &definition.b};
  }

  // Whether `symbol` is a number of turns that is taken to be any.
  bool IsTurns(Symbol symbol) const { return definitions_[symbol].turns; }

  // Whether `symbol` is the minimum of `value` and 0.
  bool IsMinimum(Symbol symbol, Value* value) const;

  // The value once every input has a number: `inputs` maps an input or load to it.
  int64_t Concrete(const Value& value, const std::map<Symbol, int64_t>& inputs) const;

  // `known` with numbers for all other inputs: `number`, or the next one in the range of each.
  std::map<Symbol, int64_t> Completed(std::map<Symbol, int64_t> known, int64_t number) const;

  // The element of a tensor that `symbol` is once inputs have numbers; `symbol` itself if it is no
  // element, or if not all numbers that tell which one are given.
  Symbol Element(Symbol symbol, const std::map<Symbol, int64_t>& inputs);

  // Inputs and loads that `value` depends on.
  void Inputs(const Value& value, std::map<Symbol, Range>* found) const;

  // Whether `symbol` is `numerator // divisor` with a positive constant divisor.
  bool IsQuotient(Symbol symbol, Value* numerator, int64_t* divisor) const;

  // Tensors of which elements stand in the sum.
  void Tensors(const std::vector<Term>& terms, std::set<int>* found) const;

  // Whether the sum is the same whenever it is read: it rests on no memory that is written.
  bool IsRepeatable(const std::vector<Term>& terms) const;

  // Whether `symbol` is a number read from memory that the kernel writes.
  bool IsReading(Symbol symbol) const {
    return definitions_[symbol].fresh && !definitions_[symbol].turns;
  }

  std::string Text(const Value& value) const;

 private:
  struct Definition {
    Operation operation;
    std::string name;  // of an input or a load
    Value a, b;
    Range range;
    int tensor = -1;  // of a load
    bool fresh = false;
    bool turns = false;
    bool counts = false;        // a counter, or made of one
    bool has_fresh = false;     // fresh, or made of what is
    int64_t element_bytes = 1;  // of a load
  };

  Value Intern(Operation operation, const std::string& name, int tag, const Value& a,
               const Value& b, Range range);

  std::vector<Definition> definitions_;
  std::map<std::tuple<Operation, int, Value, Value>, Symbol> interned_;
  int fresh_ = 0;
  int turns_[kMostCores] = {};
};

}  // namespace tilelang_ascend_sched::verify
