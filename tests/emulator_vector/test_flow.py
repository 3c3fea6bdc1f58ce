"""Which loaded lanes of a SIMD body count as read: those that a store passes on.

Each case takes a register whose upper lanes the body has just stored, with no barrier. If its
result is stored whole, they flow into it, and the load may have come too early; if the store masks
those lanes out, they do not.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.emulator.asc import handshake, line_of, load, run, store, vector_kernel
from tests.emulator_vector.flow_cases import CASES, Case
from tests.emulator_vector.program import DTYPES, Program, lanes

LATE = 192
"""Byte of the register from which on the body has stored it."""
STORED = 128
"""Bytes that the masked store takes."""


class Body:
    """Cases one after the other, in one SIMD body."""

    def __init__(self) -> None:
        self.program = Program()
        self.shared: dict[str, str] = {}
        p = self.program
        for bits in (8, 16, 32):
            count = STORED * 8 // bits
            p.add(f"vector_bool every{bits} = asc_create_mask_b{bits}(PAT_ALL);")
            p.add(f"vector_bool few{bits} = simd_inst::update_mask_b{bits}(uint32_t({count}));")
        p.add(f"vector_bool early = simd_inst::update_mask_b32(uint32_t({LATE // 4}));")
        p.add("vector_bool late = simd_inst::pnot(early, every32);")
        p.add("auto zero = simd_inst::vdup<float>(0.0f, every32, MODE_ZEROING);")

    def ones(self, ctype: str) -> str:
        if ctype not in self.shared:
            values = np.ones(2 * lanes(ctype), DTYPES[ctype])
            self.shared[ctype] = self.program.input(f"ones_{ctype}", values)
        return self.shared[ctype]

    def numbers(self, bits: int) -> str:
        dtype = np.dtype(f"uint{bits}")
        if dtype.name not in self.shared:
            values = np.arange(8 * 256 // bits, dtype=dtype)
            self.shared[dtype.name] = self.program.input(f"numbers_{bits}", values)
        return f"simd_inst::vlds_norm<{dtype}_t>({self.shared[dtype.name]}, 0)"

    def add(self, case: Case, mask: str) -> int:
        """Returns the number, among the body's lines, of the one that stores the late lanes."""
        p, to = self.program, case.to or case.t
        bits, result_bits = (8 * DTYPES[t].itemsize for t in (case.t, to))
        number = len(p.lines)
        words = {
            "t": case.t,
            "memory": p.input(f"memory{number}", np.ones(2 * lanes(case.t), DTYPES[case.t])),
            "out": p.output(f"out{number}", DTYPES[to], 2 * lanes(to)),
            "base": self.ones(case.t),
            "x": f"simd_inst::vlds_norm<{case.t}>({self.ones(case.t)}, 0)",
            "i": self.numbers(bits),
            "every": f"every{bits}",
            "few": f"few{bits}",
            "mask": f"{mask}{result_bits}",
        }
        words["result"] = case.result.format(**words)
        late = f"simd_inst::vsts_norm(zero, (__ubuf__ float*){words['memory']}, 0, late);"
        statements = (late, case.load, case.before, case.store)
        p.add("{", *(s.format(**words) for s in statements if s), "}")
        return number + 1


def test_lanes_that_reach_a_result_count_and_others_do_not():
    body = Body()
    cases = {body.add(case, mask): (case, mask) for case in CASES for mask in ("every", "few")}
    _, result = body.program.simd()
    assert {finding.kind for finding in result.findings} == {"race-simd"}
    first = body.program.text.splitlines().index("  " + body.program.lines[0]) + 1
    # One case scatters lanes to one place too.
    early = [finding for finding in result.findings if "may overtake" in finding.message]
    stores = {finding.sites[0].line - first for finding in early}
    found = {cases[store] for store in stores}
    wanted = {(case, mask) for case, mask in cases.values() if mask == "every" or case.together}
    assert [(c.name, m) for c, m in cases.values() if ((c, m) in found) != ((c, m) in wanted)] == []


def test_a_register_that_nothing_takes_is_not_read():
    body = Body()
    body.add(Case("dropped", store="(void)w;"), "every")
    _, result = body.program.simd()
    assert result.ok, result.findings


@pytest.mark.parametrize(("apart", "kinds"), [(16 * 32, []), (15 * 32, ["race-simd"])])
def test_rows_to_fractals_read_beyond_their_last_row(apart, kinds):
    """TileLang's template loads whole registers from rows of 64 bytes. The last of these reach into
    the fractals, which begin right behind the rows, or at the last row."""
    p = Program()
    p.header = "#include <tl_templates/ascend/nd2nz_copy.h>\n"
    x = np.arange(64 * 32).reshape(64, 32).astype(ml_dtypes.bfloat16)
    rows = p.input("rows", x)
    call = "ascend_nd2nz_scatter_callee<16, 32, bfloat16_t, bfloat16_t>"
    p.add(f"{call}({rows}, {rows} + {apart});")
    values, result = p.simd()
    assert [f.kind for f in result.findings] == kinds
    if not kinds:
        fractals = values["rows"].reshape(-1)[apart : apart + 2 * 17 * 16].reshape(2, 17, 16)
        assert (fractals[:, :16] == x[:16].reshape(16, 2, 16).swapaxes(0, 1)).all()


BODY = """__simd_vf__ inline void body(__ubuf__ uint8_t* ub) {{
  vector_bool all = asc_create_mask_b32(PAT_ALL);
  vector_bool tail = simd_inst::update_mask_b32(uint32_t(8));
  auto v = simd_inst::vlds_norm<float>((__ubuf__ float*)(ub), 0);
  v = simd_inst::vexp(v, all, MODE_ZEROING);
  simd_inst::vsts_norm(v, (__ubuf__ float*)(ub), 0, {mask});
}}
"""


@pytest.mark.parametrize(("mask", "kinds"), [("tail", []), ("all", ["race", "never-written"])])
def test_what_lies_behind_a_short_row_is_another_instruction_s(mask, kinds):
    """A row of eight is loaded while a copy fills what comes after it."""
    text = vector_kernel(
        load("ub", "X", 32),
        handshake("MTE2", "V"),
        "body((__ubuf__ uint8_t*)ub);",
        load("ub + 8", "X + 8", 32),
        handshake("MTE2", "MTE3", 1),
        handshake("V", "MTE3"),
        store("ub", "Y", 64),
        functions="#include <tl_templates/ascend/simd_inst.h>\n" + BODY.format(mask=mask),
    )
    result, y = run(text, policy="lazy")
    assert sorted(f.kind for f in result.findings) == sorted(kinds)
    if not kinds:
        np.testing.assert_allclose(y[:16], [*np.exp(np.arange(8)), *range(8, 16)], rtol=1e-6)
    else:
        (race,) = (f for f in result.findings if f.kind == "race")
        assert {s.line for s in race.sites} >= {line_of(text, "ub + 8")}


def test_bytes_that_nothing_wrote_are_named():
    text = vector_kernel(
        load("ub", "X", 32),
        handshake("MTE2", "V"),
        "body((__ubuf__ uint8_t*)ub);",
        functions="#include <tl_templates/ascend/simd_inst.h>\n" + BODY.format(mask="all"),
    )
    (finding,) = run(text)[0].findings
    assert finding.kind == "never-written" and "UB bytes 32..255," in finding.message
    assert f"at line {line_of(text, 'auto v =')}" in finding.message
