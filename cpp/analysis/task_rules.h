#pragma once

#include "hw/machine.h"
#include "ir/task_tree.h"

namespace tilelang_ascend_sched {

// Checks a `T.Task`, or a statement that is a task by itself: all its work is on one pipe, its
// copies to and from GM are of one core, it holds no other task or stage, and cross-core
// synchronization is its only statement if it has any. InternalError naming the statement, its
// place and what is wrong.
// Only a task that the user `marked` as one excludes a `T.PerCoreTask` inside.
void CheckTask(const Task& task, const Machine& machine, bool marked);

// Checks a `T.PerCoreTask`: its candidates are as CheckTask asks and use one and the same pipe,
// whose cross-core flags alone it may use; nothing else in it touches buffers; and what chooses
// between the candidates stands outside of them. InternalError as above.
void CheckPerCoreTask(const Task& task, const Machine& machine);

}  // namespace tilelang_ascend_sched
