"""Operations of a program written out as lines of a TileLang kernel."""

from __future__ import annotations

from tests.fuzz.meaning import slot_rows
from tests.fuzz.model import (
    INT,
    INTS,
    L0C,
    L1A,
    L1B,
    LIMIT,
    NARROW_LIMIT,
    SLOTS,
    WIDTH,
    Buffer,
    Cell,
    Condition,
    Expr,
    Gemm,
    Load,
    Narrow,
    Part,
    Program,
    Ref,
    Stmt,
    Store,
    ToL1,
    ToUb,
    UbCell,
    Vec,
)

THREADS = 64
DEPTH = WIDTH // 2
"""Depth of a tile in L0, where the kernel fills it by hand."""
BARRIER = 'T.ascend_pipe_barrier("PIPE_ALL")'


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
    if expr.divisor > 1:
        total, parts = f"({total}) // {expr.divisor}", ["", ""]
    if expr.modulus:
        return f"({total}) % {expr.modulus}"
    return f"({total})" if len(parts) > 1 else total


def condition(test: Condition) -> str:
    return f"{expression(test.left)} {'==' if test.equal else '<'} {expression(test.right)}"


def indent(lines: list[str], levels: int = 1) -> list[str]:
    return ["    " * levels + line for line in lines]


class Operations:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.one_row = program.rows == 1

    def lines(self, stmt: Stmt) -> list[str]:
        """Of a statement that moves or computes."""
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

    def in_gm(self, tensor: str, slot: Expr, part: Part, *, split: bool) -> str:
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
            region = self.in_gm(stmt.tensor, stmt.slot, tile, split=False)
            how = ", transpose=True" if stmt.turned else ""
            return f"T.copy({region}, {stmt.target.buffer}{how})"
        region = self.in_gm(stmt.tensor, stmt.slot, stmt.part, split=stmt.split)
        copy = "dual_copy" if stmt.split else "copy"
        return f"T.{copy}({region}, {self._operand(stmt.target, stmt.part)})"

    def _store(self, stmt: Store) -> str:
        if self.program.buffer(stmt.source.buffer).kind == L0C:
            tile = Part(0, 32, 0, WIDTH)
            region = self.in_gm(stmt.tensor, stmt.slot, tile, split=False)
            return f"T.copy({stmt.source.buffer}, {region})"
        split = self.program.halves == 2
        region = self.in_gm(stmt.tensor, stmt.slot, stmt.part, split=split)
        copy = "dual_copy" if split else "copy"
        return f"T.{copy}({self._operand(stmt.source, stmt.part)}, {region})"

    def _parallel(self, part: Part, *body: str) -> list[str]:
        loop = f"for r, c in T.Parallel({part.rows}, {part.columns}):"
        if self.one_row:
            loop = f"for c in T.Parallel({part.columns}):"
        return [f"with T.SimtVF(threads={THREADS}):", f"    {loop}", *indent(list(body), 2)]

    def _simt(self, stmt: Vec) -> list[str]:
        part = stmt.part
        row = f"r + {part.row}" if part.row else "r"
        column = f"c + {part.column}" if part.column else "c"
        constant = stmt.constant
        to = place = column
        if stmt.shift is not None:
            moved = f"({column} + {stmt.shift.buffer}[{stmt.shift.element}]) % {WIDTH}"
            to, place = (moved, column) if stmt.scatters else (column, moved)
        target = self._element(stmt.target, row, to)
        terms = []
        if stmt.source is not None:
            source = self._element(stmt.source, row, place)
            terms.append(f"{source} * T.float32({stmt.factor})")
        if stmt.adds:
            terms.append(target)
        if constant.terms:
            terms.append(f"T.cast({expression(constant)}, T.float32)")
        else:
            terms.append(f"T.float32({constant.constant})")
        value = f"T.min(T.max({' + '.join(terms)}, T.float32({-LIMIT})), T.float32({LIMIT}))"
        lines = [f"{target} = {value}"]
        if stmt.positive:
            lines = [f"if {source} > T.float32(0):", *indent(lines)]
        return self._parallel(part, *lines)

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
        if not isinstance(stmt.clear, bool):
            clear = f"T.And({clear}, s == 0)"
        elif stmt.clear:
            clear = "s == 0"
        a, b = (self.program.buffer(name) for name in (stmt.a, stmt.b))
        operands = f"{l0_name(a)}, {l0_name(b)}, {stmt.acc}"
        # The Cube takes b's rows as columns; depth as rows is the other way round for both.
        ways = f"transpose_A={a.turned}, transpose_B={not b.turned}"
        lines = [
            f"T.copy({stmt.a}[{_deep(a)}], {l0_name(a)})",
            f"T.copy({stmt.b}[{_deep(b)}], {l0_name(b)})",
            f"T.gemm({operands}, {ways}, clear_accum={clear})",
        ]
        if not self.program.scheduled:
            lines = [each for line in lines for each in (line, BARRIER)]
        return [f"for s in T.serial({WIDTH // DEPTH}):", *indent(lines)]


def l0_name(operand: Buffer) -> str:
    """The tile in L0 that an operand in L1 is brought to."""
    return ("l0a" if operand.kind == L1A else "l0b") + ("_turned" if operand.turned else "")


def l0_tile(operand: Buffer, dtype: str) -> str:
    """Its declaration."""
    rows = 32 if operand.kind == L1A else WIDTH
    shape = f"({DEPTH}, {rows})" if operand.turned else f"({rows}, {DEPTH})"
    return f"{l0_name(operand)} = T.alloc_{l0_name(operand)[:3]}({shape}, T.{dtype})"


def _deep(operand: Buffer) -> str:
    """The part of an operand that goes to L0 in step ``s``."""
    rows = f"0:{32 if operand.kind == L1A else WIDTH}"
    depth = f"s * {DEPTH} : (s + 1) * {DEPTH}"
    return f"{depth}, {rows}" if operand.turned else f"{rows}, {depth}"
