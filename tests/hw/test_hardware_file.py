"""The hardware file's checks: every way to get it wrong is told with file, line and key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tilelang_ascend_sched  # noqa: F401  # loads the native library
from tilelang_ascend_sched import hardware

TEXT = hardware.BUILTIN.read_text()


def _line(text: str, part: str) -> int:
    """The 1-based line of the only place where ``part`` stands."""
    assert text.count(part) == 1, part
    return text[: text.index(part)].count("\n") + 1


def _refused(tmp_path: Path, text: str) -> str:
    file = tmp_path / "chip.json"
    file.write_text(text)
    with pytest.raises(ValueError) as refusal:
        hardware.check(str(file))
    message = str(refusal.value)
    assert str(file) in message
    return message.replace(str(file), "FILE")


def test_builtin_file_is_accepted() -> None:
    assert hardware.check("") == "Ascend 950 (dav-3510)"


def test_other_file_is_accepted(tmp_path: Path) -> None:
    file = tmp_path / "chip.json"
    file.write_text(TEXT.replace("Ascend 950 (dav-3510)", "another chip"))
    assert hardware.check(str(file)) == "another chip"
    assert hardware.digest(str(file)) != hardware.digest("")


def test_digest_follows_content_not_name(tmp_path: Path) -> None:
    file = tmp_path / "copy.json"
    file.write_text(TEXT)
    assert hardware.digest(str(file)) == hardware.digest("")
    file.write_text(TEXT + "\n")
    assert hardware.digest(str(file)) != hardware.digest("")


@pytest.mark.parametrize("read", [hardware.check, hardware.digest])
def test_missing_file(tmp_path: Path, read: Any) -> None:
    with pytest.raises(ValueError, match=r"nowhere\.json: the hardware file cannot be read"):
        read(str(tmp_path / "nowhere.json"))


GM_TO_UB = """"pipe": "MTE2",
      "ports": ["AIV"]"""
GM_TO_L1_LATENCY = '"latency": {"value": 190, "unit": "cycles", "source": "cost header"}'


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"name": ', '"name" ', 'expected `:`, found `"`'),
        ('"ub_with_simt": {', '"ub": {', "key `ub` stands here a second time"),
        ('"ub_with_simt": {', '"ubx": {', "`capacities.ub_with_simt` is missing"),
        (
            '"flags_per_event": {',
            '"flags": {"value": 1}, "flags_per_event": {',
            "`synchronization.flags` is not a known key; known are flags_per_event, locks",
        ),
        (
            GM_TO_L1_LATENCY,
            GM_TO_L1_LATENCY.replace("190", "-190"),
            "`transfers.gm_to_l1.latency.value` is -190; it must be 0 or more",
        ),
        (
            GM_TO_L1_LATENCY,
            GM_TO_L1_LATENCY.replace("190", '"190"'),
            "`transfers.gm_to_l1.latency.value` is a string; it must be a whole number",
        ),
        (
            GM_TO_L1_LATENCY,
            GM_TO_L1_LATENCY.replace("190", "190.5"),
            "`190.5` is not a whole number of 64 bits",
        ),
        (
            GM_TO_L1_LATENCY,
            GM_TO_L1_LATENCY.replace("190", "99999999999999999999"),
            "`99999999999999999999` is not a whole number of 64 bits",
        ),
        (
            GM_TO_L1_LATENCY,
            GM_TO_L1_LATENCY.replace("cycles", "ns"),
            '`transfers.gm_to_l1.latency.unit` is "ns"; it must be "cycles"',
        ),
        (
            GM_TO_L1_LATENCY,
            GM_TO_L1_LATENCY.replace("cost header", "hearsay"),
            '`transfers.gm_to_l1.latency.source` is "hearsay", which is not a key of `sources`',
        ),
        (
            GM_TO_L1_LATENCY,
            '"latency": 190',
            "`transfers.gm_to_l1.latency` is a whole number; it must be an object",
        ),
        (
            '"float8": {"value": 16384',
            '"float8": {"value": 0',
            "`cube.float8` is 0; it must be 1 or more",
        ),
        (
            '"M": {"cores": ["AIC"]',
            '"M": {"cores": ["GPU"]',
            "`pipes.M.cores` may name AIC and AIV",
        ),
        (
            '"ports": ["AIV"]',
            '"ports": ["HBM"]',
            '`transfers.gm_to_ub.ports` names the port "HBM"; ports are AIV, AIC and store',
        ),
        (
            '"names": ["tl.access_ptr", "tl.region"]',
            '"names": [1]',
            "`vector.calls[2].names` has an item",
        ),
        (
            '"names": ["tl.access_ptr", "tl.region"]',
            '"names": []',
            "`vector.calls[2].names` is empty",
        ),
        (
            '"names": ["tl.access_ptr", "tl.region"]',
            '"names": ["tl.region", "exp2"]',
            '`vector.calls[2].names` has "exp2" a second time',
        ),
        (
            '"tl.ascend_fill_l1"',
            '"tl.ascend_copy_gm_to_ubuf"',
            '`operations[4].names` has "tl.ascend_copy_gm_to_ubuf" a second time',
        ),
        (
            '"transfer": "gm_to_ub"',
            '"transfer": "gm_to_ubx"',
            '`operations[3].transfer` is "gm_to_ubx", which is not a key of `transfers`',
        ),
        (
            '"pipes": ["MTE1", "M"]',
            '"pipes": ["MTE1", "MTE4"]',
            '`operations[1].pipes` names the pipe "MTE4"; pipes are MTE1, MTE2, MTE3, M, V, FIX',
        ),
        (
            '"pipes": ["MTE1", "M"]',
            '"pipes": ["ALL"]',
            '`operations[1].pipes` names the pipe "ALL"',
        ),
        ('"pipes": ["MTE1", "M"]', '"pipes": "M"', "`operations[1].pipes` is a string"),
        (
            GM_TO_UB,
            GM_TO_UB.replace("MTE2", "DMA"),
            '`transfers.gm_to_ub.pipe` is "DMA"; it must be MTE1, MTE2, MTE3 or FIX',
        ),
        (
            GM_TO_UB,
            GM_TO_UB.replace("MTE2", "V"),
            '`transfers.gm_to_ub.pipe` is "V"; it must be MTE1, MTE2, MTE3 or FIX',
        ),
        (
            '"unknown_trips": {"value": 100',
            '"unknown_trips": {"value": 0',
            "`unknown_trips` is 0; it must be 1 or more",
        ),
        (
            '"register": {"value": 256',
            '"register": {"value": 2000000000000',
            "`vector.register.value` is 2000000000000; it must be at most",
        ),
    ],
)
def test_error_names_line_and_key(tmp_path: Path, before: str, after: str, message: str) -> None:
    told = _refused(tmp_path, TEXT.replace(before, after))
    assert message in told
    where, _, _ = told.partition(": ")
    line = _line(TEXT, '"capacities"' if "is missing" in message else before)
    assert where == f"FILE:{line}"


@pytest.mark.parametrize("text", ["", "[]", "{", "nul", '{"a": "', "[" * 100, "{} {}", "\x00"])
def test_not_an_object_at_all(tmp_path: Path, text: str) -> None:
    assert _refused(tmp_path, text).startswith("FILE:1: ")


def _paths(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """The path of every key of the file."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(value, dict):
            yield (*path, key)
        if isinstance(inner, dict | list):
            yield from _paths(inner, (*path, key))


def test_no_key_can_be_left_out(tmp_path: Path) -> None:
    """Takes away each key in turn; only notes are free."""
    accepted = []
    for path in _paths(json.loads(TEXT)):
        whole = json.loads(TEXT)
        holder = whole
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]
        file = tmp_path / "chip.json"
        file.write_text(json.dumps(whole))
        try:
            hardware.check(str(file))
        except ValueError:
            continue
        accepted.append(path)
    assert accepted
    assert {path[-1] for path in accepted} == {"note"}
