"""What the compiled kernel's machine code tells: lines of its places, and calls that nothing sees.

Both are read with the binary utilities that the host compiler itself needs.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tilelang_ascend_sched.emulator.result import PLACE
from tilelang_ascend_sched.emulator.source import FILE_NAME, Source

_FRAME = re.compile(rf"(?:^|/){re.escape(FILE_NAME)}:(\d+)")

_MATHS = re.findall(
    r"\w+",
    "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 "
    "expm1 fabs fdim floor fma fmax fmin fmod hypot ilogb labs ldexp lgamma llabs llrint llround "
    "log log10 log1p log2 logb lrint lround nearbyint nextafter pow remainder rint round scalbn "
    "sin sinh sqrt tan tanh tgamma trunc",
)
_HARMLESS = {
    *(f"{name}{suffix}" for name in _MATHS for suffix in ("", "f", "l")),
    *("printf", "puts", "putchar", "fflush", "abort", "exit", "_exit", "_Exit", "raise"),
    *("memcpy", "memmove", "memset"),  # of these the text calls our own
}
"""Functions of the host that touch no memory of the kernel, or are seen, or end the run."""


def _tool(name: str) -> str | None:
    return shutil.which(name)


def lines_of(library: Path, told: str) -> dict[str, int]:
    """The line of the kernel's text for each place ``code+0x...`` in ``told``; 0: it has none."""
    places = sorted({match["place"] for match in PLACE.finditer(told)})
    addr2line = _tool("addr2line")
    if not places or addr2line is None:
        return dict.fromkeys(places, 0)
    addresses = [place.partition("+")[2] for place in places]
    command = [addr2line, "-a", "-i", "-e", str(library), *addresses]
    told = subprocess.run(command, capture_output=True, text=True).stdout
    found = dict.fromkeys(places, 0)
    current = ""
    for line in told.splitlines():
        if line.startswith("0x"):
            current = f"code+{int(line, 16):#x}"
        elif (match := _FRAME.search(line)) and found.get(current) == 0:
            found[current] = int(match[1])  # the innermost frame that is the kernel's own
    return found


def _undefined(library: Path) -> list[str]:
    nm = _tool("nm")
    if nm is None:
        return []
    command = [nm, "-D", "-C", "--undefined-only", str(library)]
    told = subprocess.run(command, capture_output=True, text=True).stdout
    names = (line.split(None, 1)[-1].partition("@")[0] for line in told.splitlines())
    return sorted({name.partition("(")[0] for name in names})


_EXPANDED = frozenset(
    f"{kind}{name}"
    for kind, names in {
        "mem": ("chr", "cmp"),
        "str": ("cat", "chr", "cmp", "cpy", "len", "ncmp", "ncpy", "rchr", "str"),
    }.items()
    for name in names
)
"""Functions that the compiler may expand in place, so that no call of them is left."""


def plain_name(symbol: str) -> str:
    """A function's name without namespaces and parameters."""
    filt = _tool("c++filt")
    if filt is not None:
        symbol = subprocess.run([filt, symbol], capture_output=True, text=True).stdout.strip()
    return symbol.partition("(")[0].rpartition("::")[2]


def first_call(name: str, source: Source) -> int:
    """The line of the text that calls a function first; 0: none does."""
    if name not in source.original:
        return 0
    word = r"\bnew\b" if name == "new" else rf"\b(?:__builtin_)?{re.escape(name)}\s*\("
    text = [line.partition("//")[0] for line in source.original.splitlines()]
    calls = [i for i, line in enumerate(text, 1) if re.search(word, line)]
    # A declaration has a type before the name, or is marked as external.
    declared = re.compile(rf"\bextern\b|\b(?!return\b)\w+[\s*&]+{re.escape(name)}\s*\(")
    uses = [i for i in calls if not declared.search(text[i - 1])]
    return (uses or calls or [0])[0]


def unseen_calls(library: Path, source: Source) -> Iterator[tuple[str, int]]:
    """Functions outside the text that the kernel calls and whose accesses nothing sees, with the
    line of the first call."""
    symbols = {s.rpartition("::")[2] for s in _undefined(library) if not s.startswith("emu::")}
    names = {s for s in symbols if s.isidentifier() and not s.startswith("__tsan")}
    if any(symbol.startswith("operator new") for symbol in symbols):
        names.add("new")
    for name in sorted((names | _EXPANDED) - _HARMLESS):
        if line := first_call(name, source):
            yield name, line


_ASSEMBLY = re.compile(r"\b(?:asm|__asm__|__asm)\b\s*(?:volatile|__volatile__|goto|inline)?\s*\(")


def assembly(source: Source) -> Iterator[int]:
    """The lines with machine instructions written by hand, whose accesses nothing sees."""
    for i, line in enumerate(source.original.splitlines(), 1):
        if _ASSEMBLY.search(line.partition("//")[0]):
            yield i
