#pragma once

namespace tilelang_ascend_sched {

// The names under which the scheduling passes leave their results in the IR. They are TileLang's:
// passes of ours and of the stock chain read each other's.
namespace attrs {

// Statement attributes.
inline constexpr const char* kTask = "tl.ascend_task";
inline constexpr const char* kPerCoreTask = "tl.ascend_per_core_task";
inline constexpr const char* kStage = "tl.ascend_stage";
inline constexpr const char* kScheduleUnit = "tl.schedule_unit";
inline constexpr const char* kAssumeRuntimeCheck = "tl.assume_requires_runtime_check";

// Keys of a schedule unit's and of a task's metadata.
inline constexpr const char* kUnitStage = "stage";
inline constexpr const char* kLatency = "latency";
inline constexpr const char* kInterval = "ii";
inline constexpr const char* kCoreMask = "core_mask";

// Annotations of loops.
inline constexpr const char* kSyntheticWhile = "synthetic_while";
inline constexpr const char* kNumStages = "num_stages";
inline constexpr const char* kConflictHint = "conflict_hint";
inline constexpr const char* kEnableOffset = "enable_offset";
inline constexpr const char* kPipelineOrder = "tl_pipeline_order";
inline constexpr const char* kPipelineStage = "tl_pipeline_stage";
inline constexpr const char* kMultiBufferEligible = "multi_buffer_eligible";

// The call by which the language layer records a conflict hint.
inline constexpr const char* kConflictHintOp = "tl.conflict_hint";

// Annotations of a kernel's root block, and the block's name.
inline constexpr const char* kRootConflictHints = "tl.root_conflict_hints";
inline constexpr const char* kBufferVersions = "tl.buffer_versions_map";
inline constexpr const char* kRootBlock = "tilelang_root";

}  // namespace attrs

// The stage of a unit for which none has been chosen.
inline constexpr int kUnsetStage = -1;

}  // namespace tilelang_ascend_sched
