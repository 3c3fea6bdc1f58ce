"""What the emulator reads out of generated AscendC text, and the few words it changes in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tilelang_ascend_sched.emulator import simt_cost, vector_text

FILE_NAME = "kernel.asc"
"""The file that line numbers of messages mean."""

_KERNEL = re.compile(
    r'extern\s+"C"\s+__global__\s+(?P<kind>__mix__\s*\([^)]*\)|__vector__|__cube__)?\s*'
    r"void\s+(?P<name>\w+)\s*\((?P<parameters>[^)]*)\)",
)
_POINTER = re.compile(r"^__gm__\s+(?P<type>[\w:]+)\s*\*\s*(?:__restrict__\s+)?(?P<name>\w+)$")
_SCALAR = re.compile(r"^(?:const\s+)?(?P<type>\w+)\s+(?P<name>\w+)$")
_UB_LITERAL = re.compile(
    r"\(\s*__ubuf__\s+(?P<type>[A-Za-z_][\w:]*(?:\s+[A-Za-z_]\w*)*)\s*\*\s*\)\s*"
    r"(?P<offset>0[xX][0-9a-fA-F]+|\d+)\b(?!\s*[.\w])"
)
_SIMD_DEFINITION = re.compile(r"__simd_vf__\s[^;{(]*?\bvoid\s+(?P<name>\w+)\s*\(")
_BLOCK_COPY = re.compile(
    r"(?:\bstd::|::)?\b(?:__builtin_)?(?P<name>memcpy|memmove|memset)(?=\s*\()"
)
_TEMPLATE_SIMD = "ascend_nd2nz_scatter"
_TEMPLATE_CALL = re.compile(r"^(\s*)((?:ascend_gemm_l1|ascend_blockscaled_gemm_l1)\s*<)")


@dataclass(frozen=True)
class Parameter:
    """A kernel parameter: an array in global memory, or a scalar."""

    name: str
    ctype: str
    is_array: bool


@dataclass(frozen=True)
class KernelText:
    """A ``__global__`` function of the text."""

    name: str
    kind: str
    """``mix``: one AIC and two AIVs a block; ``cube``: the AIC; ``vector``: one AIV."""
    parameters: tuple[Parameter, ...]
    line: int


@dataclass(frozen=True)
class Source:
    """AscendC text ready to be compiled for the host."""

    original: str
    text: str
    kernels: tuple[KernelText, ...]
    has_simt: bool
    """A kernel with a SIMT function has less of UB to itself."""
    between_blocks: bool
    """Blocks synchronize with each other, so they have to run at once."""

    def line(self, number: int) -> str:
        """A line of the kernel as the user has it; empty if there is none."""
        lines = self.original.splitlines()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _parameter(text: str, kernel: str) -> Parameter:
    text = " ".join(text.split())
    for pattern, is_array in ((_POINTER, True), (_SCALAR, False)):
        if match := pattern.match(text):
            return Parameter(match["name"], match["type"], is_array)
    raise ValueError(f"kernel {kernel}: parameter `{text}` is neither `__gm__ T*` nor a scalar")


def _kernels(text: str) -> tuple[KernelText, ...]:
    found = []
    for match in _KERNEL.finditer(text):
        kind = (match["kind"] or "").strip("_").partition("__")[0] or "mix"
        parts = [p for p in match["parameters"].split(",") if p.strip()]
        parameters = tuple(_parameter(p, match["name"]) for p in parts)
        line = text.count("\n", 0, match.start()) + 1
        found.append(KernelText(match["name"], kind, parameters, line))
    if not found:
        raise ValueError('no kernel: the text has no `extern "C" __global__` function')
    return tuple(found)


def _rewrite_line(line: str, number: int, simd_call: re.Pattern[str] | None) -> str:
    # UB is the one local memory that the kernel's own code dereferences.
    line = _UB_LITERAL.sub(r"(__ubuf__ \g<type> *)(::emu::ub_base() + \g<offset>)", line)
    # The compiler would turn these into loads and stores that it does not announce.
    line = _BLOCK_COPY.sub(r"::emu::seen_\g<name>", line)
    line = vector_text.check_alignment(line)
    line = _TEMPLATE_CALL.sub(rf"\1::emu::call_site({number}), \2", line)
    if simd_call and "__simd_vf__" not in line:
        # A call of a vector function only puts it on pipe V.
        line = simd_call.sub(_simd_replacement, line)
    return line


def _simd_replacement(match: re.Match[str]) -> str:
    comma = "" if match["empty"] else ", "
    function = match["function"].rstrip()
    location = "::std::source_location::current()"
    return f"{match['indent']}::emu::simd_call<{function}>({location}{comma}{match['empty'] or ''}"


def read(text: str) -> Source:
    """Parses and rewrites ``text``; every line keeps its number. ValueError: no kernel in it."""
    kernels = _kernels(text)
    names = sorted({m["name"] for m in _SIMD_DEFINITION.finditer(text)}, key=len, reverse=True)
    functions = [re.escape(name) for name in names]
    if _TEMPLATE_SIMD in text:
        functions.append(rf"{_TEMPLATE_SIMD}\s*<[^;()]*>")
    simd_call = None
    if functions:
        simd_call = re.compile(
            rf"^(?P<indent>\s*)(?P<function>{'|'.join(functions)})\s*\((?P<empty>\))?"
        )
    annotated = vector_text.annotate_simd(simt_cost.annotate(text.splitlines()))
    lines = [_rewrite_line(line, number, simd_call) for number, line in enumerate(annotated, 1)]
    entries = "".join(f"EMU_KERNEL({kernel.name})\n" for kernel in kernels)
    body = "\n".join(lines)
    return Source(
        original=text,
        text=f'#line 1 "{FILE_NAME}"\n{body}\n#line 1 "entries"\n{entries}',
        kernels=kernels,
        has_simt="__simt_vf__" in text,
        between_blocks="asc_sync_inter_" in text,
    )
