"""Every way to touch memory that a kernel's text has is either seen or told, with its line."""

from __future__ import annotations

import pytest

from tests.emulator.asc import handshake, line_of, load, run, store, vector_kernel

COPY = [load("ub", "X", 256), handshake("MTE2", "MTE3"), store("ub", "Y", 256)]
WRITTEN = [load("ub", "X", 256), handshake("MTE2", "V"), handshake("MTE2", "S")]
CALL = "asc_vf_call<f>(cce::dim3(32), ub{more});"


def simt_kernel(body: str, before: str = "", more: str = "", parameters: str = "") -> str:
    function = (
        "__simt_vf__ __launch_bounds__(32) inline void "
        f"f(__ubuf__ float* ub{parameters}) {{\n{body}\n}}\n"
    )
    return vector_kernel(*WRITTEN, before, CALL.format(more=more), functions=function)


def one(text: str, **options):
    """The only finding of a run."""
    findings = run(text, **options)[0].findings
    assert len(findings) == 1, [str(f) for f in findings]
    return findings[0]


HEAP = "static_cast<float*>(__builtin_malloc(64))"


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("*(volatile int*)1000000 = 1;", "wild-pointer", "writes address 0xf4240, outside"),
        ("*(volatile int*)0xdead00000000beef = 1;", "wild-pointer", "address 0xdead00000000beef"),
        ("ub[1] = *(__cbuf__ float*)64;", "wild-pointer", "reads address 0x40, an offset"),
        (
            "int at = block_idx + 8; ub[1] = ((__ubuf__ float*)(size_t)at)[0];",
            "wild-pointer",
            "0x8",
        ),
        ("ub[1] = X[64];", "out-of-range", "reads GM X bytes 256..259 of 256"),
        ("ub[1] = X[-1];", "out-of-range", "reads GM"),
        ("ub[70000] = 1.0f;", "capacity", "writes UB byte 280000"),
        ("ub[-1] = 1.0f;", "capacity", "writes UB byte -4"),
        ("ub[1] = ub[64];", "never-written", "reads UB byte 256, which nothing has written"),
    ],
)
def test_wild_scalar_accesses_name_their_line(code, kind, message):
    """Whether or not the access faults, its finding is the only one."""
    text = vector_kernel(*WRITTEN, code)
    finding = one(text)
    assert finding.kind == kind and message in finding.message, finding
    assert finding.message.endswith(f"at line {line_of(text, code)}")
    assert [s.kernel_line for s in finding.sites] == [line_of(text, code)]


def test_a_wild_access_before_any_instruction_and_a_large_frame_have_lines():
    text = vector_kernel("*(volatile int*)nullptr = 1;")
    assert f"at line {line_of(text, 'nullptr')}" in one(text).message
    large = vector_kernel("volatile float own[600000]; own[0] = own[599999] = 1.0f;")
    finding = one(large)
    assert finding.kind == "error" and "stack overflow" in finding.message
    assert finding.sites[0].kernel_line == line_of(large, "void k(")


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("*(volatile float*)1000000 = ub[0];", "wild-pointer", "writes address 0xf4240"),
        ("ub[threadIdx.x] = *(volatile float*)64;", "wild-pointer", "reads address 0x40"),
        ("ub[threadIdx.x + 70000] = 1.0f;", "capacity", "writes UB byte 280000"),
    ],
)
def test_wild_accesses_of_a_vector_function_name_their_line(code, kind, message):
    text = simt_kernel(code)
    finding = one(text)
    assert finding.kind == kind and message in finding.message, finding
    assert f"at line {line_of(text, code)}; launched at line {line_of(text, 'asc_vf_call')}" in (
        finding.message
    )


def test_memory_of_the_host():
    text = vector_kernel(*WRITTEN, f"volatile float* p = {HEAP};", "p[3] = 1.0f;")
    found = run(text)[0].findings
    assert [(f.kind, f.sites[0].kernel_line) for f in found] == [
        ("blind-spot", line_of(text, "malloc")),
        ("wild-pointer", line_of(text, "p[3]")),
    ]


VARIABLE = "static float kept[64];\n"


@pytest.mark.parametrize("code", ["kept[block_idx] = 1.0f;", "ub[0] = kept[block_idx];"])
def test_variables_that_outlive_the_kernel(code):
    text = vector_kernel(*WRITTEN, code, "kept[1] += 1.0f;", functions=VARIABLE)
    findings = run(text)[0].findings
    assert {f.kind for f in findings} == {"blind-spot"}
    assert "static or global variable" in findings[0].message
    assert findings[0].sites[0].kernel_line == line_of(text, code)


def test_variables_in_a_vector_function():
    text = simt_kernel("kept[threadIdx.x] += ub[threadIdx.x];").replace(
        "__simt_vf__", VARIABLE + "__simt_vf__", 1
    )
    found = run(text)[0].findings
    assert {f.kind for f in found} == {"blind-spot"}
    assert "a vector function reads a static or global variable" in found[0].message


def test_constants_are_no_variables():
    table = "static const float table[4] = {1.0f, 2.0f, 3.0f, 4.0f};\n"
    text = vector_kernel(*WRITTEN, "ub[0] = table[block_idx];", functions=table)
    assert run(text)[0].ok
    body = "ub[threadIdx.x] = table[threadIdx.x % 4];"
    assert run(simt_kernel(body).replace("__simt_vf__", table + "__simt_vf__", 1))[0].ok


