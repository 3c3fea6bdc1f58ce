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
    LIMIT,
    NARROW_LIMIT,
    SLOTS,
    UB,
    WIDTH,
    Buffer,
    Cell,
    Condition,
    Expr,
    Gemm,
    Hint,
    If,
    Load,
    Loop,
    Narrow,
    Part,
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
    refs,
    statements,
)

THREADS = 64
DEPTH = WIDTH // 2
"""Depth of a tile in L0, where the kernel fills it by hand."""
_BARRIER = 'T.ascend_pipe_barrier("PIPE_ALL")'


def write(program: Program) -> str:
    """The kernel as the text of a module with a function ``build`` that returns the prim_func."""
    return _Writer(program).module()


def expression(expr: Expr) -> str:
    parts = []
    for factor, atom in expr.terms:
        match atom:
            case Cell(tensor, index):
                text = f"{tensor}[{expression(index)}]"
            case UbCell(buffer, element):
                text = f"{buffer}[{element}]"
            case _:
                text = atom
        parts.append(text if factor == 1 else f"{text} * {factor}")
    if expr.constant or not parts:
        parts.append(str(expr.constant))
    total = " + ".join(parts)
    if expr.modulus:
        return f"({total}) % {expr.modulus}"
    return f"({total})" if len(parts) > 1 else total


def condition(test: Condition) -> str:
    return f"{expression(test.left)} {'==' if test.equal else '<'} {expression(test.right)}"


