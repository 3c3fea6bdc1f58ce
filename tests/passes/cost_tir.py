"""Random TIR for EstimateLatency: the pieces of work that a task can hold, nested in all ways."""

from __future__ import annotations

from typing import Any

import tilelang  # noqa: F401  # brings tvm with it
from hypothesis import strategies as st
from tvm import tirx
from tvm.tirx import Buffer, PrimExpr, Stmt
from tvm.tirx.op import Op

from tests.passes.tir import loop, seq, when

SCOPES = (
    "global",
    "shared",
    "shared.dyn",
    "shared.l1",
    "shared.l0a",
    "shared.l0b",
    "shared.l0c",
    "shared.l0a.sf",
    "shared.l0b.sf",
    "local",
    "local.fragment",
    "local.var",
)
DTYPES = ("float32", "float16", "bfloat16", "int8", "int32", "float8_e4m3fn", "float4_e2m1fn")
LENGTHS = (1, 2, 3, 8, 16, 17, 32, 48, 64, 100, 128, 160, 256, 1000)


def int32(value: int) -> PrimExpr:
    return tirx.IntImm("int32", value)


def buffer(shape: list[Any], dtype: str, scope: str, name: str = "b") -> Buffer:
    return tirx.decl_buffer(shape, dtype, name, scope=scope)


def call(name: str, *args: Any, dtype: str = "handle", **annotations: Any) -> PrimExpr:
    converted = [int32(a) if isinstance(a, int) else a for a in args]
    converted = [tirx.StringImm(a) if isinstance(a, str) else a for a in converted]
    return tirx.Call(dtype, Op.get(name), converted, annotations=annotations or None)


def region(of: Buffer, mask: int, mins: list[Any], extents: list[Any]) -> PrimExpr:
    """Elements of ``of``; ``mask``: 1 read, 2 written, 3 both."""
    load = tirx.BufferLoad(of, [int32(m) if isinstance(m, int) else m for m in mins])
    return call("tl.region", load, mask, *extents)


def whole(of: Buffer, mask: int) -> PrimExpr:
    return region(of, mask, [0] * len(of.shape), list(of.shape))


def pointer(of: Buffer, mask: int, elements: Any, mins: list[Any] | None = None) -> PrimExpr:
    load = tirx.BufferLoad(of, [int32(m) for m in mins or [0] * len(of.shape)])
    return call("tl.access_ptr", load, elements, mask)


def task(*body: Stmt, key: str = "tl.ascend_task", **marks: int) -> Stmt:
    node = {name: tirx.IntImm("int32", value) for name, value in marks.items()}
    return tirx.AttrStmt(node, key, int32(1), seq(*body))


def block(name: str, *body: Stmt, annotations: dict[str, Any] | None = None) -> Stmt:
    return tirx.SBlock([], [], [], name, seq(*body), annotations=annotations or {})


def assume(condition: PrimExpr, body: Stmt) -> Stmt:
    return tirx.AttrStmt(condition, "tl.assume", int32(1), body)


@st.composite
def extents(draw: Any, index: tirx.Var, bound: tirx.Var) -> Any:
    """A constant, or an extent that only facts bound: a tail, or a variable as it is."""
    length = draw(st.sampled_from(LENGTHS))
    kind = draw(st.sampled_from(("constant",) * 4 + ("tail", "free", "padded")))
    if kind == "tail":
        return tirx.min(int32(length), bound - index * length)
    if kind == "free":
        return bound
    if kind == "padded":
        return tirx.max(tirx.min(bound - index, int32(length)), int32(0))
    return length


