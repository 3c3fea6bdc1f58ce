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

  // What a variable of a core may hold at the head of a loop, as far as states tell it.
  Value Variable(int core, int slot);

  Value Multiply(const Value& a, const Value& b);
  Value FloorDivide(const Value& a, const Value& b);
  Value FloorModulo(const Value& a, const Value& b);
  Value Minimum(const Value& a, const Value& b, const Facts* facts = nullptr);
  Value Maximum(const Value& a, const Value& b, const Facts* facts = nullptr);

  // Bounds by interval arithmetic, with `facts` if given.
  Range Bounds(const Value& value, const Facts* facts = nullptr) const;

  // Bounds that hold whatever numbers are added to run-time inputs: those of a minimum or a maximum
  // with a constant. `facts` are then all that is known.
  Range LooseBounds(const Value& value, const Facts* facts = nullptr) const;

  // Whether `symbol` is a number of turns that is taken to be any.
  bool IsTurns(Symbol symbol) const { return definitions_[symbol].turns; }

  // Whether `symbol` is the minimum of `value` and 0.
  bool IsMinimum(Symbol symbol, Value* value) const;

  // The value once every input has a number: `inputs` maps an input or load to it.
  int64_t Concrete(const Value& value, const std::map<Symbol, int64_t>& inputs) const;

  // `known` with numbers for all other inputs: `number`, or the next one in the range of each.
  std::map<Symbol, int64_t> Completed(std::map<Symbol, int64_t> known, int64_t number) const;

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

  // Whether `symbol` is an input or a load, not an expression of others.
  bool IsInput(Symbol symbol) const { return definitions_[symbol].operation <= Operation::kLoad; }

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
    int64_t element_bytes = 1;  // of a load
  };

  Value Intern(Operation operation, const std::string& name, int tag, const Value& a,
               const Value& b, Range range);

  template <typename RangeOf>
  Range BoundsBy(const Value& value, RangeOf range_of, const Facts* facts) const;

  std::vector<Definition> definitions_;
  std::map<std::tuple<Operation, int, Value, Value>, Symbol> interned_;
  int fresh_ = 0;
  int turns_[kMostCores] = {};
};

}  // namespace tilelang_ascend_sched::verify
