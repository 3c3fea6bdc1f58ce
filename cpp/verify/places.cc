#include "verify/places.h"

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

void NameNearest(const Statements& found) {
  const int count = static_cast<int>(found.instructions.size());
  auto is_anchor = [&](int i) {
    const Instruction& instruction = *found.instructions[i];
    return instruction.action == Action::kAccess && IsUsers(instruction.source);
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
    // What passes insert has the line of a whole loop or kernel at most.
    const bool inserted = instruction.action != Action::kAccess &&
                          found.scopes.count(LineOf(instruction.source)) != 0;
    if (IsUsers(instruction.source) && !inserted) continue;
    // One in another loop is not near; of two, the nearer one.
    auto distance = [&](int other) {
      if (other < 0) return std::pair(2, 0);
      return std::pair(int{found.loops[other] != found.loops[i]}, std::abs(other - i));
    };
    const bool before = distance(next[i]) < distance(previous[i]);
    const int nearest = before ? next[i] : previous[i];
    if (nearest < 0) continue;
    const Source& anchor = found.instructions[nearest]->source;
    instruction.source.near = {anchor.file, anchor.line, before};
  }
}

}  // namespace

void FindPlaces(Program* program) {
  // Both AIVs run one tree.
  for (const int core : {0, 1}) {
    if (!program->cores[core].present || program->cores[core].body == nullptr) continue;
    Statements found;
    Collect(program->cores[core].body, nullptr, &found);
    NameNearest(found);
  }
}

}  // namespace tilelang_ascend_sched::verify