@st.composite
def copies(draw: Any, index: tirx.Var, bound: tirx.Var) -> Stmt:
    """A tile copy between any two memories, with equal or halved regions."""
    rank = draw(st.integers(1, 3))
    region_extents = [draw(extents(index, bound)) for _ in range(rank)]
    ends = []
    for _ in range(2):
        shape: list[Any] = []
        for extent in region_extents:
            spare = draw(st.sampled_from((0, 0, 0, 16, 3)))
            dynamic = draw(st.integers(0, 9)) == 0
            known = extent if isinstance(extent, int) else 128
            shape.append(tirx.Var("rows", "int32") if dynamic else known + spare)
        ends.append((shape, draw(st.sampled_from(DTYPES)), draw(st.sampled_from(SCOPES))))
    source, target = (buffer(*end) for end in ends)
    hints: dict[str, Any] = {}
    target_extents = list(region_extents)
    if draw(st.booleans()) and rank == 2:
        split = draw(st.sampled_from((1, 2)))
        source = buffer(ends[0][0], ends[0][1], "shared.l0c")
        target = buffer(ends[1][0], ends[1][1], "shared.dyn")
        hints["dual_dst_ctl"] = int32(split)
        if isinstance(target_extents[split - 1], int) and target_extents[split - 1] > 1:
            target_extents[split - 1] //= 2
        if draw(st.booleans()):
            hints["double"] = tirx.IntImm("bool", 1)
            region_extents, target_extents = target_extents, region_extents
    mins = [draw(st.sampled_from((0, index))) for _ in range(rank)]
    return tirx.Evaluate(
        call(
            "tl.tileop.ascend_copy",
            region(source, 1, mins, region_extents),
            region(target, 2, mins, target_extents),
            **hints,
        )
    )


@st.composite
def multiplies(draw: Any, index: tirx.Var, bound: tirx.Var) -> Stmt:
    m, n, k = (draw(st.sampled_from((1, 16, 17, 48, 64, 128, 256))) for _ in range(3))
    dtype = draw(st.sampled_from((*DTYPES, "float32", "float32")))
    in_l0 = draw(st.booleans())
    a_scope, b_scope = ("shared.l0a", "shared.l0b") if in_l0 else ("shared.l1", "shared.l1")
    transposed = draw(st.booleans())
    a_shape = [k, m] if transposed else [m, k]
    a, b = buffer(a_shape, dtype, a_scope), buffer([k, n], dtype, b_scope)
    c = buffer([m, n], "float32", "shared.l0c")
    narrowed = [draw(st.sampled_from((e, bound, tirx.min(bound, int32(e))))) for e in a_shape]
    flag = [tirx.IntImm("bool", transposed), tirx.IntImm("bool", 0)]
    scaled = draw(st.integers(0, 4)) == 0
    name = "tl.tileop.gemm_blockscaled" if scaled else "tl.tileop.gemm"
    scales = [whole(buffer([m, k], "uint8", "shared.l1"), 1)] * 2 if scaled else []
    more = [*scales, 0] if scaled else []
    return tirx.Evaluate(
        call(
            name,
            region(a, 1, [0, 0], narrowed),
            whole(b, 1),
            whole(c, 3),
            *flag,
            m,
            n,
            k,
            0,
            tirx.IntImm("bool", 1),
            0,
            0,
            0,
            *more,
        )
    )


SCALAR_OPS = ("__add__", "__sub__", "__mul__", "__floordiv__", "__mod__")
MATH = ("exp", "log", "sqrt", "tanh", "erf", "sigmoid", "rsqrt")


@st.composite
def values(draw: Any, variables: list[tirx.Var], depth: int = 3) -> PrimExpr:
    """An integer or float expression over loops, bindings and memory."""
    kind = draw(st.sampled_from(("leaf", "leaf", "binary", "binary", "min", "load", "select")))
    if depth == 0 or kind == "leaf":
        return draw(st.sampled_from([*variables, int32(3)]))
    inner = values(variables, depth - 1)
    if kind == "binary":
        divisor = tirx.max(draw(inner), int32(1))
        return getattr(draw(inner), draw(st.sampled_from(SCALAR_OPS)))(divisor)
    if kind == "min":
        return draw(st.sampled_from((tirx.min, tirx.max)))(draw(inner), draw(inner))
    if kind == "select":
        condition = tirx.And(draw(inner) < draw(inner), tirx.Not(draw(inner).equal(draw(inner))))
        return tirx.Select(condition, draw(inner), draw(inner))
    scope = draw(st.sampled_from(("shared.dyn", "local", "local.fragment", "local.var", "global")))
    return tirx.BufferLoad(buffer([64, 8], "int32", scope), [draw(inner), draw(inner)])


