#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "verify/buffers.h"
#include "verify/chip.h"
#include "verify/machine.h"
#include "verify/value.h"

// A lowered kernel as the check reads it: for each core a tree of statements over numbered
// expressions. Nothing of TVM is left, so that a run over the tree is cheap.
namespace tilelang_ascend_sched::verify {

using Expr = int32_t;  // index into Program::exprs
using Slot = int32_t;  // index of a variable of one core
inline constexpr Expr kNone = -1;
inline constexpr Slot kSubBlockSlot = 0;  // holds which AIV a core is

enum class ExprKind : uint8_t {
  kConstant,  // number
  kSlot,      // number is the slot
  kSymbol,    // number is the symbol
  kLoad,      // element a of the read-only tensor `number`
  kUnknown,   // anything, made of a and b: what synchronization should not depend on
  kAdd,
  kSubtract,
  kMultiply,
  kFloorDivide,
  kFloorModulo,
  kTruncatedDivide,
  kTruncatedModulo,
  kMinimum,
  kMaximum,
  kLess,
  kLessEqual,
  kEqual,
  kAnd,
  kOr,
  kNot,
  kSelect,  // a ? b : c
  kShiftLeft,
  kShiftRight,
};

struct ExprNode {
  ExprKind kind;
  Expr a = kNone, b = kNone, c = kNone;
  int64_t number = 0;
};

// A line of the user's by which a statement stands that has none of its own.
struct NearPlace {
  enum class Relation : uint8_t { kBefore, kAfter, kIn };  // the loop of that line

  std::string file;
  int line = 0;  // 0: there is none
  Relation relation = Relation::kAfter;
};

// Where the user wrote a statement, or where it stands in the lowered code.
struct Source {
  std::string text;  // such as `copy_gm_to_ubuf`
  std::string file;  // empty if unknown
  int line = 0;
  int number = 0;  // of the statement, in program order
  NearPlace near{};
};

// What `T.assume_no_conflict` says: the bytes of its two operands have nothing in common.
struct Hint {
  enum class Across : uint8_t { kBoth, kWithin, kBetween };  // iterations of a loop

  std::string text;  // as the user wrote it
  std::string place;
  bool everywhere = true;  // at every loop and outside of them; else only where `loop` says
  std::string loop;        // the variable of a loop; empty: outside all loops
  int loop_line = 0;
  Across across = Across::kBoth;
  bool same_sides = false;       // both operands are one
  bool names_something = false;  // in the lowered kernel

  std::string Text() const { return place.empty() ? text : text + " at " + place; }
};

// A hint of which one operand, or both, names an access.
struct HintedAs {
  int hint;
  bool a, b;
  bool certain;  // else the access may also be another one on the same line
};

// `rows` runs of `row_bytes` bytes, `stride` bytes apart, from `begin` on.
struct AccessPattern {
  Space space;
  bool own_ub = false;  // the UB of the core that runs the instruction, whatever `space` says
  bool writes = false;
  bool atomic = false;
  bool approximate = false;  // the true region may be smaller
  int tensor = -1;           // of a GM access
  int buffer = -1;           // of an on-chip access, if known
  Expr begin = kNone, row_bytes = kNone, rows = kNone, stride = kNone;
  Expr condition = kNone;  // the access happens only if this holds
  // Of an approximate one: it touches some of its bytes for sure, for some data, if a condition on
  // numbers holds; those, if they are known.
  bool somewhere = false;
  Expr happens_if = kNone;
  Expr sure_begin = kNone;
  int64_t sure_bytes = 0;
  std::vector<HintedAs> hinted{};
  std::vector<int> apart_by{};  // hints that free it from whatever it could conflict with
};

enum class Action : uint8_t {
  kAccess,
  kSetFlag,
  kWaitFlag,
  kCrossSet,
  kCrossWait,
  kLock,
  kUnlock,
  kBarrier,
  kBarrierAll,
};

// Whom a cross-core flag reaches, and how many have to set it.
enum class FlagScope : uint8_t {
  kOneCore,    // mode 4: one AIV, or the AIC
  kBlock,      // mode 2: the AIC reaches both AIVs; both AIVs together reach the AIC
  kVectors,    // mode 1: both AIVs together reach both
  kAllBlocks,  // mode 0: all cores of one kind, of all blocks, together reach all of them
};

struct Instruction {
  Action action;
  Pipe pipe;                              // that executes it
  Pipe peer = Pipe::kS;                   // of a flag: the other pipe of the pair
  bool blocking = true;                   // of a lock
  FlagScope scope = FlagScope::kOneCore;  // of a cross-core flag that is set
  Expr unit_flag = kNone;                 // nonzero: M and FIX order themselves on L0C
  Expr id = kNone;                        // of a flag or lock
  Expr value = kNone;                     // of a scalar store: what it writes
  bool awaited = false;                   // of a scalar read: what follows needs the number
  bool on_side = false;                   // of a scalar read: it may not happen
  std::vector<AccessPattern> accesses{};
  Source source{};
  int number = 0;  // in program order, over all cores
};

enum class NodeKind : uint8_t {
  kSequence,
  kFor,
  kWhile,
  kIf,
  kInstruction,
  kAssign,  // slot = value
  kFresh,   // slot = a number read from memory that the kernel writes
  kBreak,
  kContinue,
  kAtomicOn,
  kAtomicOff,
  kNotModelled,
};

struct Node {
  NodeKind kind;
  int number = 0;
  std::vector<Node*> children;  // of a sequence; body and what loops read again; then and else
  Slot slot = -1;
  Expr value = kNone;  // extent, condition or assigned value
  Expr minimum = kNone;
  Instruction instruction;
  Source source;
  std::string name;      // of a loop variable; why something is not modelled
  Range range{0, 0};     // of a fresh number
  bool decides = false;  // a loop or branch on which it depends what is issued
  bool staged = false;   // a loop whose statements may belong to different iterations of the source
};

// The cores of a block have copies of the same loops.
inline bool SameLoop(const Node* a, const Node* b) {
  return a == b || (a->kind == b->kind && a->name == b->name && a->source.line == b->source.line &&
                    a->source.file == b->source.file);
}

struct CoreProgram {
  bool present = false;
  Node* body = nullptr;
};

enum class SlotKind : uint8_t {
  kLoop,     // set by its loop
  kBound,    // set once in each turn of its loop, before it is read
  kMutable,  // keeps its value
};

struct SlotInfo {
  std::string name;
  SlotKind kind = SlotKind::kMutable;
  const Node* loop = nullptr;        // innermost one around; null at the top level
  const Node* definition = nullptr;  // of a loop's or a bound variable: what sets it
};

struct Tensor {
  std::string name;
  bool written = false;
  int64_t element_bytes = 1;
};

struct Program {
  std::string kernel;
  Chip chip{};
  std::vector<ExprNode> exprs;
  std::vector<std::unique_ptr<Node>> nodes;
  CoreProgram cores[kCores];
  std::vector<Tensor> tensors;
  Symbols symbols;
  bool has_simt = false;
  std::vector<SlotInfo> slots{{"sub_block"}};

  std::vector<Hint> hints;

  std::vector<Buffer> buffers;      // on chip
  int shared_buffers = 0;           // the first ones, which share bytes with others
  bool computed_addresses = false;  // vector code computes addresses, within their buffers
  bool between_blocks = false;      // there are flags between blocks

  Node* Make(NodeKind kind) {
    nodes.push_back(std::make_unique<Node>());
    nodes.back()->kind = kind;
    nodes.back()->number = static_cast<int>(nodes.size());
    return nodes.back().get();
  }
};

}  // namespace tilelang_ascend_sched::verify
