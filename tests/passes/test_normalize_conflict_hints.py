"""NormalizeConflictHints on hand-written TIR, and its effect on a real kernel."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tvm
from tvm import tirx

from tests.passes.captured import KERNELS, lowered
from tests.passes.tir import Code, call, kernel_root, loop, ours, root_of, stock, var

NAME = "NormalizeConflictHints"
X = tirx.decl_buffer((64, 8), "float32", name="X", scope="global")
TILE = tirx.decl_buffer((16, 8), "float32", name="tile", scope="shared.dyn")
N = var("n")

EVERY, ROOT = -2, -1


def region(buffer: tirx.Buffer, access: int, *ranges: tuple) -> tirx.PrimExpr:
    mins, extents = zip(*ranges, strict=True)
    load = tirx.BufferLoad(buffer, list(mins))
    return tirx.call_intrin("handle", tirx.op.Op.get("tl.region"), load, access, *extents)


def copy(row: tirx.PrimExpr, extent: tirx.PrimExpr | int = 16) -> tirx.Stmt:
    """Copies ``extent`` rows from ``row`` of X on into the tile."""
    source, target = region(X, 1, (row, extent), (0, 8)), region(TILE, 2, (0, extent), (0, 8))
    op = tirx.op.Op.get("tl.tileop.ascend_copy")
    return tirx.Evaluate(tirx.call_intrin("handle", op, source, target))


def hint(
    a: tirx.PrimExpr,
    b: tirx.PrimExpr | None = None,
    *,
    level: int = EVERY,
    cross: int = -1,
    group: str = "",
    conflict: bool = False,
) -> tirx.Stmt:
    flag = tirx.IntImm("bool", conflict)
    return call("conflict_hint", a, a if b is None else b, level, cross, group, flag)


def named(row: tirx.PrimExpr, extent: int = 16) -> tirx.PrimExpr:
    return region(X, 3, (row, extent), (0, 8))


def entries(function: tirx.PrimFunc) -> dict[str, list[str]]:
    """The hints by the loop that carries them, `root` for those of the kernel."""
    root = root_of(function)
    found = {"root": root.annotations.get("tl.root_conflict_hints", [])}

    def visit(node: object) -> None:
        if isinstance(node, tirx.For) and "conflict_hint" in node.annotations:
            found[node.loop_var.name] = node.annotations["conflict_hint"]

    tirx.stmt_functor.post_order_visit(root.body, visit)
    return {where: [str(list(entry)) for entry in listed] for where, listed in found.items()}


def nest(*body: tirx.Stmt) -> tirx.PrimFunc:
    """The body inside two loops `i` and `j`."""
    return kernel_root(loop(var("i"), 4, loop(var("j"), 4, *body)), params=(X.data, N))


@pytest.mark.parametrize("level", [EVERY, ROOT, 0, 1])
@pytest.mark.parametrize("conflict", [False, True])
def test_hints_go_to_the_levels_they_name(level: int, conflict: bool) -> None:
    function = nest(copy(N), hint(named(N), level=level, cross=1, conflict=conflict))
    after = ours(NAME)(function)
    tvm.ir.assert_structural_equal(after, stock(NAME)(function))
    levels = {where for where, listed in entries(after).items() if listed}
    assert levels == {EVERY: {"root", "i", "j"}, ROOT: {"root"}, 0: {"i"}, 1: {"j"}}[level]
    assert "conflict_hint(" not in str(after)


def test_a_bare_buffer_names_its_storage() -> None:
    function = nest(copy(N), hint(TILE.data, X.data, level=0))
    tvm.ir.assert_structural_equal(ours(NAME)(function), stock(NAME)(function))


def test_a_clamped_access_is_still_named() -> None:
    clamped = tirx.min(16, tirx.max(64 - N, 0))
    function = nest(copy(N, clamped), hint(named(N), level=0))
    [plain, mixed, short] = entries(ours(NAME)(function))["i"]
    assert "n + T.min(16" not in plain
    assert "n + T.min(16" in mixed
    assert short.count("T.min(16") == 2


@pytest.mark.parametrize(
    "other",
    [copy(N + 1), copy(N, 17), copy(N, tirx.min(17, N)), copy(var("elsewhere"))],
    ids=["another corner", "longer", "perhaps longer", "unknown corner"],
)
def test_other_accesses_are_not_taken_for_clamped_ones(other: tirx.Stmt) -> None:
    [only] = entries(ours(NAME)(nest(copy(N), other, hint(named(N), level=0))))["i"]
    assert only.count("n:n + 16") == 2


def test_different_operands_are_paired_in_all_their_forms() -> None:
    rows = tirx.min(16, N)
    function = nest(
        copy(N, rows), copy(N + 20, rows), hint(named(N), named(N + 20), level=0, conflict=True)
    )
    assert len(entries(ours(NAME)(function))["i"]) == 4


def test_the_halves_of_a_group_speak_of_the_loops_around_both() -> None:
    i, j, k = var("i"), var("j"), var("k")
    half = {"group": "pair", "cross": 1}
    function = kernel_root(
        loop(
            i,
            4,
            loop(j, 4, copy(N), hint(named(N), **half)),
            loop(k, 4, copy(N + 16), hint(named(N + 16), **half)),
        ),
        params=(X.data, N),
    )
    after = ours(NAME)(function)
    tvm.ir.assert_structural_equal(after, stock(NAME)(function))
    assert {where for where, listed in entries(after).items() if listed} == {"root", "i"}


Broken = Callable[[], tirx.PrimFunc]

BROKEN: dict[str, tuple[Broken, str]] = {
    "one half": (
        lambda: nest(hint(named(N), group="g")),
        "group 'g' appears only once",
    ),
    "three halves": (
        lambda: nest(*[hint(named(N), group="g")] * 3),
        "appears more than twice",
    ),
    "levels differ": (
        lambda: nest(hint(named(N), group="g", level=0), hint(named(N), group="g", level=1)),
        "mismatched level",
    ),
    "cross differs": (
        lambda: nest(hint(named(N), group="g", cross=0), hint(named(N), group="g", cross=1)),
        "mismatched cross",
    ),
    "no such loop": (lambda: nest(hint(named(N), level=2)), "level 2 is out of range"),
    "no such level": (lambda: nest(hint(named(N), level=-3)), "level must be >= -2"),
}


@pytest.mark.parametrize("run", [ours, stock])
@pytest.mark.parametrize("case", BROKEN)
def test_broken_hints_are_refused(case: str, run: Callable[[str], Callable[[Code], Code]]) -> None:
    build, message = BROKEN[case]
    with pytest.raises(tvm.error.InternalError, match=message):
        run(NAME)(build())


def test_groups_for_and_against_conflicts_are_apart() -> None:
    halves = [
        hint(named(N), group="g", conflict=conflict) for conflict in (False, True, False, True)
    ]
    function = nest(copy(N), *halves)
    tvm.ir.assert_structural_equal(ours(NAME)(function), stock(NAME)(function))


@pytest.mark.parametrize("operand", [named(N + 32), TILE.data])
def test_a_hint_on_nothing_is_told(notes: list[tuple], operand: tirx.PrimExpr) -> None:
    ours(NAME)(nest(hint(operand, level=0)))
    [(_, _, kind, message, _)] = notes
    assert kind == "degraded" and "assume_no_conflict has no effect" in message


def test_a_hint_on_something_is_not_told(notes: list[tuple]) -> None:
    store = tirx.BufferStore(TILE, tirx.const(0.0, "float32"), [0, 0])
    ours(NAME)(nest(copy(N), store, hint(named(N)), hint(TILE.data), hint(named(N, 20))))
    assert notes == []


def test_the_hint_of_a_real_kernel_takes_effect_again() -> None:
    """Rows of Y are written at places that a permutation gives, clamped at the end of Y."""
    barrier = "asc_sync_pipe(PIPE_MTE3)"
    assert barrier in lowered(KERNELS["permuted_rows"].build())
    assert barrier not in lowered(KERNELS["permuted_rows"].build(), NAME)