@st.composite
def vector_statements(draw: Any, variables: list[tirx.Var], depth: int = 3) -> Stmt:
    kinds = ("store", "bind", "math", "simd", "atomic")
    nested = ("loop", "if", "sequence", "while", "scatter") if depth > 0 else ()
    kind = draw(st.sampled_from(kinds + nested))
    value = values(variables)
    target = buffer([64, 8], "float32", draw(st.sampled_from(("shared.dyn", "local"))))
    if kind == "bind":
        return tirx.Bind(tirx.Var("bound", "int32"), draw(value))
    if kind == "math":
        operand = tirx.Cast("float32", draw(value))
        result = call(f"tirx.{draw(st.sampled_from(MATH))}", operand, dtype="float32")
        return tirx.BufferStore(target, result, [draw(value), int32(0)])
    if kind == "simd":
        elements = draw(st.sampled_from((1, 64, 8, 100, 600)))
        source = pointer(target, 1, elements)
        return tirx.Evaluate(call("tl.simd.vld", source, "NORM", dtype="float32x64"))
    if kind == "atomic":
        place = pointer(target, 3, 1)
        return tirx.Evaluate(call("tl.atomic_add_elem_op", place, draw(value)))
    if kind == "scatter":
        types = draw(
            st.sampled_from((("half", "half"), ("float", "bfloat16_t"), ("half", "float")))
        )
        rows, columns = draw(st.sampled_from(LENGTHS)), draw(st.sampled_from(LENGTHS))
        source, other = pointer(target, 1, 64), pointer(target, 2, 64)
        return tirx.Evaluate(
            call("tl.ascend_nd2nz_scatter", source, other, rows, columns, *types, dtype="void")
        )
    if kind == "store":
        stored = tirx.Cast("float32", draw(value))
        return tirx.BufferStore(target, stored, [draw(value), draw(value)])
    if kind == "while":
        return tirx.While(draw(value) < draw(value), draw(vector_statements(variables, depth - 1)))
    if kind == "if":
        branches = [draw(vector_statements(variables, depth - 1)) for _ in range(2)]
        otherwise = draw(st.sampled_from((None, branches[1])))
        return tirx.IfThenElse(draw(value) < draw(value), branches[0], otherwise)
    if kind == "sequence":
        return seq(*(draw(vector_statements(variables, depth - 1)) for _ in range(3)))
    inner = tirx.Var("l", "int32")
    extent = draw(st.sampled_from((1, 4, 60, variables[0], variables[0] + 2)))
    body = draw(vector_statements([*variables, inner], depth - 1))
    steps = draw(st.sampled_from((None, None, 2, 7)))
    forms = (tirx.ForKind.SERIAL, tirx.ForKind.PARALLEL, tirx.ForKind.VECTORIZED)
    return tirx.For(
        inner,
        int32(0),
        int32(extent) if isinstance(extent, int) else extent,
        draw(st.sampled_from(forms)),
        body,
        step=int32(steps) if steps is not None else None,
    )


@st.composite
def vector_blocks(draw: Any, index: tirx.Var, bound: tirx.Var) -> Stmt:
    name = draw(st.sampled_from(("SIMD_VF", "SIMT_VF", "VECTOR")))
    body = draw(vector_statements([index, bound]))
    given = draw(st.sampled_from((None, None, None, 0, 77)))
    notes = {} if given is None else {"tl.vf_latency": tirx.IntImm("int64", given)}
    return block(name, body, annotations=notes)


