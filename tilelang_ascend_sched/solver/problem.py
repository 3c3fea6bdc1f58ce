"""What there is to schedule: a loop body or a straight-line region, in plain 64-bit integers.

A problem is immutable, checked when it is made, and goes to JSON and back without loss, so that
any loop a kernel holds can be saved, mailed and solved again elsewhere.
Times are cycles, sizes are bytes, tasks and buffers are numbered from zero in program order.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from typing import Any

FORMAT = "tilelang-ascend-sched/problem"
VERSION = 1
INT64_MAX = 2**63 - 1


class ProblemError(ValueError):
    """A problem that cannot be meant: the message names the row and what is wrong with it."""


@dataclass(frozen=True)
class Task:
    """One unit of work: results are there after ``latency``, its pipes free after ``interval``."""

    name: str
    pipes: tuple[str, ...]
    latency: int
    interval: int


@dataclass(frozen=True)
class Edge:
    """``dst`` of iteration i + distance starts at least ``latency`` after ``src`` of iteration i.

    With ``buffer`` set, the distance is the number of versions that buffer gets.
    """

    src: int
    dst: int
    latency: int
    distance: int = 0
    buffer: int | None = None


@dataclass(frozen=True)
class Resource:
    """Something only one of ``tasks`` may issue to at a time: a pipe, a memory port, a pair."""

    name: str
    tasks: tuple[int, ...]


@dataclass(frozen=True)
class OwnerExclusion:
    """Two owners of one storage take turns; either may go first.

    ``second`` starts at least ``gap_forward`` after ``first``, ``first`` at least ``gap_backward``
    after ``second``; in a loop both hold around the circle of one initiation interval.
    """

    first: int
    second: int
    gap_forward: int
    gap_backward: int


@dataclass(frozen=True)
class Buffer:
    """On-chip storage that may have several versions; ``versions`` asks for an exact count."""

    name: str
    size: int
    versions: int | None = None


@dataclass(frozen=True)
class MemoryGroup:
    """Buffers that share ``capacity`` bytes."""

    name: str
    capacity: int
    buffers: tuple[int, ...]


@dataclass(frozen=True)
class Policy:
    """The rules a schedule keeps besides data and resources.

    ``max_versions``: most versions a buffer may get (the loop's num_stages).
    ``allow_offset``: tasks of one pipe may be more than one initiation interval apart.
    ``manual_stages``: the stage of every task, a contract; None leaves stages free.
    ``pipe_order``: (earlier, later) pairs whose issue phases keep that order.
    ``stage_order``: (low, high) pairs with stage(low) <= stage(high).
    """

    max_versions: int = 1
    allow_offset: bool = False
    manual_stages: tuple[int, ...] | None = None
    pipe_order: tuple[tuple[int, int], ...] = ()
    stage_order: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class ScheduleProblem:
    """A loop body (``kind="loop"``) or a straight-line task list (``kind="region"``).

    Raises ProblemError if any row contradicts itself or names something that is not there.
    """

    tasks: tuple[Task, ...]
    edges: tuple[Edge, ...] = ()
    resources: tuple[Resource, ...] = ()
    exclusions: tuple[OwnerExclusion, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    memory_groups: tuple[MemoryGroup, ...] = ()
    policy: Policy = field(default_factory=Policy)
    trip_count: int | None = None
    kind: str = "loop"
    name: str = ""

    def __post_init__(self) -> None:
        _check_tasks(self)
        _check_relations(self)
        _check_memory(self)
        _check_policy(self)
        _check_horizon(self)

    def with_trip_count(self, trips: int | None) -> ScheduleProblem:
        """The same problem for this many iterations, None if they are not known."""
        return replace(self, trip_count=trips)

    @property
    def manual(self) -> bool:
        """Whether stages are given by hand."""
        return self.policy.manual_stages is not None

    def to_json(self, *, indent: int | None = None) -> str:
        """The problem as JSON text, with the version of the format."""
        return json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> ScheduleProblem:
        """Reads what ``to_json`` wrote; ProblemError for anything else, naming the field."""
        if not isinstance(text, str):
            raise ProblemError(f"expected JSON text, got {type(text).__name__}")
        try:
            return cls._from_data(json.loads(text))
        except ProblemError:
            raise
        except RecursionError:
            raise ProblemError("the JSON is nested too deeply for a schedule problem") from None
        except json.JSONDecodeError as error:
            raise ProblemError(f"not JSON: {error}") from None
        except ValueError:  # Python refuses to read integers of thousands of digits
            raise ProblemError("an integer has too many digits for 64 bits") from None

    @classmethod
    def _from_data(cls, data: Any) -> ScheduleProblem:
        if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
            raise ProblemError(f"not a schedule problem: the field 'format' must be {FORMAT!r}")
        version = data.pop("version", None)
        if type(version) is not int or version != VERSION:
            raise ProblemError(
                f"schedule problem of format version {version!r}; this solver reads {VERSION}"
            )
        return _from_dict(data)


_ROWS: dict[str, type] = {
    "tasks": Task,
    "edges": Edge,
    "resources": Resource,
    "exclusions": OwnerExclusion,
    "buffers": Buffer,
    "memory_groups": MemoryGroup,
}


def _from_dict(data: dict[str, Any]) -> ScheduleProblem:
    parts: dict[str, Any] = {}
    for key, value in data.items():
        if key in _ROWS:
            if not isinstance(value, list):
                raise ProblemError(f"{key}: expected a list of rows")
            parts[key] = tuple(_row(_ROWS[key], f"{key}[{i}]", row) for i, row in enumerate(value))
        elif key == "policy":
            parts[key] = _row(Policy, key, value)
        elif key in ("trip_count", "kind", "name"):
            parts[key] = value
        else:
            raise ProblemError(f"unknown field {key!r}")
    if "tasks" not in parts:
        raise ProblemError("the field 'tasks' is missing")
    return ScheduleProblem(**parts)


def _row(kind: type, where: str, row: Any) -> Any:
    if not isinstance(row, dict):
        raise ProblemError(f"{where}: expected an object")
    known = {entry.name: entry for entry in fields(kind)}
    for key in row:
        if key not in known:
            raise ProblemError(f"{where}: unknown field {key!r}")
    for key, entry in known.items():
        if key not in row and entry.default is MISSING:
            raise ProblemError(f"{where}: the field {key!r} is missing")
    return kind(**{key: _freeze(value) for key, value in row.items()})


def _freeze(value: Any) -> Any:
    return tuple(_freeze(item) for item in value) if isinstance(value, list) else value


def _integer(where: str, value: Any, least: int | None = None) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ProblemError(f"{where} must be an integer, got {value!r}")
    if abs(value) > INT64_MAX:
        raise ProblemError(f"{where} does not fit in 64 bits")
    if least is not None and value < least:
        raise ProblemError(f"{where} = {value} must be at least {least}")


def _text(where: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ProblemError(f"{where} must be text, got {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ProblemError(f"{where} has a lone surrogate, which is no text: {value!a}") from None


def _rows(where: str, value: Any) -> None:
    if not isinstance(value, tuple):
        raise ProblemError(f"{where} must be a tuple, got {type(value).__name__}")


def _index(where: str, value: Any, count: int, what: str) -> None:
    _integer(where, value)
    if not 0 <= value < count:
        raise ProblemError(f"{where} = {value}: there is no such {what} (there are {count})")


def _check_tasks(p: ScheduleProblem) -> None:
    if p.kind not in ("loop", "region"):
        raise ProblemError(f"kind must be 'loop' or 'region', got {p.kind!r}")
    _text("name", p.name)
    _rows("tasks", p.tasks)
    if not p.tasks:
        raise ProblemError("tasks: there is nothing to schedule")
    for i, task in enumerate(p.tasks):
        where = f"tasks[{i}]"
        _text(f"{where}.name", task.name)
        _rows(f"{where}.pipes", task.pipes)
        for pipe in task.pipes:
            _text(f"{where}.pipes", pipe)
        _integer(f"{where}.latency", task.latency, 0)
        _integer(f"{where}.interval", task.interval, 1)
    if p.trip_count is not None:
        _integer("trip_count", p.trip_count, 1)


def _check_relations(p: ScheduleProblem) -> None:
    n = len(p.tasks)
    for key in ("edges", "resources", "exclusions", "buffers", "memory_groups"):
        _rows(key, getattr(p, key))
    for i, edge in enumerate(p.edges):
        where = f"edges[{i}]"
        _index(f"{where}.src", edge.src, n, "task")
        _index(f"{where}.dst", edge.dst, n, "task")
        _integer(f"{where}.latency", edge.latency)
        _integer(f"{where}.distance", edge.distance, 0)
        if edge.buffer is not None:
            _index(f"{where}.buffer", edge.buffer, len(p.buffers), "buffer")
            if edge.distance:
                raise ProblemError(f"{where} has both a distance and a buffer to take it from")
        if p.kind == "region" and (edge.distance or edge.buffer is not None):
            raise ProblemError(f"{where} crosses iterations, but a region runs once")
    for i, resource in enumerate(p.resources):
        _text(f"resources[{i}].name", resource.name)
        _rows(f"resources[{i}].tasks", resource.tasks)
        for task in resource.tasks:
            _index(f"resources[{i}].tasks", task, n, "task")
        if len(set(resource.tasks)) != len(resource.tasks):
            raise ProblemError(f"resources[{i}] ({resource.name}) lists a task twice")
    for i, pair in enumerate(p.exclusions):
        where = f"exclusions[{i}]"
        _index(f"{where}.first", pair.first, n, "task")
        _index(f"{where}.second", pair.second, n, "task")
        _integer(f"{where}.gap_forward", pair.gap_forward, 0)
        _integer(f"{where}.gap_backward", pair.gap_backward, 0)
        if pair.first == pair.second:
            raise ProblemError(f"{where}: task {pair.first} cannot exclude itself")


def _check_memory(p: ScheduleProblem) -> None:
    for i, buffer in enumerate(p.buffers):
        _text(f"buffers[{i}].name", buffer.name)
        _integer(f"buffers[{i}].size", buffer.size, 0)
        if buffer.versions is not None:
            _integer(f"buffers[{i}].versions", buffer.versions, 1)
    for i, group in enumerate(p.memory_groups):
        where = f"memory_groups[{i}]"
        _text(f"{where}.name", group.name)
        _integer(f"{where}.capacity", group.capacity)
        _rows(f"{where}.buffers", group.buffers)
        for buffer in group.buffers:
            _index(f"{where}.buffers", buffer, len(p.buffers), "buffer")
        if len(set(group.buffers)) != len(group.buffers):
            raise ProblemError(f"{where} ({group.name}) lists a buffer twice")
        least = sum(p.buffers[b].size for b in group.buffers)
        if group.buffers and least > group.capacity:
            raise ProblemError(
                f"{where} ({group.name}): one version of each buffer takes {least} bytes, "
                f"the capacity is {group.capacity}"
            )


def _check_policy(p: ScheduleProblem) -> None:
    n, policy = len(p.tasks), p.policy
    _integer("policy.max_versions", policy.max_versions, 1)
    if not isinstance(policy.allow_offset, bool):
        raise ProblemError("policy.allow_offset must be true or false")
    for key in ("pipe_order", "stage_order"):
        _rows(f"policy.{key}", getattr(policy, key))
        for i, pair in enumerate(getattr(policy, key)):
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ProblemError(f"policy.{key}[{i}] must be a pair of tasks")
            for task in pair:
                _index(f"policy.{key}[{i}]", task, n, "task")
    stages = policy.manual_stages
    if stages is None:
        return
    _rows("policy.manual_stages", stages)
    if len(stages) != n:
        raise ProblemError(f"policy.manual_stages has {len(stages)} stages for {n} tasks")
    for i, stage in enumerate(stages):
        _integer(f"policy.manual_stages[{i}]", stage, 0)
    if any(stages) and (p.kind == "region" or not policy.allow_offset):
        raise ProblemError(
            "policy.manual_stages has a stage other than 0: that needs a loop with allow_offset"
        )


def serial_length(p: ScheduleProblem) -> int:
    """Cycles in which any schedulable problem can run one iteration after the other."""
    length = 1 + sum(max(t.latency, t.interval) for t in p.tasks)
    length += sum(max(edge.latency, 0) for edge in p.edges)
    return length + sum(x.gap_forward + x.gap_backward for x in p.exclusions)


def _check_horizon(p: ScheduleProblem) -> None:
    deepest = max(p.policy.manual_stages or (0,)) + 1
    if serial_length(p) * deepest > INT64_MAX:
        raise ProblemError("the latencies add up to more than 64 bits; scale the costs down")