def _indent(lines: list[str], levels: int = 1) -> list[str]:
    return ["    " * levels + line for line in lines]


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.all = statements(program.body)
        self.one_row = program.rows == 1
        self.flat = {ref.buffer for stmt in self.all for ref in refs(stmt) if ref.flat}

    def module(self) -> str:
        p = self.program
        lines = ["import tilelang.ascend.language as T", "", "", "def build():"]
        lines += ['    n = T.dynamic("n")'] if p.dynamic else []
        body = [*self._declarations(), *self._body(p.body)]
        kernel = f"with T.Kernel({p.blocks}) as block:"
        lines += [
            "    @T.prim_func",
            f"    def {p.name}(",
            *_indent(self._parameters(), 2),
            "    ):",
            f"        {kernel}",
            *_indent(body, 3),
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
            rows = p.blocks * SLOTS * slot_rows(p, name)
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
            lines.append(f"l0a = T.alloc_l0a((32, {DEPTH}), T.{p.dtype})")
            lines.append(f"l0b = T.alloc_l0b(({WIDTH}, {DEPTH}), T.{p.dtype})")
        asked = [b for b in p.buffers if b.versions is not None]
        if asked:
            items = ", ".join(f"{b.name}: {b.versions!r}" for b in asked)
            lines.append(f"T.annotate_buffer_versions({{{items}}})")
        rings = [b.name for b in p.buffers if b.ring]
        if rings:
            lines.append(f"T.annotate_manual_multi_buffer({', '.join(rings)})")
        for stmt in self.all:
            if isinstance(stmt, While):
                lines.append(f"{stmt.variable} = T.alloc_var(T.int32)")
        return lines

    def _declaration(self, buffer: Buffer) -> list[str]:
        p = self.program
        tile = f"{WIDTH}," if self.one_row else f"{p.rows}, {WIDTH}"
        ring = f"{buffer.ring}, " if buffer.ring else ""
        make, shape, dtype = {
            UB: ("shared", f"{ring}{tile}", "float32"),
            HALF: ("shared", tile, p.dtype),
            INT: ("shared", f"{INTS},", "int32"),
            L1A: ("l1", f"32, {WIDTH}", p.dtype),
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
                    *_indent([*self._body(stmt.body), f"{stmt.variable} += 1"]),
                ]
            case If():
                lines = [f"if {condition(stmt.test)}:", *_indent(self._body(stmt.body))]
                if stmt.otherwise:
                    lines += ["else:", *_indent(self._body(stmt.otherwise))]
                return lines
            case PerCore():
                return [
                    "with T.PerCoreTask():",
                    "    if block == 0:",
                    *_indent(self._statement(stmt.first), 2),
                    "    else:",
                    *_indent(self._statement(stmt.second), 2),
                ]
            case Task():
                knobs = {"latency": stmt.latency, "ii": stmt.interval}
                given = ", ".join(f"{k}={v}" for k, v in knobs.items() if v is not None)
                return [f"with T.Task({given}):", *_indent(self._body(stmt.body))]
            case Hint():
                return [self._hint(stmt)]
        lines = self._operation(stmt)
        return lines if self.program.scheduled else [*lines, _BARRIER]

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
                body += [f"with T.Stage({stage}):", *_indent(self._statement(each))]
        return [f"for {stmt.variable} in {head}:", *_indent(body)]

    def _hint(self, stmt: Hint) -> str:
        if stmt.buffers:
            return f"T.assume_conflict({', '.join(stmt.buffers)})"
        region = self._in_gm(stmt.tensor, stmt.slot, self.program.whole, split=False)
        return f"T.assume_no_conflict({region})"

    def _operation(self, stmt: Stmt) -> list[str]:
        match stmt:
            case Load():
                return [self._load(stmt)]
            case Store():
                return [self._store(stmt)]
            case Vec(simd=True):
                return self._simd(stmt)
            case Vec():
                return self._simt(stmt)
            case Narrow():
                low, high = f"T.float32({-NARROW_LIMIT})", f"T.float32({NARROW_LIMIT})"
                source = self._element(stmt.source, "r", "c")
                value = f"T.cast(T.min(T.max({source}, {low}), {high}), T.{self.program.dtype})"
                assign = f"{self._element(stmt.target, 'r', 'c')} = {value}"
                return self._parallel(self.program.whole, assign)
            case Gemm():
                return self._gemm(stmt)
            case ToUb():
                return [f"T.dual_copy({stmt.source}, {self._operand(stmt.target)})"]
            case ToL1():
                return [f"T.dual_copy({self._operand(stmt.source)}, {stmt.target})"]
        raise AssertionError(stmt)

    def _in_gm(self, tensor: str, slot: Expr, part: Part, *, split: bool) -> str:
        p = self.program
        rows = slot_rows(p, tensor)
        place = expression(slot)
        if p.blocks > 1:
            place = f"(block * {SLOTS} + {place})"
        elif slot.modulus:
            place = f"({place})"
        base = f"{place} * {rows}" if rows > 1 else place
        columns = f"{part.column}:{part.column + part.columns}"
        if rows == 1:
            return f"{tensor}[{base}, {columns}]"
        scale = 2 if split else 1
        first, count = part.row * scale, part.rows * scale
        begin = f"{base} + {first}" if first else base
        return f"{tensor}[{begin} : {base} + {first + count}, {columns}]"

    def _operand(self, ref: Ref, part: Part | None = None) -> str:
        """The buffer, or a part of it, as the operand of a copy."""
        if part in (None, self.program.whole) and ref.slot is None and not ref.flat:
            return ref.buffer
        part = part or self.program.whole
        if ref.flat:
            first = part.row * WIDTH + part.column
            return f"{ref.buffer}_flat[{first}:{first + (part.rows - 1) * WIDTH + part.columns}]"
        indices = [] if ref.slot is None else [expression(ref.slot)]
        if not self.one_row:
            indices.append(f"{part.row}:{part.row + part.rows}")
        indices.append(f"{part.column}:{part.column + part.columns}")
        return f"{ref.buffer}[{', '.join(indices)}]"

    def _element(self, ref: Ref, row: str, column: str) -> str:
        if ref.flat:
            return f"{ref.buffer}_flat[({row}) * {WIDTH} + {column}]"
        indices = [] if ref.slot is None else [expression(ref.slot)]
        indices += [column] if self.one_row else [row, column]
        return f"{ref.buffer}[{', '.join(indices)}]"

    def _load(self, stmt: Load) -> str:
        kind = self.program.buffer(stmt.target.buffer).kind
        if kind == INT:
            return f"T.copy(U[{expression(stmt.slot)}, 0:{INTS}], {stmt.target.buffer})"
        if kind in (L1A, L1B):
            tile = Part(0, slot_rows(self.program, stmt.tensor), 0, WIDTH)
            region = self._in_gm(stmt.tensor, stmt.slot, tile, split=False)
            return f"T.copy({region}, {stmt.target.buffer})"
        region = self._in_gm(stmt.tensor, stmt.slot, stmt.part, split=stmt.split)
        copy = "dual_copy" if stmt.split else "copy"
        return f"T.{copy}({region}, {self._operand(stmt.target, stmt.part)})"

    def _store(self, stmt: Store) -> str:
        if self.program.buffer(stmt.source.buffer).kind == L0C:
            tile = Part(0, 32, 0, WIDTH)
            region = self._in_gm(stmt.tensor, stmt.slot, tile, split=False)
            return f"T.copy({stmt.source.buffer}, {region})"
        split = self.program.halves == 2
        region = self._in_gm(stmt.tensor, stmt.slot, stmt.part, split=split)
        copy = "dual_copy" if split else "copy"
        return f"T.{copy}({self._operand(stmt.source, stmt.part)}, {region})"

    def _parallel(self, part: Part, assign: str) -> list[str]:
        loop = f"for r, c in T.Parallel({part.rows}, {part.columns}):"
        if self.one_row:
            loop = f"for c in T.Parallel({part.columns}):"
        return [f"with T.SimtVF(threads={THREADS}):", f"    {loop}", f"        {assign}"]

    def _simt(self, stmt: Vec) -> list[str]:
        part = stmt.part
        row = f"r + {part.row}" if part.row else "r"
        column = f"c + {part.column}" if part.column else "c"
        constant = stmt.constant
        terms = []
        if stmt.source is not None:
            terms.append(f"{self._element(stmt.source, row, column)} * T.float32({stmt.factor})")
        if stmt.adds:
            terms.append(self._element(stmt.target, row, column))
        if constant.terms:
            terms.append(f"T.cast({expression(constant)}, T.float32)")
        else:
            terms.append(f"T.float32({constant.constant})")
        value = f"T.min(T.max({' + '.join(terms)}, T.float32({-LIMIT})), T.float32({LIMIT}))"
        return self._parallel(part, f"{self._element(stmt.target, row, column)} = {value}")

    def _simd(self, stmt: Vec) -> list[str]:
        target = self._element(stmt.target, f"r + {stmt.part.row}", "0")
        constant = float(stmt.constant.constant)
        if stmt.source is None:
            value = f'T.simd.vdup({constant}, "float32")'
        else:
            source = self._element(stmt.source, f"r + {stmt.part.row}", "0")
            value = f"T.simd.vmuls(T.simd.vld({source}), {float(stmt.factor)})"
        if stmt.adds:
            value = f"T.simd.vadd({value}, T.simd.vld({target}))"
        if stmt.source is not None:
            value = f"T.simd.vadds({value}, {constant})"
        value = f"T.simd.vmins(T.simd.vmaxs({value}, {float(-LIMIT)}), {float(LIMIT)})"
        return [
            "with T.SimdVF():",
            f"    for r in T.serial({stmt.part.rows}):",
            f"        T.simd.vsts({target}, {value})",
        ]

    def _gemm(self, stmt: Gemm) -> list[str]:
        clear = str(stmt.clear) if isinstance(stmt.clear, bool) else condition(stmt.clear)
        if not self.program.own_l0:
            tail = f"transpose_B=True, clear_accum={clear}"
            return [f"T.gemm({stmt.a}, {stmt.b}, {stmt.acc}, {tail})"]
        depth = f"s * {DEPTH} : (s + 1) * {DEPTH}"
        if not isinstance(stmt.clear, bool):
            clear = f"T.And({clear}, s == 0)"
        elif stmt.clear:
            clear = "s == 0"
        lines = [
            f"T.copy({stmt.a}[0:32, {depth}], l0a)",
            f"T.copy({stmt.b}[0:{WIDTH}, {depth}], l0b)",
            f"T.gemm(l0a, l0b, {stmt.acc}, transpose_B=True, clear_accum={clear})",
        ]
        if not self.program.scheduled:
            lines = [each for line in lines for each in (line, _BARRIER)]
        return [f"for s in T.serial({WIDTH // DEPTH}):", *_indent(lines)]