@st.composite
def instructions(draw: Any, index: tirx.Var, bound: tirx.Var) -> Stmt:
    """Calls that tile operations are lowered to, fills, and scalar work."""
    elements = draw(st.sampled_from(LENGTHS))
    dtype = draw(st.sampled_from(DTYPES[:5]))

    def place(scope: str, mask: int) -> PrimExpr:
        return pointer(buffer([8, 16, 32], dtype, scope), mask, elements, [1, 2, 3])

    copies_by_hand = [
        ("tl.ascend_copy_gm_to_ubuf", "shared.dyn", "global"),
        ("tl.ascend_copy_gm_to_cbuf", "shared.l1", "global"),
        ("tl.ascend_copy_ubuf_to_gm", "global", "shared.dyn"),
        ("tl.ascend_copy_ubuf_to_cbuf", "shared.l1", "shared.dyn"),
        ("tl.ascend_load_cbuf_to_ca", "shared.l0a", "shared.l1"),
        ("tl.ascend_load_cbuf_to_cb", "shared.l0b", "shared.l1"),
        ("tl.ascend_load_ca_sf", "shared.l0a.sf", "shared.l1"),
        ("tl.ascend_copy_matrix_cc_to_gm", "global", "shared.l0c"),
        ("tl.ascend_copy_matrix_cc_to_ub", "shared.dyn", "shared.l0c"),
        ("tl.ascend_mad", "shared.l0c", "shared.l0a"),
        ("tl.ascend_gemm_l1", "shared.l0c", "shared.l1"),
    ]
    kind = draw(st.sampled_from(("by hand", "by hand", "fill", "post copy", "scalar", "reduce")))
    if kind == "by hand":
        name, target, source = draw(st.sampled_from(copies_by_hand))
        return tirx.Evaluate(call(name, place(target, 2), place(source, 1), 1, 2))
    if kind == "fill":
        scope = draw(st.sampled_from(("shared.l1", "shared.dyn", "local.fragment")))
        filled = whole(buffer([16, 32], dtype, scope), 2)
        return tirx.Evaluate(call("tl.tileop.fill", filled, tirx.const(0, dtype)))
    if kind == "post copy":
        count = draw(st.sampled_from((32, bound, tirx.min(bound, int32(64)))))
        to, scratch = place("shared.l1", 2), place("shared.dyn", 1)
        name = "tl.ascend_nd2nz_post_copy"
        return tirx.Evaluate(call(name, to, scratch, count, 128, 128, "half", dtype="void"))
    if kind == "reduce":
        source, target = buffer([16, 32], dtype, "shared.dyn"), buffer([16], dtype, "shared.dyn")
        clear = tirx.IntImm("bool", draw(st.booleans()))
        name = "tl.tileop.reduce"
        return tirx.Evaluate(call(name, whole(source, 1), whole(target, 2), "sum", 1, clear))
    return draw(
        st.sampled_from(
            (
                tirx.Evaluate(call("tl.ascend_set_flag", "MTE2_V", 0, dtype="void")),
                tirx.Evaluate(call("tl.ascend_set_atomic", "add", "float32", dtype="void")),
                tirx.Evaluate(call("tl.loop_break")),
                tirx.Bind(tirx.Var("next", "int32"), index + bound),
                tirx.BufferStore(buffer([8], "int32", "local.var"), index, [int32(0)]),
            )
        )
    )


@st.composite
def work(draw: Any, index: tirx.Var, bound: tirx.Var, depth: int = 2) -> Stmt:
    """Any piece of work, or several nested in serial control flow."""
    leaves = st.one_of(
        copies(index, bound),
        multiplies(index, bound),
        vector_blocks(index, bound),
        instructions(index, bound),
    )
    kinds = ("leaf", "leaf", "leaf", "sequence", "loop", "if", "while", "assume")
    kind = draw(st.sampled_from(kinds)) if depth > 0 else "leaf"
    if kind == "leaf":
        return draw(leaves)
    if kind == "sequence":
        count = draw(st.integers(2, 4))
        return seq(*(draw(work(index, bound, depth - 1)) for _ in range(count)))
    body = draw(work(index, bound, depth - 1))
    if kind == "loop":
        inner = tirx.Var("k", "int32")
        extent = draw(st.sampled_from((0, 1, 5, bound, tirx.min(bound, int32(9)))))
        return loop(inner, extent, body)
    if kind == "while":
        return tirx.While(index < bound, body)
    if kind == "assume":
        return assume(bound <= int32(draw(st.sampled_from((1, 40, 4000)))), body)
    other = draw(st.sampled_from((None, body, draw(work(index, bound, depth - 1)))))
    return tirx.IfThenElse(bound < int32(draw(st.sampled_from((1, 20, 300)))), body, other)


