"""Every name that TileLang's generator or device templates can put into a kernel is modelled.

The wheel's sources are read for the names, so a later wheel with a new instruction fails here.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tilelang_ascend_sched.emulator import build, vector_text

SOURCES = build.wheel_sources()
TEMPLATES = SOURCES / "tl_templates" / "ascend"
GENERATOR = SOURCES / "ascend" / "codegen" / "codegen_ascend.cc"
MATHS = SOURCES / "ascend" / "codegen" / "intrin_rule_ascend.cc"

COMPOSED = {
    "asc_atomic_": ("add", "max", "min"),
    "asc_create_mask_b": ("8", "16", "32", "64"),
    "asc_set_mmad_direction_": ("m", "n"),
    "asc_sync_": tuple(
        f"{scope}_{step}"
        for scope in ("inter", "subblock", "block", "intra")
        for step in ("arrive", "wait")
    ),
    "asc_set_atomic_": tuple(
        f"{op}_{dtype}"
        for op in ("add", "max", "min")
        for dtype in ("bfloat", "float16", "float", "int8", "int16", "int32")
    ),
}
"""Names that the generator puts together, by what they begin with."""

IN_TEXT = {"asc_update_addr_reg_b"}
"""What ``vector_text`` gives another form before the compiler sees it."""

REFUSED = {
    "asc_storealign_intlv": "the template passes one register where the instruction takes two",
}
"""Names that no device compiler takes as they are used."""

OWN = {"__asc_pad_val", "__asc_rng_state", "__asc_aicore", "__asc_simt_vf"}
"""Variables of the generated text and namespaces of the templates."""

PREFIXES = {"asc_set_atomic_add", "asc_set_atomic_max", "asc_set_atomic_min"}
_NAME = re.compile(r"\b_*(?:asc_[a-z]\w*|__asc_\w+|__\w*2\w+)")


def _code(path: Path) -> str:
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return re.sub(r"//[^\n]*|#include[^\n]*|\w*stream << \"#include[^\n]*", "", text)


def generated_names() -> set[str]:
    strings = re.findall(r'"((?:\\.|[^"\\\n])*)"', _code(GENERATOR))
    return {name for text in strings for name in _NAME.findall(text)}


def template_names() -> set[str]:
    names: set[str] = set()
    for path in sorted(TEMPLATES.glob("*.h")):
        text = _code(path)
        names |= set(_NAME.findall(text))
        # Instructions of the compiler itself are called by their full name.
        names |= set(re.findall(r"(?<![\w>])::(v[a-z]+)\(", text))
    return {n for n in names if not n.endswith("_")} | width_names(names)


def width_names(names: set[str]) -> set[str]:
    """A macro pastes the width of a predicate behind these."""
    stems = [n for n in names if n.endswith("lv_")]
    return {f"{stem}b{width}" for stem in stems for width in (8, 16, 32)}


def maths_names() -> set[str]:
    rules = re.findall(r'REGISTER_ASCEND_INTRIN\("(\w+)"\)', _code(MATHS))
    assert len(rules) > 15
    return {name for rule in rules for name in (f"{rule}f", f"h{rule}")}


def expanded(names: set[str]) -> set[str]:
    out = set()
    for name in names - PREFIXES - IN_TEXT - OWN:
        if name.endswith("_t"):
            continue
        out |= {name + end for end in COMPOSED[name]} if name in COMPOSED else {name}
    return out


def undefined(names: set[str]) -> list[str]:
    """The names that the emulator's headers do not define."""
    lines = []
    for name in sorted(names):
        lines += [f"#ifndef {name}", f"using ::{name};", "#endif"]
    text = "namespace walked {\n" + "\n".join(lines) + "\n}\n"
    includes = [f"#include <tl_templates/ascend/{p.name}>" for p in sorted(TEMPLATES.glob("*.h"))]
    includes.append("#include <simt_api/cooperative_groups.h>")
    command = [build.compiler(), *build._KERNEL_FLAGS, "-fsyntax-only", "-fmax-errors=0"]
    command += ["-include", str(build._prelude()), *build._includes(), "-x", "c++", "-"]
    source = "\n".join(includes) + "\n" + text
    done = subprocess.run(
        command,
        input=source,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "LC_ALL": "C"},
    )
    missing = re.findall(r"error: '(?:::)?([\w:]+)' has not been declared", done.stderr)
    assert done.returncode == 0 or missing, done.stderr[:2000]
    return sorted(missing)


def test_every_name_is_modelled_or_refused_for_a_reason():
    names = expanded(generated_names() | template_names()) | maths_names()
    assert {"asc_copy_l12l0b_mx", "asc_reduce_max_datablock", "vmula", "expf"} <= names
    assert len(names) > 180
    assert undefined(names) == sorted(REFUSED)


def test_a_name_that_is_not_modelled_is_noticed():
    assert undefined({"asc_add", "asc_copy_l12bt", "hexp", "hgamma"}) == [
        "asc_copy_l12bt",
        "hgamma",
    ]


@pytest.mark.parametrize("name", sorted(IN_TEXT))
def test_names_given_another_form_are_gone(name):
    lines = ["__simd_vf__ inline void f() {", f"  g({name}16(4));", "}"]
    assert name not in "".join(vector_text.annotate_simd(lines))


def test_every_pipe_and_mode_of_the_language_is_known():
    """The enumerations that generated text names by word."""
    words = {"DINTLV_B8", "DINTLV_B16", "DINTLV_B32", "ASC_LOCK_BLOCK", "ASC_LOCK_NON_BLOCK"}
    simd = (SOURCES.parent / "ascend" / "language" / "simd.py").read_text()
    words |= set(re.findall(r'"((?:MODE|PART|ROUND|POS|PAT|RS)_[A-Z0-9_]+)"', simd))
    words |= {"LOWER", "HIGHER", "INC_ORDER", "DEC_ORDER", "Bin_N0", "Bin_N1", "POST_UPDATE"}
    # Rounds half away to hifloat8, a type that the language does not have.
    assert undefined(words) == ["ROUND_H"]
