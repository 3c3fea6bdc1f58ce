"""A program written out as a TileLang kernel, as a user would write it."""

from __future__ import annotations

from tests.fuzz.meaning import slot_rows
from tests.fuzz.model import (
    HALF,
    INT,
    INTS,
    L0C,
    L1A,
    L1B,
    SLOTS,
    UB,
    WIDTH,
    Assign,
    Buffer,
    Hint,
    If,
    Loop,
    PerCore,
    Program,
    Stmt,
    Task,
    ToUb,
    While,
    refs,
    statements,
)
from tests.fuzz.text import BARRIER, Operations, condition, expression, indent, l0_tile

READY, DONE = 5, 3
"""Cross-core flags of kernels without a schedule: the AIVs may be written to; they have been."""


def write(program: Program) -> str:
    """The kernel as the text of a module with a function ``build`` that returns the prim_func."""
    return _Writer(program).module()


def _on(core: str, lines: list[str]) -> list[str]:
    return [f"with T.{core}():", *indent(lines)]


def _flag(does: str, pipe: str, number: int) -> str:
    return f'T.ascend_cross_core_{does}_flag(4, "PIPE_{pipe}", {number})'


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.all = statements(program.body)
        self.operations = Operations(program)
        self.flat = {ref.buffer for stmt in self.all for ref in refs(stmt) if ref.flat}

    def module(self) -> str:
        p = self.program
        lines = ["import tilelang.ascend.language as T", "", "", "def build():"]
        lines += ['    n = T.dynamic("n")'] if p.dynamic else []
        lines += ['    m = T.dynamic("m")'] if p.open_rows else []
        body = [*self._declarations(), *self._body(p.body)]
        kernel = f"with T.Kernel({p.blocks}) as block:"
        lines += [
            "    @T.prim_func",
            f"    def {p.name}(",
            *indent(self._parameters(), 2),
            "    ):",
            f"        {kernel}",
            *indent(body, 3),
            "",
            f"    return {p.name}",
            "",
        ]
        return "\n".join(lines)

    def _parameters(self) -> list[str]:
        p, lines = self.program, []
        operand = ("A", "B")
        for name in ("X", "Y", "Z", "C", *operand):
            dtype = p.dtype if name in operand else "float32"
            fixed = p.blocks * SLOTS * slot_rows(p, name)
            rows = "m" if p.open_rows and name in ("X", "Y") else fixed
            lines.append(f"{name}: T.Tensor(({rows}, {WIDTH}), T.{dtype}),")
        lines.append(f"P: T.Tensor(({SLOTS},), T.int32),")
        lines.append(f"Q: T.Tensor(({SLOTS},), T.int32),")
        lines.append(f"U: T.Tensor(({SLOTS}, {INTS}), T.int32),")
        if p.dynamic:
            lines.append("N: T.Tensor((n, 8), T.float32),")
        return lines

    def _declarations(self) -> list[str]:
        lines = [line for buffer in self.program.buffers for line in self._declaration(buffer)]
        p = self.program
        if p.own_l0:
            tiles = [l0_tile(b, p.dtype) for b in p.buffers if b.kind in (L1A, L1B)]
            lines += dict.fromkeys(tiles)
        asked = [b for b in p.buffers if b.versions is not None]
        if asked:
            items = ", ".join(f"{b.name}: {b.versions!r}" for b in asked)
            lines.append(f"T.annotate_buffer_versions({{{items}}})")
        rings = [b.name for b in p.buffers if b.ring]
        if rings:
            lines.append(f"T.annotate_manual_multi_buffer({', '.join(rings)})")
        counted = [s.variable for s in self.all if isinstance(s, While | Assign)]
        lines += [f"{variable} = T.alloc_var(T.int32)" for variable in dict.fromkeys(counted)]
        return lines

    def _declaration(self, buffer: Buffer) -> list[str]:
        p = self.program
        l1a = f"{WIDTH}, 32" if buffer.turned else f"32, {WIDTH}"
        tile = f"{WIDTH}," if self.operations.one_row else f"{p.rows}, {WIDTH}"
        ring = f"{buffer.ring}, " if buffer.ring else ""
        make, shape, dtype = {
            UB: ("shared", f"{ring}{tile}", "float32"),
            HALF: ("shared", tile, p.dtype),
            INT: ("shared", f"{INTS},", "int32"),
            L1A: ("l1", l1a, p.dtype),
            L1B: ("l1", f"{WIDTH}, {WIDTH}", p.dtype),
            L0C: ("l0c", f"32, {WIDTH}", "float32"),
        }[buffer.kind]
        lines = [f"{buffer.name} = T.alloc_{make}(({shape}), T.{dtype})"]
        if buffer.name in self.flat:
            lines.append(f"{buffer.name}_flat = T.reshape({buffer.name}, ({p.rows * WIDTH},))")
        return lines

    def _body(self, body: tuple[Stmt, ...]) -> list[str]:
        return [line for stmt in body for line in self._statement(stmt)]

    def _statement(self, stmt: Stmt) -> list[str]:
        match stmt:
            case Loop():
                return self._loop(stmt)
            case While():
                bound = expression(stmt.bound)
                return [
                    f"{stmt.variable} = 0",
                    f"while {stmt.variable} < {bound}:",
                    *indent([*self._body(stmt.body), f"{stmt.variable} += 1"]),
                ]
            case If():
                lines = [f"if {condition(stmt.test)}:", *indent(self._body(stmt.body))]
                if stmt.otherwise:
                    lines += ["else:", *indent(self._body(stmt.otherwise))]
                return lines
            case PerCore():
                return [
                    "with T.PerCoreTask():",
                    "    if block == 0:",
                    *indent(self._statement(stmt.first), 2),
                    "    else:",
                    *indent(self._statement(stmt.second), 2),
                ]
            case Task():
                knobs = {"latency": stmt.latency, "ii": stmt.interval}
                given = ", ".join(f"{k}={v}" for k, v in knobs.items() if v is not None)
                return [f"with T.Task({given}):", *indent(self._body(stmt.body))]
            case Hint():
                return [self._hint(stmt)]
            case Assign():
                return [f"{stmt.variable} = {expression(stmt.value)}"]
        lines = self.operations.lines(stmt)
        return lines if self.program.scheduled else self._by_hand(stmt, lines)

    def _by_hand(self, stmt: Stmt, lines: list[str]) -> list[str]:
        """Without a schedule: a full barrier after every statement, on the core that it is for."""
        lines = [*lines, BARRIER]
        if self.program.cores != "mix":
            return lines
        if isinstance(stmt, ToUb):
            return [
                *_on("Vector", [_flag("set", "MTE3", READY)]),
                *_on("Cube", [_flag("wait", "S", READY), _flag("wait", "S", READY + 16)]),
                *_on("Cube", lines),
                *_on("Cube", [_flag("set", "FIX", DONE), _flag("set", "FIX", DONE + 16)]),
                *_on("Vector", [_flag("wait", "S", DONE)]),
            ]
        kinds = {self.program.buffer(ref.buffer).kind for ref in refs(stmt)}
        return _on("Vector" if kinds & {UB, HALF, INT} else "Cube", lines)

    def _loop(self, stmt: Loop) -> list[str]:
        extent = expression(stmt.extent)
        if stmt.kind == "pipelined":
            offset = ', annotations={"enable_offset": True}' if stmt.offset else ""
            head = f"T.Pipelined({extent}, num_stages={stmt.stages}{offset})"
        else:
            head = f"T.{stmt.kind}({extent}{', explicit=True' if stmt.kind == 'unroll' else ''})"
        body = self._body(stmt.body)
        if stmt.manual:
            body = []
            for stage, each in zip(stmt.manual, stmt.body, strict=True):
                body += [f"with T.Stage({stage}):", *indent(self._statement(each))]
        return [f"for {stmt.variable} in {head}:", *indent(body)]

    def _hint(self, stmt: Hint) -> str:
        if stmt.buffers:
            return f"T.assume_conflict({', '.join(stmt.buffers)})"
        region = self.operations.in_gm(stmt.tensor, stmt.slot, self.program.whole, split=False)
        return f"T.assume_no_conflict({region})"
