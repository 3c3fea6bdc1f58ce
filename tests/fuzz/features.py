"""What a program exercises, to count how often each was tried."""

from __future__ import annotations

from tests.fuzz.model import (
    UB,
    Cell,
    Condition,
    Expr,
    Gemm,
    Hint,
    If,
    Load,
    Loop,
    PerCore,
    Program,
    Ref,
    Stmt,
    Store,
    Task,
    ToL1,
    ToUb,
    UbCell,
    Vec,
    While,
    statements,
)


def features(program: Program) -> set[str]:
    """Names of features, each at most once a program."""
    found = {f"cores: {program.cores}"}
    flags = {
        "two blocks": program.blocks > 1,
        "own L0": program.own_l0 and any(isinstance(s, Gemm) for s in statements(program.body)),
        f"no schedule, {program.cores}": not program.scheduled,
        "dynamic shape": program.open_rows,
        "operand with the depth as rows": any(b.turned for b in program.buffers),
        "versions asked for": any(b.versions is not None for b in program.buffers),
    }
    found |= {name for name, holds in flags.items() if holds}
    found |= {f"config {key}" for key, _ in program.configs}
    _visit(program, program.body, 0, found)
    return found


def _visit(program: Program, body: tuple[Stmt, ...], depth: int, found: set[str]) -> None:
    if sum(isinstance(stmt, Loop | While) for stmt in body) > 1:
        found.add("sibling loops")
    for stmt in body:
        found |= _of(program, stmt, depth)
        match stmt:
            case Loop() | While():
                _visit(program, stmt.body, depth + 1, found)
            case If():
                _visit(program, stmt.body, depth, found)
                _visit(program, stmt.otherwise, depth, found)
            case Task():
                _visit(program, stmt.body, depth, found)


def _of(program: Program, stmt: Stmt, depth: int) -> set[str]:
    match stmt:
        case Loop():
            found = {f"loop {stmt.kind}"}
            if depth:
                found.add("nested loop")
            if not stmt.extent.terms and stmt.extent.constant < 2:
                found.add(f"extent {stmt.extent.constant}")
            found |= {"enable_offset"} if stmt.offset else set()
            found |= {"T.Stage"} if stmt.manual else set()
            return found | _reads(stmt.extent) | _dynamic("extent", stmt.extent)
        case While():
            return {"loop while"} | _reads(stmt.bound) | _dynamic("extent", stmt.bound)
        case If():
            found = {"guard"} | ({"else"} if stmt.otherwise else set())
            for side in (stmt.test.left, stmt.test.right):
                found |= _reads(side) | _dynamic("guard", side)
            return found
        case Load():
            found = {"load of what was stored"} if stmt.tensor == "Y" else set()
            if program.buffer(stmt.target.buffer).kind == UB and stmt.part != program.whole:
                found.add("slice of a buffer")
            found |= {"rows become columns"} if stmt.turned else set()
            return found | _operand(stmt.target) | _place(stmt.slot)
        case Store():
            part = program.buffer(stmt.source.buffer).kind == UB and stmt.part != program.whole
            found = {"slice of a buffer"} if part else set()
            return found | _operand(stmt.source) | _place(stmt.slot)
        case Vec():
            found = {"SIMD body" if stmt.simd else "SIMT body"}
            found |= {"slice of a buffer"} if stmt.part != program.whole else set()
            found |= {"SIMT guard on data"} if stmt.positive else set()
            if stmt.shift is not None:
                found.add("scatter" if stmt.scatters else "gather")
            return found | _operand(stmt.target) | _dynamic("value", stmt.constant)
        case Gemm():
            return {"GEMM cleared by a condition" if isinstance(stmt.clear, Condition) else "GEMM"}
        case ToUb():
            return {"Cube to Vector"}
        case ToL1():
            return {"Vector to Cube"}
        case Task():
            return {"T.Task with costs" if stmt.latency else "T.Task"}
        case PerCore():
            return {"T.PerCoreTask"}
        case Hint():
            return {"assume_conflict" if stmt.buffers else "assume_no_conflict"}
    return set()


def _operand(ref: Ref) -> set[str]:
    found = {"alias view"} if ref.flat else set()
    if ref.slot is None:
        return found
    found.add("manual ring")
    for _, atom in ref.slot.terms:
        kinds = {"v": "ring by a variable of its own", "w": "ring in a while loop"}
        found |= {kinds[atom[0]]} if atom[0] in kinds else set()
        found |= {"ring filled ahead"} if ref.slot.constant else set()
    return found


def _place(slot: Expr) -> set[str]:
    return _reads(slot) | _dynamic("slot", slot)


def _reads(expr: Expr) -> set[str]:
    kinds = {Cell: "scalar read of GM", UbCell: "scalar read of UB"}
    return {kinds[type(atom)] for _, atom in expr.terms if type(atom) in kinds}


def _dynamic(where: str, expr: Expr) -> set[str]:
    return {f"dynamic {where}"} if any(atom == "n" for _, atom in expr.terms) else set()