def test_an_array_of_the_scalar_program_in_a_vector_function():
    reads = simt_kernel(
        "ub[threadIdx.x] = own[threadIdx.x];",
        "float own[32]; for (int i = 0; i < 32; ++i) { own[i] = ub[i]; }",
        ", own",
        ", float* own",
    )
    finding = one(reads)
    assert finding.kind == "blind-spot" and "an array of the scalar program" in finding.message
    writes = reads.replace("ub[threadIdx.x] = own[threadIdx.x]", "own[threadIdx.x] = 1.0f")
    assert one(writes).kind == "race-simt"


def test_locals_are_seen_as_what_they_are():
    text = vector_kernel(
        *WRITTEN,
        "volatile float own[9000]; for (int i = 0; i < 9000; ++i) { own[i] = 0.0f; }",
        "ub[0] = own[8999];",
    )
    assert run(text)[0].ok
    body = "volatile float own[6000]; own[threadIdx.x] = ub[threadIdx.x]; own[5999] = 1.0f;"
    assert run(simt_kernel(body + " ub[threadIdx.x] = own[threadIdx.x];"))[0].ok


CALLS = [
    ("ub[0] = __builtin_strlen((const char*)X);", "strlen", ""),
    ("ub[0] = memcmp(X, Y, 64);", "memcmp", ""),
    ("volatile float* p = new float(3.0f); ub[0] = p[0];", "new", ""),
    ("ub[0] = helper(ub);", "helper", 'extern "C" float helper(float*);\n'),
]


@pytest.mark.parametrize(("code", "name", "declaration"), CALLS[:3])
def test_calls_of_what_is_not_the_kernels(code, name, declaration):
    text = vector_kernel(*WRITTEN, code, functions=declaration)
    told = [f for f in run(text)[0].findings if f.kind == "blind-spot"]
    assert [f.message for f in told] == [
        f"line {line_of(text, code)} calls {name}: its loads and stores are not seen, nor are "
        "those of what it calls"
    ]


def test_a_function_that_nothing_defines():
    code, name, declaration = CALLS[3]
    for external in (declaration, declaration.replace('extern "C" ', "")):
        text = vector_kernel(*WRITTEN, code, functions=external)
        place = f"kernel.asc:{line_of(text, code)}"
        with pytest.raises(RuntimeError, match=f"{place}: `{name}` is called, which nothing"):
            run(text)


def test_atomic_operations_of_the_language():
    with pytest.raises(RuntimeError, match="atomic operations of C\\+\\+, which are not modelled"):
        run(vector_kernel(*WRITTEN, "__atomic_fetch_add((int*)X, 1, __ATOMIC_RELAXED);"))


def test_assembly():
    code = 'asm volatile("nop");'
    text = vector_kernel(*COPY, code)
    finding = one(text)
    assert finding.kind == "blind-spot" and finding.sites[0].kernel_line == line_of(text, code)
    assert "assembly" in finding.message


def test_block_copies_are_seen():
    """Of memory and of structures: as loads and stores of the scalar program."""
    for code in (
        "__builtin_memcpy(ub + 8, Y, 128);",
        "__builtin_memset(ub, 0, 128);",
        "struct S { float v[32]; }; *(S*)ub = *(S*)(ub + 32);",
    ):
        text = vector_kernel(load("ub", "X", 256), code)
        races = run(text)[0].of_kind("race")
        assert races and {s.kernel_line for s in races[0].sites} == {
            line_of(text, "gm2ub"),
            line_of(text, code),
        }


def test_printing_is_no_access():
    text = vector_kernel(*COPY, 'printf("%d %f\\n", int(block_idx), 1.5);')
    result, _ = run(text)
    assert result.ok and result.printed == "0 1.500000\n"


def test_ub_addresses_made_at_run_time_work_as_operands():
    far = "(__ubuf__ uint8_t*)(size_t)(block_idx * 64 + 512)"
    result, y = run(
        vector_kernel(load(far, "X", 256), handshake("MTE2", "MTE3"), store(far, "Y", 256))
    )
    assert result.ok and y[5] == 5


@pytest.mark.parametrize(
    ("operand", "message"),
    [
        ("X", "writes UB through a pointer to GM, beyond"),
        ("own", "writes UB through a pointer to an array of the scalar program, beyond"),
        ("ub + 262144", "writes UB bytes 1048576..1048831, beyond"),
    ],
)
def test_an_operand_that_is_no_address_of_its_memory(operand, message):
    text = vector_kernel("uint8_t own[256];", load(operand, "X", 256))
    finding = one(text)
    assert finding.kind == "capacity" and message in finding.message
    assert finding.sites[0].kernel_line == line_of(text, "gm2ub")


def test_gm_operand_outside_every_argument():
    text = vector_kernel(load("ub", "(__gm__ uint8_t*)(size_t)4096", 64))
    finding = one(text)
    assert finding.kind == "out-of-range" and "outside every argument" in finding.message


def test_instruction_inside_a_vector_function():
    code = "asc_sync_pipe(PIPE_MTE2);"
    finding = one(simt_kernel(code))
    assert finding.kind == "error" and "inside a vector function" in finding.message


def test_races_of_scalar_accesses_name_their_own_line():
    text = vector_kernel(load("ub", "X", 256), "float v = ub[3];", "if (v > 0.5f) { ub[9] = v; }")
    races = run(text)[0].of_kind("race")
    assert {s.kernel_line for f in races for s in f.sites if s.pipe == "S"} == {
        line_of(text, "ub[3]"),
        line_of(text, "ub[9]"),
    }
