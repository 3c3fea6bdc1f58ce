#include "verify/places.h"

#include <tvm/tirx/op.h>
#include <tvm/tirx/stmt_functor.h>

#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tilelang_ascend_sched::verify {

namespace {

// A line of TileLang's own tile operators says nothing to whoever calls them.
bool IsUsers(const Source& source) {
  return source.line != 0 && source.file.find("/tilelang/ascend/") == std::string::npos;
}

using Line = std::pair<std::string, int>;

Line LineOf(const Source& source) { return {source.file, source.line}; }

// The lines of what the user wrote. TileLang gives some statements that of the loop around them.
struct Lines {
  bool known = false;
  std::set<Line> synchronization, others, loops;
};

class LineReader : public tvm::tirx::StmtVisitor {
 public:
  Lines found;

 private:
  static void Add(const tvm::Span& span, std::set<Line>* lines) {
    if (!span.defined() || !span->source_name.defined()) return;
    lines->insert({span->source_name->name, span->line});
  }

  void VisitStmt_(const tvm::tirx::EvaluateNode* evaluate) final {
    static const std::set<std::string> kSynchronization = {
        "tl.ascend_set_flag",
        "tl.ascend_wait_flag",
        "tl.ascend_cross_core_set_flag",
        "tl.ascend_cross_core_wait_flag",
        "tl.ascend_get_buf",
        "tl.ascend_rls_buf",
        "tl.ascend_pipe_barrier",
    };
    const auto* call = evaluate->value.as<tvm::tirx::CallNode>();
    const auto* op = call == nullptr ? nullptr : call->op.as<tvm::OpNode>();
    const bool synchronizes = op != nullptr && kSynchronization.count(op->name) != 0;
    std::set<Line>* lines = synchronizes ? &found.synchronization : &found.others;
    Add(evaluate->span, lines);
    if (call != nullptr) Add(call->span, lines);
  }

  void VisitStmt_(const tvm::tirx::BufferStoreNode* store) final {
    Add(store->span, &found.others);
  }

  void VisitStmt_(const tvm::tirx::ForNode* loop) final {
    Add(loop->span, &found.loops);
    StmtVisitor::VisitStmt_(loop);
  }

  void VisitStmt_(const tvm::tirx::SBlockNode* block) final {
    const std::string name = block->name_hint;
    if (name == "SIMT_VF" || name == "SIMD_VF") Add(block->span, &found.others);
    StmtVisitor::VisitStmt_(block);
  }
};

// Of one kind of core.
struct Statements {
  std::vector<Instruction*> instructions;  // in program order
  std::vector<const Node*> loops;          // the innermost one around each
  std::set<Line> scopes;                   // where loops, branches and the kernel begin
};

void Collect(Node* node, const Node* loop, Statements* found) {
  if (node->kind == NodeKind::kInstruction) {
    found->instructions.push_back(&node->instruction);
    found->loops.push_back(loop);
    return;
  }
  found->scopes.insert(LineOf(node->source));
  const bool is_loop = node->kind == NodeKind::kFor || node->kind == NodeKind::kWhile;
  for (Node* child : node->children) Collect(child, is_loop ? node : loop, found);
}

// Whether the user wrote the statement where its line says. What passes make or rebuild has the
// line of a whole loop or kernel at most, which the lowered code need not have any more.
bool IsInPlace(const Instruction& instruction, const Statements& found, const Lines& lines) {
  if (!IsUsers(instruction.source)) return false;
  const Line line = LineOf(instruction.source);
  const bool accesses = instruction.action == Action::kAccess;
  if (lines.known) {
    const std::set<Line>& written = accesses ? lines.others : lines.synchronization;
    return written.count(line) != 0 && lines.loops.count(line) == 0;
  }
  return accesses || found.scopes.count(line) == 0;
}

void NameNearest(const Statements& found, const Lines& lines) {
  const int count = static_cast<int>(found.instructions.size());
  auto is_anchor = [&](int i) {
    const Instruction& instruction = *found.instructions[i];
    return instruction.action == Action::kAccess && IsInPlace(instruction, found, lines);
  };
  std::vector<int> previous(count, -1), next(count, -1);
  for (int i = 0, last = -1; i < count; ++i) {
    previous[i] = last;
    if (is_anchor(i)) last = i;
  }
  for (int i = count, last = -1; i-- > 0;) {
    next[i] = last;
    if (is_anchor(i)) last = i;
  }
  for (int i = 0; i < count; ++i) {
    Instruction& instruction = *found.instructions[i];
    if (IsInPlace(instruction, found, lines)) continue;
    // One in another loop is not near; of two, the nearer one.
    auto distance = [&](int other) {
      if (other < 0) return std::pair(2, 0);
      return std::pair(int{found.loops[other] != found.loops[i]}, std::abs(other - i));
    };
    const bool before = distance(next[i]) < distance(previous[i]);
    const int nearest = before ? next[i] : previous[i];
    Source& source = instruction.source;
    const Node* loop = found.loops[i];
    if (distance(nearest).first > 0 && loop != nullptr && IsUsers(loop->source)) {
      source.near = {loop->source.file, loop->source.line, NearPlace::Relation::kIn};
    } else if (nearest >= 0) {
      const Source& anchor = found.instructions[nearest]->source;
      source.near = {anchor.file, anchor.line,
                     before ? NearPlace::Relation::kBefore : NearPlace::Relation::kAfter};
    }
  }
}

}  // namespace

void FindPlaces(const tvm::ffi::Optional<tvm::IRModule>& written, Program* program) {
  Lines lines;
  if (written) {
    LineReader reader;
    for (const auto& [name, function] : written.value()->functions) {
      if (const auto* kernel = function.as<tvm::tirx::PrimFuncNode>()) reader(kernel->body);
    }
    lines = std::move(reader.found);
    lines.known = true;
  }
  // Both AIVs run one tree.
  for (const int core : {0, 1}) {
    if (!program->cores[core].present || program->cores[core].body == nullptr) continue;
    Statements found;
    Collect(program->cores[core].body, nullptr, &found);
    NameNearest(found, lines);
  }
}

}  // namespace tilelang_ascend_sched::verify
