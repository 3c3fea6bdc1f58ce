"""Locks, cross-core flags, unit flags and synchronization between blocks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.asc import HEADER, handshake, line_of, load, run, store, vector_kernel
from tilelang_ascend_sched.emulator import emulate

POLICIES = ["eager", "lazy", "random", "starve:MTE2", "starve:MTE3", "starve:FIX", "starve:V"]


def lock(pipe: str, i: int, mode: str = "ASC_LOCK_BLOCK") -> str:
    return f"asc_lock(PIPE_{pipe}, {i}, {mode});"


def unlock(pipe: str, i: int, mode: str = "ASC_LOCK_BLOCK") -> str:
    return f"asc_unlock(PIPE_{pipe}, {i}, {mode});"


def spilled_handshake(a: str, b: str, i: int) -> str:
    """A flag in the form the compiler gives it when flags run out."""
    free = "ASC_LOCK_NON_BLOCK"
    return " ".join([lock(a, i, free), unlock(a, i, free), lock(b, i), unlock(b, i)])


@pytest.mark.parametrize("policy", POLICIES)
def test_locks_order_in_program_order(policy):
    text = vector_kernel(
        "for (int i = 0; i < 4; ++i) {",
        lock("MTE2", 7),
        load("ub", "(X + i * 16)", 64),
        unlock("MTE2", 7),
        lock("MTE3", 7),
        store("ub", "(Y + i * 16)", 64),
        unlock("MTE3", 7),
        "}",
    )
    result, y = run(text, policy=policy, seed=1)
    assert result.ok and (y == np.arange(64)).all()


@pytest.mark.parametrize("policy", POLICIES)
def test_spilled_flags(policy):
    text = vector_kernel(
        "for (int i = 0; i < 4; ++i) {",
        load("ub", "(X + i * 16)", 64),
        spilled_handshake("MTE2", "MTE3", 8),
        store("ub", "(Y + i * 16)", 64),
        spilled_handshake("MTE3", "MTE2", 9),
        "}",
    )
    result, y = run(text, policy=policy, seed=2)
    assert result.ok and (y == np.arange(64)).all()


def test_a_lock_that_does_not_block_orders_nothing_for_its_taker():
    free = "ASC_LOCK_NON_BLOCK"
    text = vector_kernel(
        lock("MTE2", 0),
        load("ub", "X", 64),
        unlock("MTE2", 0),
        lock("MTE3", 0, free),
        store("ub", "Y", 64),
        unlock("MTE3", 0, free),
    )
    assert {f.kind for f in run(text)[0].findings} >= {"race"}


def test_lock_misuse():
    (held,) = run(vector_kernel(lock("MTE2", 1)))[0].findings
    assert held.kind == "lock-left-held"
    (twice,) = run(vector_kernel(lock("MTE2", 1), lock("MTE2", 1)))[0].findings
    assert "already held by MTE2" in twice.message
    (free,) = run(vector_kernel(unlock("MTE2", 1)))[0].findings
    assert "not held by MTE2" in free.message
    (large,) = run(vector_kernel(lock("MTE2", 32)))[0].findings
    assert "not in 0..31" in large.message


FIXPIPE = (
    "asc_copy_l0c2ub(ub, c, 16, 16, 16, 16, {sub}, static_cast<asc_dual_dst_mode>({dual}), "
    "static_cast<asc_unit_flag_mode>({unit}), static_cast<asc_quant_mode>(0), "
    "static_cast<asc_relu_pre_mode>(0), 0, 1, 0, 0);"
)
LOAD_A = (
    "asc_set_gm2l1_nz_para(1, 1, 16, 0); asc_copy_gm2l1_nd2nz((__cbuf__ bfloat16_t *)0, A, 32, "
    "static_cast<asc_load_l2_cache_mode>(0), 16, 16, 0, 0);"
)
LOAD_L0 = (
    "asc_copy_l12l0a((__ca__ bfloat16_t *)0, (__cbuf__ bfloat16_t *)0, 0, 0, 1, 1, 1, 1); "
    "asc_copy_l12l0b((__cb__ bfloat16_t *)0, (__cbuf__ bfloat16_t *)0, 0, 0, 1, 1, 1, 1);"
)


def mmad(unit: int) -> str:
    return (
        "asc_mmad(c, (__ca__ bfloat16_t *)0, (__cb__ bfloat16_t *)0, 16, 16, 16, "
        f"{unit}, true, false, true);"
    )


def mixed(cube: list[str], vector: list[str]) -> str:
    """Both AIVs get A @ A.T in UB and may store it."""
    cube_text = "\n".join(f"    {line}" for line in cube)
    vector_text = "\n".join(f"    {line}" for line in vector)
    return (
        f'{HEADER}extern "C" __global__ __mix__(1, 2) void k(__gm__ bfloat16_t* A, '
        f"__gm__ float* C) {{\n  asc_init();\n"
        f"  __cc__ float *c = (__cc__ float *)0;\n  __ubuf__ float *ub = (__ubuf__ float *)0;\n"
        f"  if ASC_IS_AIC {{\n{cube_text}\n  }}\n  if ASC_IS_AIV {{\n"
        f"    int sid = asc_get_sub_block_id();\n{vector_text}\n  }}\n}}\n"
    )


def product(unit: int = 0) -> list[str]:
    return [
        LOAD_A,
        handshake("MTE2", "MTE1"),
        LOAD_L0,
        handshake("MTE1", "M"),
        mmad(unit),
        *([] if unit else [handshake("M", "FIX")]),
    ]


HALF = store("ub", "(C + sid * 128)", 512)
ARRIVE = ["asc_sync_intra_arrive(PIPE_FIX, 4);", "asc_sync_intra_arrive(PIPE_FIX, 20);"]
WAIT = "asc_sync_intra_wait(PIPE_MTE3, 4);"


def run_mixed(text: str, **options):
    import ml_dtypes

    a = np.random.default_rng(1).integers(-4, 5, (16, 16)).astype(ml_dtypes.bfloat16)
    c = np.zeros((16, 16), np.float32)
    result = emulate(text, A=a, C=c, blocks=1, **options)
    return result, c, a.astype(np.float32) @ a.astype(np.float32).T


@pytest.mark.parametrize("policy", POLICIES)
def test_product_reaches_both_vector_cores(policy):
    text = mixed([*product(), FIXPIPE.format(sub=0, dual=1, unit=0), *ARRIVE], [WAIT, HALF])
    result, c, expected = run_mixed(text, policy=policy, seed=5)
    assert result.ok and (c == expected).all()


def test_dual_destination_by_columns():
    rows = (
        "asc_copy_ub2gm_align((__gm__ uint8_t*)(C + sid * 8), (__ubuf__ uint8_t*)ub, 16, 32, "
        "static_cast<asc_store_l2_cache_mode>(4), 64, 64);"
    )
    text = mixed([*product(), FIXPIPE.format(sub=0, dual=2, unit=0), *ARRIVE], [WAIT, rows])
    result, c, expected = run_mixed(text)
    assert result.ok and (c == expected).all()


def test_single_destination():
    whole = "if (sid == 1) { " + WAIT + store("ub", "C", 1024) + " }"
    text = mixed([*product(), FIXPIPE.format(sub=1, dual=0, unit=0), ARRIVE[1]], [whole])
    result, c, expected = run_mixed(text)
    assert result.ok and (c == expected).all()


def test_missing_cross_core_wait_is_a_race():
    text = mixed([*product(), FIXPIPE.format(sub=0, dual=1, unit=0), *ARRIVE], [HALF])
    result, _, _ = run_mixed(text)
    races = result.of_kind("race")
    assert {(s.core[:3], s.pipe) for f in races for s in f.sites} == {
        ("AIC", "FIX"),
        ("AIV", "MTE3"),
    }
    assert result.of_kind("flag-left-set")


def test_cube_waits_for_both_vector_cores():
    fix = FIXPIPE.format(sub=0, dual=1, unit=0)
    cube = [
        *product(),
        fix,
        *ARRIVE,
        "asc_sync_intra_wait(PIPE_FIX, 6);",
        "asc_sync_intra_wait(PIPE_FIX, 22);",
        fix,
        *ARRIVE,
    ]
    vector = [WAIT, HALF, "asc_sync_intra_arrive(PIPE_MTE3, 6);", WAIT]
    result, c, expected = run_mixed(mixed(cube, vector))
    # The second Fixpipe copy follows the first one's only through the vector cores' answer.
    assert result.ok and (c == expected).all()
    one = [line for line in cube if "22" not in line]
    result, _, _ = run_mixed(mixed(one, vector))
    assert result.of_kind("race") and result.of_kind("flag-left-set")


def test_cross_core_counter_has_four_bits():
    cube = ["for (int i = 0; i < 16; ++i) { asc_sync_intra_arrive(PIPE_FIX, 0); }"]
    vector = ["if (sid == 0) { for (int i = 0; i < 16; ++i) { asc_sync_intra_wait(PIPE_V, 0); } }"]
    result, _, _ = run_mixed(mixed(cube, vector), policy="starve:V")
    assert result.of_kind("flag-overflow")


def test_unit_flag_orders_cube_and_fixpipe():
    fix = FIXPIPE.format(sub=0, dual=1, unit=3)
    result, c, expected = run_mixed(mixed([*product(3), fix, *ARRIVE], [WAIT, HALF]))
    assert result.ok and (c == expected).all()
    # One side alone orders nothing.
    plain = FIXPIPE.format(sub=0, dual=1, unit=0)
    result, _, _ = run_mixed(mixed([*product(3), plain, *ARRIVE], [WAIT, HALF]))
    assert result.of_kind("race")


BETWEEN = vector_kernel(
    load("ub", "(X + block_idx * 64)", 256),
    handshake("MTE2", "MTE3"),
    store("ub", "(Y + block_idx * 64)", 256),
    "asc_sync_inter_arrive(PIPE_MTE3, 2);",
    "asc_sync_inter_wait(PIPE_MTE2, 2);",
    load("(ub + 64)", "(Y + (block_idx + 1) % 4 * 64)", 256),
    handshake("MTE2", "MTE3", 1),
    store("(ub + 64)", "(Z + block_idx * 64)", 256),
    parameters="__gm__ float* Z",
)


def run_between(text: str, **options):
    x = np.arange(256, dtype=np.float32)
    y, z = np.zeros_like(x), np.zeros_like(x)
    return emulate(text, X=x, Y=y, Z=z, blocks=4, **options), z


@pytest.mark.parametrize("policy", ["eager", "lazy", "random"])
def test_blocks_wait_for_each_other(policy):
    result, z = run_between(BETWEEN, policy=policy)
    assert result.ok
    assert (z == np.roll(np.arange(256), -64)).all()


def test_blocks_that_do_not_wait_race():
    text = "\n".join(line for line in BETWEEN.splitlines() if "inter_wait" not in line)
    result, _ = run_between(text)
    assert result.of_kind("race") and result.of_kind("flag-left-set")


def one(text: str, run_it=run_mixed, **options):
    """The only finding of a run."""
    findings = run_it(text, **options)[0].findings
    assert len(findings) == 1, [str(f) for f in findings]
    return findings[0]


FIX_UNIT = FIXPIPE.format(sub=0, dual=1, unit=3)


def test_unit_flag_of_a_region_that_is_never_filled_or_drained():
    """M may not fill a region twice, FIX may not drain it twice."""
    twice = one(mixed([*product(3), mmad(3), FIX_UNIT, *ARRIVE], [WAIT, HALF]))
    assert twice.kind == "flag-left-set" and "unit flag of L0C" in twice.message
    drained = one(mixed([*product(3), FIX_UNIT, FIX_UNIT, *ARRIVE], [WAIT, HALF]))
    assert drained.kind == "deadlock" and "FIX at line" in drained.message
    again = mixed([*product(3), FIX_UNIT, mmad(3), FIX_UNIT, *ARRIVE], [WAIT, HALF])
    assert run_mixed(again)[0].ok


def test_unit_flag_left_full():
    text = mixed([*product(3)], [])
    left = one(text)
    assert left.kind == "flag-left-set" and "unit flag of L0C bytes 0..1023" in left.message
    assert left.sites[0].kernel_line == line_of(text, "asc_mmad")


def test_cross_core_counter_holds_fifteen():
    many = "for (int i = 0; i < 15; ++i) {{ {}; }}"
    arrive = many.format("asc_sync_intra_arrive(PIPE_FIX, 0)")
    wait = "if (sid == 0) { " + many.format("asc_sync_intra_wait(PIPE_V, 0)") + " }"
    assert run_mixed(mixed([arrive], [wait]), policy="starve:V")[0].ok


def test_cross_core_wait_that_is_never_met():
    text = mixed(["asc_sync_intra_wait(PIPE_M, 5);"], [])
    stuck = one(text)
    assert stuck.kind == "deadlock" and "AIC: M at line" in stuck.message
    assert stuck.sites[0].kernel_line == line_of(text, "intra_wait")
    # One AIV's arrival is not the other's.
    half = mixed(["asc_sync_intra_wait(PIPE_M, 21);"], ["if (sid == 0) { " + RAISE + " }"])
    assert one(half).kind == "deadlock"
    whole = mixed(["asc_sync_intra_wait(PIPE_M, 5);"], ["if (sid == 0) { " + RAISE + " }"])
    assert run_mixed(whole)[0].ok


RAISE = "asc_sync_intra_arrive(PIPE_MTE3, 5);"


@pytest.mark.parametrize("kind", ["subblock", "block"])
def test_arrivals_of_one_core_alone_are_left_over(kind):
    arrive = f"asc_sync_{kind}_arrive(PIPE_V, 3);"
    text = mixed([], ["if (sid == 0) { " + arrive + " }"])
    left = one(text)
    assert left.kind == "flag-left-set" and "flag 3 still waits for the other AIV" in left.message
    wait = f"asc_sync_{kind}_wait(PIPE_V, 3);"
    both = mixed([wait] if kind == "block" else [], [arrive, *([wait] if kind != "block" else [])])
    assert run_mixed(both)[0].ok


def test_blocks_that_do_not_all_arrive():
    some = BETWEEN.replace("  asc_sync_inter_arrive", "  if (block_idx) asc_sync_inter_arrive")
    assert one(some, run_between).kind == "deadlock"
    alone = vector_kernel("if (block_idx) { asc_sync_inter_arrive(PIPE_MTE3, 2); }")
    found = run(alone, blocks=3)[0].findings
    assert found and all("still waits for every block" in f.message for f in found)


def test_lock_that_is_never_released_stops_the_next():
    text = vector_kernel(lock("MTE2", 4), load("ub", "X", 64), lock("MTE3", 4), unlock("MTE3", 4))
    stuck = one(text, run)
    assert stuck.kind == "deadlock" and "asc_lock(MTE3, 4)" in stuck.message
    assert stuck.sites[0].kernel_line == line_of(text, "asc_lock(PIPE_MTE3")


def test_lock_order_is_the_programs():
    """A pipe that asks later gets the lock later, whichever pipe is ready first."""
    first = [lock("MTE3", 2), store("ub", "Y", 64), unlock("MTE3", 2)]
    second = [lock("MTE2", 2), load("ub", "X", 64), unlock("MTE2", 2)]
    filled = [load("ub", "X", 64), handshake("MTE2", "MTE3")]
    assert run(vector_kernel(*filled, *first, *second))[0].ok
    races = run(vector_kernel(*filled, *first, *second[1:2]))[0].of_kind("race")
    assert [f.message.split()[0] for f in races] == ["WAR"]
