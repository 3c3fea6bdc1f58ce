"""Counts the arithmetic of SIMT bodies for the time model.

Loads, stores and calls of math functions count themselves when they run; plain C++ operators leave
no trace. They are counted here, in the text: each straight run of statements gets one call that
adds what the run computes. Index and address arithmetic is left out, as it is in the cost of SIMD
bodies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BODY = re.compile(r"^__simt_vf__\s.*\{\s*$")
_COMMENT = re.compile(r"/\*.*?\*/|//.*$|\"(?:\\.|[^\"\\])*\"")
_NUMBER = re.compile(
    r"-?\b(?:0[xX][\da-fA-F.]+(?:[pP][-+]?\d+)?|\d[\d.]*(?:[eE][-+]?\d+)?)[a-zA-Z]*"
)
_POINTER_CAST = re.compile(r"\(\s*(?:__\w+__\s+)?[\w:]+(?:\s+\w+)*\s*\*+\s*\)")
_LANES = re.compile(r"^\s*(?:\*\(\s*(?:__\w+__\s+)?)?(?:float|u?int)([24])\b")
_DIVISION = re.compile(r"[/%]")
_TEMPLATE = re.compile(r"\b(?:\w+_cast|tl::\w+)\s*<[^()]*?>(?=\(|::)")
# A binary operator stands between operands; `?` counts for the choice it makes.
_OPERATION = re.compile(
    r"\b(?:max|min)\(|\?|(?<=[\w)])\s*(?:<<|>>|<=|>=|==|!=|&&|\|\||[-+*&|^<>])\s*(?=[\w(!~-])"
)
_JUMP = re.compile(r"\b(?:break|continue|return)\b")


@dataclass(frozen=True)
class Work:
    """Lane operations of a piece of text, by thread."""

    alu: int = 0
    div: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(self.alu + other.alu, self.div + other.div)


def _without_subscripts(text: str) -> str:
    out, depth = [], 0
    for c in text:
        depth += c == "["
        if depth == 0:
            out.append(c)
        depth -= c == "]"
    return "".join(out)


def _group_end(text: str, start: int) -> int:
    """The index after the parenthesis that closes the one at ``start``."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    return len(text)


def _without_addresses(text: str) -> str:
    """Drops pointer casts, and the address each of them is applied to where that is a group."""
    while match := _POINTER_CAST.search(text):
        end = match.end()
        dereferenced = text[: match.start()].rstrip().endswith("*")
        if dereferenced and text[end : end + 1] == "(":
            end = _group_end(text, end)
        before = text[: match.start()].rstrip()
        text = (before[:-1] if dereferenced else before) + " v " + text[end:]
    return text


def statement_work(line: str) -> Work:
    """What one statement computes, in lane operations."""
    lanes = _LANES.match(line)
    text = _COMMENT.sub("", line)
    text = _TEMPLATE.sub("", _NUMBER.sub("0", text))
    text = _without_subscripts(text)
    text = _without_addresses(text)
    # An assignment's left side and the type of a declaration compute nothing.
    text = re.split(r"(?<![=!<>])=(?!=)", text, maxsplit=1)[-1]
    factor = int(lanes[1]) if lanes else 1
    return Work(factor * len(_OPERATION.findall(text)), factor * len(_DIVISION.findall(text)))


def annotate(lines: list[str]) -> list[str]:
    """The lines of a text with a counting call before each straight run of a SIMT body. Lines
    neither come nor go."""
    out = list(lines)
    inside = False
    first, total = -1, Work()

    def close() -> None:
        nonlocal first, total
        if first >= 0 and total != Work():
            indent = out[first][: len(out[first]) - len(out[first].lstrip())]
            call = f"::emu::simt_work({total.alu}, {total.div}); "
            out[first] = indent + call + out[first].lstrip()
        first, total = -1, Work()

    for i, line in enumerate(lines):
        if not inside:
            inside = bool(_BODY.match(line))
            continue
        stripped = line.strip()
        if line.startswith("}"):
            close()
            inside = False
        elif not stripped or stripped[0] in "#}" or stripped.endswith("{"):
            close()
        else:
            first = i if first < 0 else first
            total += statement_work(line)
            if _JUMP.search(line):
                close()
    return out
