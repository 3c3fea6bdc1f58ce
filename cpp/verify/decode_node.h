#pragma once

#include <string>
#include <utility>

#include "verify/program.h"

// Nodes that are made in several files of the decoder.
namespace tilelang_ascend_sched::verify {

inline Node* Issue(Program* program, Instruction instruction, const Source& source) {
  Node* node = program->Make(NodeKind::kInstruction);
  instruction.source = source;
  instruction.number = static_cast<int>(program->nodes.size());
  instruction.source.number = instruction.number;
  node->instruction = std::move(instruction);
  node->source = source;
  return node;
}

inline Node* NotModelled(Program* program, const std::string& why, const Source& source) {
  Node* node = program->Make(NodeKind::kNotModelled);
  node->name = why;
  node->source = source;
  return node;
}

}  // namespace tilelang_ascend_sched::verify
