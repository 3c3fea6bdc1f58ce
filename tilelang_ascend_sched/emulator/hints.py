"""Declarations that accesses do not conflict, and which of them a race proves wrong.

``T.assume_no_conflict`` takes a dependence away from the scheduler, so a wrong one leaves a race.
It leaves no trace in the generated text. What tells it apart from a fault of the scheduler is the
same kernel without it: the race is gone, since then the two accesses are ordered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from os.path import basename
from typing import Any

from tilelang_ascend_sched.emulator.result import Finding, Result

_HINT = "tl.conflict_hint"


@dataclass(frozen=True)
class Hint:
    """An ``assume_no_conflict`` of a prim_func."""

    text: str
    place: str
    """``kernel.py:12``, empty if unknown."""
    arrays: frozenset[str]
    """The tensors in global memory that it speaks of."""
    on_chip: bool
    """It speaks of on-chip buffers too."""
    calls: tuple[Any, ...] = field(repr=False, compare=False)
    """What stands for it in the prim_func; two for the halves of a group."""

    def __str__(self) -> str:
        return self.text + (f" at {self.place}" if self.place else "")

    def covers(self, race: Finding) -> bool:
        """Whether the race is on memory that the hint speaks of."""
        _, _, where = race.message.partition(" race on ")
        space, name = where.split()[:2]
        return name in self.arrays if space == "GM" else self.on_chip


def _operand(operand: Any) -> tuple[str, str, str]:
    """Text, name and scope of one side of a hint: a whole buffer, or a region of one."""
    from tvm import tirx

    if isinstance(operand, tirx.Var):
        return operand.name, operand.name, operand.type_annotation.storage_scope
    load, _, *extents = operand.args
    parts = []
    for index, extent in zip(load.indices, extents, strict=True):
        whole = f"{index}:{index + extent}"
        parts.append(str(index) if isinstance(extent, tirx.IntImm) and extent == 1 else whole)
    return f"{load.buffer.name}[{', '.join(parts)}]", load.buffer.name, load.buffer.scope()


def _place(statement: Any) -> str:
    """File and line of a statement. Python has no accessor for the span that it holds."""
    from tvm.ir import save_json

    saved = json.loads(save_json(statement))
    nodes = saved["nodes"]
    span = nodes[nodes[saved["root_index"]]["data"]["span"]]
    if span["type"] != "ir.Span":
        return ""
    return f"{basename(nodes[span['data']['source_name']]['data'])}:{span['data']['line']}"


def _hint(statements: Sequence[Any]) -> Hint:
    calls = [statement.value for statement in statements]
    operands = [_operand(operand) for call in calls for operand in call.args[:2]]
    text = ", ".join(dict.fromkeys(text for text, _, _ in operands))
    group = calls[0].args[4].value
    return Hint(
        f"assume_no_conflict({text})" + (f" of group {group!r}" if group else ""),
        " and ".join(dict.fromkeys(filter(None, map(_place, statements)))),
        frozenset(name for _, name, scope in operands if scope in ("", "global")),
        any(scope not in ("", "global") for _, _, scope in operands),
        tuple(calls),
    )


def hints_of(func: Any) -> tuple[Hint, ...]:
    """The declarations of no conflict in a prim_func, in its order."""
    from tvm import tirx

    found: list[list[Any]] = []
    groups: dict[str, list[Any]] = {}

    def visit(node: Any) -> None:
        call = getattr(node, "value", None) if isinstance(node, tirx.Evaluate) else None
        if not isinstance(call, tirx.Call) or getattr(call.op, "name", "") != _HINT:
            return
        *_, group, is_conflict = call.args
        if int(is_conflict):
            return
        if group.value in groups:
            groups[group.value].append(node)
            return
        found.append([node])
        if group.value:
            groups[group.value] = found[-1]

    tirx.stmt_functor.post_order_visit(func.body, visit)
    return tuple(map(_hint, found))


def without(func: Any, hints: Iterable[Hint]) -> Any:
    """The prim_func with these declarations taken out."""
    from tvm import tirx

    calls = [call for hint in hints for call in hint.calls]

    def drop(statement: Any) -> Any:
        value = statement.value
        return tirx.Evaluate(0) if any(value.same_as(call) for call in calls) else None

    body = tirx.stmt_functor.ir_transform(func.body, None, drop, ["tirx.Evaluate"])
    return func.with_body(body)


def _key(race: Finding) -> tuple[str, ...]:
    """What stays the same when lines move."""
    _, _, where = race.message.partition(" race on ")
    space, name = where.split()[:2]
    sites = sorted(f"{s.core[:3]} {s.pipe} {s.instruction}" for s in race.sites)
    return space, name if space == "GM" else "", *sites


def judge(
    result: Result, hints: Sequence[Hint], rerun: Callable[[Sequence[Hint]], Result]
) -> Result:
    """``result`` with every race that only a wrong declaration excuses told as such.

    rerun: runs the kernel on the same data without the hints that it is given.
    """
    races = [f for f in result.of_kind("race", "race-same-pipe") if f.sites]
    suspects = [hint for hint in hints if any(hint.covers(race) for race in races)]
    if not suspects:
        return result
    kept: dict[Hint | None, set[tuple[str, ...]]] = {}

    def left_without(hint: Hint | None) -> set[tuple[str, ...]]:
        """The races that stay without this hint, or without any."""
        if hint not in kept:
            outcome = rerun(suspects if hint is None else [hint])
            kept[hint] = {_key(f) for f in outcome.of_kind("race", "race-same-pipe")}
        return kept[hint]

    def told(finding: Finding) -> Finding:
        if finding not in races:
            return finding
        mine = [hint for hint in suspects if hint.covers(finding)]
        if not mine or _key(finding) in left_without(None):
            return finding
        if len(suspects) > 1:
            mine = [hint for hint in mine if _key(finding) not in left_without(hint)] or mine
        names = " and ".join(map(str, mine))
        are, these = ("are", "these declarations") if len(mine) > 1 else ("is", "this declaration")
        message = f"{names} {are} wrong: only {these} excuse{'' if len(mine) > 1 else 's'} a "
        return replace(finding, kind="wrong-hint", message=message + finding.message)

    return replace(result, findings=tuple(map(told, result.findings)))
