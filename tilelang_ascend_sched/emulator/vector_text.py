"""What is put into the text of vector functions so that findings can say more.

Lines keep their numbers: words are only added within them.
"""

from __future__ import annotations

import re

_SIMD_BODY = re.compile(r"^__simd_vf__\s.*\{\s*$")
_STATEMENT = re.compile(r"^(?P<indent>\s*)(?=[^\s#}/].*\(.*;\s*$)")
_STARTS_STATEMENT = re.compile(r"[;{}]\s*$")
_FOR = re.compile(r"^\s*for \(\w+ (?P<variable>\w+) = (?P<start>[^;]+);")
_ADDRESS_REGISTER = re.compile(r"\basc_update_addr_reg_b(?P<bits>8|16|32)\(")
_ACCESS = re.compile(
    r"\*\(\s*(?P<space>__ubuf__|__gm__)\s+(?P<type>(?!u?int8_t\b)[A-Za-z_][\w:]*)\s*\*\)\("
)


def check_alignment(line: str) -> str:
    """An access through a pointer cast, several elements at once, looks at its address first."""
    return _ACCESS.sub(r"*(\g<space> \g<type>*)::emu::simt::whole<\g<type>>(", line)


def _trips(loops: list[tuple[str, str] | None]) -> str:
    """How often the innermost loop has come round, as an expression."""
    inner = next((loop for loop in reversed(loops) if loop), None)
    return f"({inner[0]}) - ({inner[1]})" if inner else "0"


def annotate_simd(lines: list[str]) -> list[str]:
    """Each statement of a SIMD body tells its line before it runs, and an address register what it
    follows: on the device the innermost loop around it moves it on."""
    out = list(lines)
    inside = False
    before = ""
    loops: list[tuple[str, str] | None] = []
    for i, line in enumerate(lines):
        if not inside:
            inside = bool(_SIMD_BODY.match(line))
        elif line.startswith("}"):
            inside = False
            loops.clear()
        else:
            if line.lstrip().startswith("}") and loops:
                loops.pop()
            register = rf"::emu::address_register<\g<bits>>({_trips(loops)}, "
            out[i] = _ADDRESS_REGISTER.sub(register, line)
            if _STARTS_STATEMENT.search(before):
                out[i] = _STATEMENT.sub(rf"\g<indent>::emu::simd_line({i + 1}); ", out[i])
            if line.rstrip().endswith("{"):
                match = _FOR.match(line)
                loops.append((match["variable"], match["start"]) if match else None)
        before = line if line.strip() else before
    return out
