#include "verify/places.h"

#include <string>
#include <vector>

namespace tilelang_ascend_sched::verify {

namespace {

// A line of TileLang's own tile operators says nothing to whoever calls them.
bool IsUsers(const Source& source) {
  return source.line != 0 && source.file.find("/tilelang/ascend/") == std::string::npos;
}

bool IsAccess(const Node* node) { return node->instruction.action == Action::kAccess; }

void Collect(Node* node, std::vector<Node*>* instructions) {
  if (node->kind == NodeKind::kInstruction) instructions->push_back(node);
  for (Node* child : node->children) Collect(child, instructions);
}

void FindPlaces(const std::vector<Node*>& instructions) {
  const int count = static_cast<int>(instructions.size());
  // What passes insert has the line of a whole loop at most: what moves data says more.
  std::vector<int> previous(count, -1), next(count, -1);
  auto is_anchor = [&](int i) {
    return IsAccess(instructions[i]) && IsUsers(instructions[i]->instruction.source);
  };
  for (int i = 0, last = -1; i < count; ++i) {
    previous[i] = last;
    if (is_anchor(i)) last = i;
  }
  for (int i = count, last = -1; i-- > 0;) {
    next[i] = last;
    if (is_anchor(i)) last = i;
  }
  for (int i = 0; i < count; ++i) {
    Source& source = instructions[i]->instruction.source;
    if (IsUsers(source)) continue;
    const bool before = previous[i] < 0 || (next[i] >= 0 && next[i] - i < i - previous[i]);
    const int nearest = before ? next[i] : previous[i];
    if (nearest < 0) continue;
    const Source& anchor = instructions[nearest]->instruction.source;
    source.near = {anchor.file, anchor.line, before};
  }
}

}  // namespace

void FindPlaces(Program* program) {
  // Both AIVs run one tree.
  for (const int core : {0, 1}) {
    if (!program->cores[core].present || program->cores[core].body == nullptr) continue;
    std::vector<Node*> instructions;
    Collect(program->cores[core].body, &instructions);
    FindPlaces(instructions);
  }
}

}  // namespace tilelang_ascend_sched::verify