@st.composite
def mode_programs(draw: Any, guards: list[tirx.Var], depth: int = 4) -> list[Stmt]:
    """Tasks that switch hf32 mode and multiply, in loops and under guards."""
    a, b = (buffer([64, 64], "float32", "shared.l1") for _ in range(2))
    c = buffer([64, 64], "float32", "shared.l0c")
    falsehood = tirx.IntImm("bool", 0)
    stmts: list[Stmt] = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(
            st.sampled_from(("mode", "multiply", "multiply", "loop", "if", "while", "bind"))
        )
        if kind == "mode":
            switch = call("tl.ascend_set_hf32_mode", draw(st.integers(0, 2)), dtype="void")
            stmts.append(task(tirx.Evaluate(switch)))
        elif kind == "bind":
            guard = tirx.Var("g", "bool")
            condition = tirx.Not(guards[0]) if draw(st.booleans()) else guards[-1]
            stmts.append(task(tirx.Bind(guard, condition)))
            guards = [*guards, guard]
        elif kind == "multiply" or depth == 0:
            operands = (whole(a, 1), whole(b, 1), whole(c, 3), falsehood, falsehood)
            sizes = (64, 64, 64, 0, tirx.IntImm("bool", 1), 0, 0, 0)
            stmts.append(task(tirx.Evaluate(call("tl.tileop.gemm", *operands, *sizes))))
        else:
            body = draw(mode_programs(guards, depth - 1))
            if kind == "loop":
                index = tirx.Var("i", "int32")
                extent = draw(st.sampled_from((0, 1, 4, tirx.Var("n", "int32"))))
                stmts.append(loop(index, extent, *body))
            elif kind == "if":
                guard = draw(st.sampled_from(guards))
                condition = tirx.Not(guard) if draw(st.booleans()) else guard
                other = draw(st.sampled_from((None, seq(*draw(mode_programs(guards, depth - 1))))))
                stmts.append(tirx.IfThenElse(condition, seq(*body), other))
            else:
                stmts.append(when(guards[0], *body))
    return stmts


@st.composite
def per_core_bodies(draw: Any, index: tirx.Var, depth: int = 3) -> Stmt:
    """Candidates on one pipe, waits between them, loops and guards around them."""
    kinds = ("candidate", "candidate", "wait", "set")
    kind = draw(st.sampled_from(kinds + (("loop", "if", "sequence", "sequence") if depth else ())))
    if kind == "wait":
        wait = call("tl.ascend_cross_core_wait_flag", 0, "PIPE_MTE2", 1, dtype="void")
        return task(tirx.Evaluate(wait))
    if kind == "set":
        ready = call("tl.ascend_cross_core_set_flag", 0, "PIPE_MTE2", 1, dtype="void")
        return task(tirx.Evaluate(ready))
    if kind == "candidate":
        length = draw(st.sampled_from(LENGTHS))
        source = buffer([2000], "float32", "global")
        target = buffer([2000], "float32", draw(st.sampled_from(("shared.l1", "shared.dyn"))))
        marks = draw(st.sampled_from(({}, {}, {"latency": 5000, "ii": 400})))
        name = "tl.tileop.ascend_copy"
        ends = region(source, 1, [0], [length]), region(target, 2, [0], [length])
        return task(tirx.Evaluate(call(name, *ends)), **marks)
    if kind == "sequence":
        return seq(*(draw(per_core_bodies(index, depth - 1)) for _ in range(3)))
    body = draw(per_core_bodies(index, depth - 1))
    if kind == "if":
        other = draw(st.sampled_from((None, draw(per_core_bodies(index, depth - 1)))))
        return tirx.IfThenElse(index < 3, body, other)
    inner = tirx.Var("r", "int32")
    return loop(inner, draw(st.sampled_from((0, 1, 3, tirx.Var("n", "int32")))), body)
