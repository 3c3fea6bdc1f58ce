"""Random vector kernels, as data: their source text, and what they compute by numpy.

A program works on tiles of ``WIDTH`` float32. Every statement is written out as a user would, so
that whatever TileLang and the passes make of it has one meaning only: program order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

WIDTH = 64
ROWS = 48
"""Rows of the input and of the output; row numbers wrap around."""


@dataclass(frozen=True)
class Load:
    buffer: int
    step: int
    offset: int


@dataclass(frozen=True)
class Store:
    buffer: int
    step: int
    offset: int


@dataclass(frozen=True)
class Compute:
    """``target = source * factor + target``, all of it or the first half."""

    target: int
    source: int
    factor: int
    half: bool


@dataclass(frozen=True)
class Guarded:
    """The statements under ``variable % modulus < bound``, or ``variable < n`` if dynamic."""

    modulus: int
    bound: int
    dynamic: bool
    body: tuple[Load | Store | Compute, ...]


@dataclass(frozen=True)
class Loop:
    """``extent`` turns; -1 means the run-time number ``n``."""

    extent: int
    stages: int
    body: tuple[Load | Store | Compute | Guarded, ...]


@dataclass(frozen=True)
class Program:
    buffers: int
    loops: tuple[Loop, ...]
    outer: int  # how often the loops run one after the other; 0: not in a loop
    dynamic: bool

    def source(self) -> str:
        """The kernel as Python text: a function ``build`` that returns the prim_func."""
        lines = ["import tilelang.ascend.language as T", "", "", "def build():"]
        if self.dynamic:
            lines.append("    n = T.dynamic('n')")
        shape = f"({ROWS}, {WIDTH})"
        lines += [
            "    @T.prim_func",
            "    def kernel(",
            f"        X: T.Tensor({shape}, T.float32),",
            f"        Y: T.Tensor({shape}, T.float32),",
            *([f"        N: T.Tensor((n, {WIDTH}), T.float32),"] if self.dynamic else []),
            "    ):",
            "        with T.Kernel(1):",
        ]
        body: list[str] = []
        for number in range(self.buffers):
            body.append(f"b{number} = T.alloc_shared(({WIDTH},), T.float32)")
        for number in range(self.buffers):
            body.append(f"T.copy(X[{number}, 0:{WIDTH}], b{number})")
        inner: list[str] = []
        for loop in self.loops:
            extent = "n" if loop.extent < 0 else str(loop.extent)
            inner.append(f"for i in T.Pipelined({extent}, num_stages={loop.stages}):")
            inner += _indent(_statements(loop.body))
        if self.outer:
            body.append(f"for o in T.serial({self.outer}):")
            body += _indent(inner)
        else:
            body += inner
        for number in range(self.buffers):
            body.append(f"T.copy(b{number}, Y[{ROWS - 1 - number}, 0:{WIDTH}])")
        lines += ["            " + line for line in body]
        return "\n".join([*lines, "", "    return kernel", ""])

    def run(self, x: np.ndarray, y: np.ndarray, n: int) -> np.ndarray:
        """``y`` after the kernel has run on ``x``."""
        y = y.copy()
        buffers = [x[number].copy() for number in range(self.buffers)]
        for _ in range(self.outer or 1):
            for loop in self.loops:
                for i in range(n if loop.extent < 0 else loop.extent):
                    for statement in loop.body:
                        _execute(statement, i, x, y, buffers, n)
        for number in range(self.buffers):
            y[ROWS - 1 - number] = buffers[number]
        return y


def _row(step: int, offset: int) -> str:
    return f"(i * {step} + {offset}) % {ROWS // 2}"


def _statements(body: tuple[object, ...]) -> list[str]:
    lines: list[str] = []
    for statement in body:
        match statement:
            case Load(buffer, step, offset):
                lines.append(f"T.copy(X[{_row(step, offset)}, 0:{WIDTH}], b{buffer})")
            case Store(buffer, step, offset):
                lines.append(f"T.copy(b{buffer}, Y[{_row(step, offset)}, 0:{WIDTH}])")
            case Compute(target, source, factor, half):
                width = WIDTH // 2 if half else WIDTH
                lines += [
                    "with T.SimtVF(threads=64):",
                    f"    for c in T.Parallel({width}):",
                    f"        b{target}[c] = b{source}[c] * T.float32({factor}) + b{target}[c]",
                ]
            case Guarded(modulus, bound, dynamic, inner):
                test = f"i * {modulus} + {bound} < n" if dynamic else f"i % {modulus} < {bound}"
                lines += [f"if {test}:", *_indent(_statements(inner))]
    return lines


def _indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def _execute(
    statement: object, i: int, x: np.ndarray, y: np.ndarray, buffers: list[np.ndarray], n: int
) -> None:
    match statement:
        case Load(buffer, step, offset):
            buffers[buffer][:] = x[(i * step + offset) % (ROWS // 2)]
        case Store(buffer, step, offset):
            y[(i * step + offset) % (ROWS // 2)] = buffers[buffer]
        case Compute(target, source, factor, half):
            width = WIDTH // 2 if half else WIDTH
            part = buffers[source][:width] * np.float32(factor)
            buffers[target][:width] = part + buffers[target][:width]
        case Guarded(modulus, bound, dynamic, inner):
            if i * modulus + bound < n if dynamic else i % modulus < bound:
                for each in inner:
                    _execute(each, i, x, y, buffers, n)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Programs of one to three buffers and one or two loops."""
    buffers = draw(st.integers(1, 3))
    dynamic = draw(st.booleans())
    buffer = st.integers(0, buffers - 1)
    simple = st.one_of(
        st.builds(Load, buffer, st.integers(0, 2), st.integers(0, 3)),
        st.builds(Store, buffer, st.integers(0, 2), st.integers(0, 3)),
        st.builds(Compute, buffer, buffer, st.integers(-1, 1), st.booleans()),
    )
    bodies = st.lists(simple, min_size=1, max_size=2).map(tuple)
    guarded = st.builds(
        Guarded,
        st.integers(2, 3),
        st.integers(1, 2),
        st.booleans() if dynamic else st.just(False),
        bodies,
    )
    statements = st.lists(st.one_of(simple, simple, guarded), min_size=1, max_size=4).map(tuple)
    extents = st.integers(-1 if dynamic else 1, 5).filter(bool)
    loops = draw(
        st.lists(st.builds(Loop, extents, st.integers(1, 3), statements), min_size=1, max_size=2)
    )
    return Program(buffers, tuple(loops), draw(st.sampled_from([0, 0, 2])), dynamic)
