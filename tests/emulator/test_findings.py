"""Each kind of finding on a text that has it, and none on its repaired twin."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.asc import (
    handshake,
    line_of,
    load,
    run,
    set_flag,
    store,
    vector_kernel,
    wait_flag,
)
from tilelang_ascend_sched.emulator import Settings, emulate

COPY = [load("ub", "X", 256), handshake("MTE2", "MTE3"), store("ub", "Y", 256)]
POLICIES = ["eager", "lazy", "random", "starve:MTE2", "starve:MTE3", "starve:S"]


def kinds(result) -> set[str]:
    return {f.kind for f in result.findings}


@pytest.mark.parametrize("policy", POLICIES)
def test_copy_is_right(policy):
    result, y = run(vector_kernel(*COPY), policy=policy)
    assert result.findings == ()
    assert (y == np.arange(64)).all()


@pytest.mark.parametrize("policy", POLICIES)
def test_missing_handshake_is_a_raw_race_under_every_policy(policy):
    text = vector_kernel(COPY[0], COPY[2])
    result, _ = run(text, policy=policy)
    (race,) = result.of_kind("race")
    assert "RAW race on UB bytes 0..255" in race.message
    assert [(s.pipe, s.kernel_line) for s in race.sites] == [
        ("MTE2", line_of(text, "gm2ub")),
        ("MTE3", line_of(text, "ub2gm")),
    ]


def test_lazy_shows_the_race_in_the_numbers():
    _, y = run(vector_kernel(COPY[0], COPY[2]), policy="starve:MTE2")
    assert np.isnan(y).all()


def test_write_after_read():
    again = load("ub", "X", 256)
    bad, _ = run(vector_kernel(*COPY, again))
    assert [f.message.split(" race")[0] for f in bad.of_kind("race")] == ["WAR"]
    good, _ = run(vector_kernel(*COPY, handshake("MTE3", "MTE2"), again))
    assert good.ok


def test_same_pipe_overlap_needs_a_barrier():
    twice = [load("ub", "X", 256), load("ub + 32", "X", 128)]
    bad, _ = run(vector_kernel(*twice))
    (race,) = bad.findings
    assert race.kind == "race-same-pipe" and "WAW" in race.message and "128..255" in race.message
    assert run(vector_kernel(twice[0], "asc_sync_pipe(PIPE_MTE2);", twice[1]))[0].ok
    round_trip = handshake("MTE2", "MTE3") + handshake("MTE3", "MTE2")
    assert run(vector_kernel(twice[0], round_trip, twice[1]))[0].ok
    assert run(vector_kernel(load("ub", "X", 128), load("ub + 32", "X", 128)))[0].ok


def test_a_third_pipe_carries_the_order():
    first, second = COPY[0], COPY[2]
    chain = [handshake("MTE2", "V"), handshake("V", "MTE3")]
    assert run(vector_kernel(first, *chain, second))[0].ok
    broken = [handshake("MTE2", "V"), "asc_sync_pipe(PIPE_MTE3);"]
    assert kinds(run(vector_kernel(first, *broken, second))[0]) == {"race"}


def test_full_barrier_orders_everything():
    assert run(vector_kernel(COPY[0], "asc_sync();", COPY[2]))[0].ok


def test_deadlock_names_every_head():
    text = vector_kernel(COPY[0], wait_flag("MTE2", "MTE3", 5), COPY[2])
    result, _ = run(text)
    (finding,) = result.findings
    assert finding.kind == "deadlock"
    line = line_of(text, "asc_sync_wait")
    assert f"MTE3 at line {line}: asc_sync_wait(MTE2, MTE3, 5)" in finding.message
    assert finding.sites[0].kernel_line == line


def test_scalar_deadlock():
    result, _ = run(vector_kernel(wait_flag("MTE2", "S")))
    (finding,) = result.findings
    assert finding.kind == "deadlock" and "S at line" in finding.message


def test_flag_set_twice_names_both_lines():
    text = vector_kernel(COPY[0], set_flag("MTE2", "MTE3"), *COPY[1:])
    result, _ = run(text)
    (finding,) = result.of_kind("flag-set-twice")
    lines = [i for i, line in enumerate(text.splitlines(), 1) if "notify" in line]
    assert [s.kernel_line for s in finding.sites] == lines[::-1]


def test_flag_left_set():
    text = vector_kernel(*COPY, set_flag("MTE3", "S", 3))
    result, _ = run(text)
    (finding,) = result.findings
    assert finding.kind == "flag-left-set" and "MTE3_S id 3" in finding.message
    assert finding.sites[0].kernel_line == line_of(text, "PIPE_S, ")


def test_flags_are_reused_after_a_wait():
    text = vector_kernel(*COPY, handshake("MTE3", "MTE2"), *COPY)
    assert run(text)[0].ok


@pytest.mark.parametrize("identifier", [-1, 8])
def test_event_id_out_of_range(identifier):
    (finding,) = run(vector_kernel(set_flag("MTE2", "V", identifier)))[0].findings
    assert finding.kind == "error" and "not in 0..7" in finding.message


def test_gm_out_of_range():
    text = vector_kernel(load("ub", "X + 32", 256))
    (finding,) = run(text)[0].findings
    assert finding.kind == "out-of-range"
    assert "X bytes 128..383 of 256" in finding.message
    assert finding.sites[0].kernel_line == line_of(text, "gm2ub")


def test_gm_before_the_start():
    assert kinds(run(vector_kernel(load("ub", "X - 8", 64)))[0]) == {"out-of-range"}


@pytest.mark.parametrize(("offset", "ok"), [(253_696, True), (253_728, False)])
def test_ub_capacity(offset, ok):
    text = vector_kernel(load(f"(__ubuf__ uint8_t *){offset}", "X", 256))
    result, _ = run(text)
    assert kinds(result) == (set() if ok else {"capacity"})


SIMT = "__simt_vf__ __launch_bounds__(64) inline void f({parameters}) {{\n{body}\n}}\n"
CALL = "asc_vf_call<f>(cce::dim3(64), ub);"


def simt(body: str, parameters: str = "__ubuf__ float* ub") -> str:
    return SIMT.format(parameters=parameters, body=body)


def test_a_simt_function_leaves_less_ub():
    add = simt("ub[threadIdx.x] = 1.0f;")
    text = vector_kernel(load("(__ubuf__ uint8_t *)221184", "X", 32), functions=add)
    (finding,) = run(text)[0].findings
    assert finding.kind == "capacity" and "221184 bytes (of a kernel with a SIMT" in finding.message


def test_ub_alignment():
    text = vector_kernel(load("ub + 1", "X", 64))
    (finding,) = run(text)[0].findings
    assert finding.kind == "alignment" and "aligned to 32 bytes" in finding.message


def test_store_of_never_written_bytes():
    text = vector_kernel(load("ub", "X", 128), handshake("MTE2", "MTE3"), store("ub", "Y", 256))
    (finding,) = run(text)[0].findings
    assert finding.kind == "never-written" and "UB byte 128" in finding.message


def simt_kernel(body: str) -> str:
    return vector_kernel(
        load("ub", "X", 256),
        handshake("MTE2", "V"),
        CALL,
        handshake("V", "MTE3"),
        store("ub", "Y", 256),
        functions=simt(body),
    )


def test_simt_body_runs_every_thread():
    result, y = run(simt_kernel("ub[threadIdx.x] = ub[threadIdx.x] * 2.0f + 1.0f;"))
    assert result.ok
    assert (y == 2 * np.arange(64) + 1).all()


def test_simt_reads_what_nothing_wrote():
    result, _ = run(simt_kernel("ub[threadIdx.x] = ub[threadIdx.x + 1];"))
    assert "never-written" in kinds(result)


def test_simt_threads_race_without_a_barrier():
    shift = "float v = ub[63 - threadIdx.x];\n{}ub[threadIdx.x] = v;"
    bad, _ = run(simt_kernel(shift.format("")))
    assert kinds(bad) == {"race-simt"}
    good, y = run(simt_kernel(shift.format("asc_syncthreads();\n")))
    assert good.ok
    assert (y == np.arange(64)[::-1]).all()


def test_simt_threads_of_one_warp_are_ordered_by_its_synchronization():
    sync = "cooperative_groups::coalesced_threads().sync();"

    def exchange(distance: int, between: str):
        body = f"float v = ub[threadIdx.x ^ {distance}];\n{between}\nub[threadIdx.x] = v;"
        return run('#include "simt_api/cooperative_groups.h"\n' + simt_kernel(body))

    good, y = exchange(1, sync)
    assert good.ok, good.findings
    assert (y == np.arange(64) ^ 1).all()
    for distance, between in ((1, ""), (32, sync), (1, f"if (threadIdx.x % 32 < 16) {{ {sync} }}")):
        assert kinds(exchange(distance, between)[0]) == {"race-simt"}


def test_simt_threads_share_what_should_be_their_own():
    """A scratch cell that every thread uses for itself: the fault of a fragment that lives on
    across two SIMT regions and so becomes memory."""
    body = "ub[0] = ub[threadIdx.x];\nub[threadIdx.x] = ub[0] + 1.0f;"
    assert kinds(run(simt_kernel(body))[0]) == {"race-simt"}


def test_simt_out_of_ub():
    text = simt_kernel("ub[threadIdx.x + 100000] = 0.0f;")
    result, _ = run(text)
    (finding,) = result.of_kind("capacity")
    assert f"launched at line {line_of(text, 'asc_vf_call')}" in finding.message


def test_simt_gm_out_of_range():
    text = vector_kernel(
        "asc_vf_call<f>(cce::dim3(64), X);",
        functions=simt("X[threadIdx.x + 1] = 0.0f;", "__gm__ float* X"),
    )
    result, _ = run(text)
    assert kinds(result) == {"out-of-range"}


def test_scalar_access_is_seen():
    """The scalar program reads UB while a copy may still be filling it."""
    use = "if (ub[0] > 0.0f) { asc_sync_pipe(PIPE_MTE2); }"
    bad, _ = run(vector_kernel(load("ub", "X", 256), use))
    assert kinds(bad) == {"race"}
    good, _ = run(vector_kernel(load("ub", "X", 256), handshake("MTE2", "S"), use))
    assert good.ok


def test_scalar_write_reaches_the_copy_only_through_a_flag():
    write = "for (int i = 0; i < 8; ++i) { ub[i] = 7.0f; }"
    # Instructions issued after the scalar write come after it.
    result, y = run(vector_kernel(write, store("ub", "Y", 32)))
    assert result.ok and (y[:8] == 7).all()
    # The scalar program writes what an earlier copy still reads.
    bad, _ = run(vector_kernel(write, store("ub", "Y", 32), "ub[0] = 8.0f;"))
    assert kinds(bad) == {"race"}


def test_gm_race_inside_a_block():
    """What was stored to GM is loaded again."""
    back = [*COPY, load("ub + 64", "Y", 256)]
    bad, _ = run(vector_kernel(*back))
    (race,) = bad.of_kind("race")
    assert "RAW race on GM Y bytes 0..255" in race.message
    good, _ = run(vector_kernel(*COPY, handshake("MTE3", "MTE2"), back[-1]))
    assert good.ok


def test_blocks_race_on_gm():
    own = vector_kernel(
        load("ub", "(X + block_idx * 64)", 256),
        handshake("MTE2", "MTE3"),
        store("ub", "(Y + block_idx * 64)", 256),
    )
    result, y = run(own, blocks=5)
    assert result.ok and (y == np.arange(320)).all()
    shared = own.replace("(Y + block_idx * 64)", "(Y + block_idx * 63)")
    (race,) = run(shared, blocks=5)[0].findings
    assert race.kind == "race" and race.block == -1 and "WAW race on GM Y" in race.message


def test_atomic_stores_of_blocks_do_not_race():
    text = vector_kernel(
        load("ub", "X", 256),
        handshake("MTE2", "MTE3"),
        "asc_set_atomic_add_float();",
        store("ub", "Y", 256),
        "asc_set_atomic_none();",
    )
    result, y = run(text, blocks=8)
    assert result.ok
    assert (y[:64] == 8 * np.arange(64)).all()


def test_a_plain_store_races_with_atomic_ones():
    text = vector_kernel(
        load("ub", "X", 256),
        handshake("MTE2", "MTE3"),
        "if (block_idx > 0) { asc_set_atomic_add_float(); }",
        store("ub", "Y", 256),
    )
    assert kinds(run(text, blocks=3)[0]) == {"race"}


def test_endless_issue_ends_by_step_budget():
    text = vector_kernel("while (true) { asc_sync_pipe(PIPE_MTE2); }")
    (finding,) = run(text, settings=Settings(step_budget=5000))[0].findings
    assert finding.kind == "budget" and "5000 scheduler steps" in finding.message


def test_endless_scalar_loop_ends_by_idle_time():
    text = vector_kernel(load("ub", "X", 64), "volatile int i = 0; while (i == 0) { }")
    (finding,) = run(text, settings=Settings(idle_seconds=1))[0].findings
    assert finding.kind == "budget" and "1 CPU seconds" in finding.message
    assert f"line {line_of(text, 'gm2ub')}" in finding.message


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ('throw std::runtime_error("too big");', "crashed: an uncaught exception: too big"),
        ("throw 1;", "crashed: an uncaught exception: of a type without what()"),
        ("std::terminate();", "crashed: std::terminate"),
        ("::abort();", "crashed: abort"),
        ("::exit(0);", "the kernel ends its process (exit)"),
        ("__builtin_trap();", "crashed: illegal instruction"),
        ("volatile int z = 0; z = 7 / z;", "crashed: arithmetic error"),
        ("recurse(0);", "crashed: stack overflow"),
        ("::_Exit(0);", "the kernel ends its process (_Exit)"),
        ("::pthread_exit(nullptr);", "the kernel ends its process (pthread_exit)"),
        ("::syscall(SYS_exit_group, 0);", "ended with exit status 0"),
        ("::raise(SIGKILL);", "was killed by SIGKILL"),
    ],
)
def test_crashes_name_their_cause(code, message):
    text = vector_kernel(load("ub", "X", 64), code)
    recursion = (
        "#include <pthread.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n"
        "#include <csignal>\n#include <cstdlib>\n#include <exception>\n#include <stdexcept>\n"
        "__attribute__((noinline)) static int recurse(int n) {"
        " volatile char b[4096]; b[n % 4096] = 1; return recurse(n + 1) + b[0]; }\n"
    )
    (finding,) = run(text.replace('extern "C"', recursion + 'extern "C"', 1))[0].of_kind("error")
    assert message in finding.message


def test_device_assertion():
    text = vector_kernel("device_assert(block_idx == 0);")
    assert run(text)[0].ok
    (finding,) = run(text, blocks=2)[0].findings
    assert "device assertion failed" in finding.message and finding.block == 1


def test_a_race_is_reported_once():
    loop = ["for (int i = 0; i < 10; ++i) {", COPY[0], COPY[2], "}"]
    result, _ = run(vector_kernel(*loop), blocks=3)
    pairs = [(f.kind, *sorted(s.kernel_line for s in f.sites)) for f in result.findings]
    assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize("policy", POLICIES)
def test_findings_do_not_depend_on_the_policy(policy):
    text = vector_kernel(
        "for (int i = 0; i < 4; ++i) {", COPY[0], COPY[2], "asc_sync_pipe(PIPE_MTE3);", "}"
    )
    expected = [str(f) for f in run(text)[0].findings if f.kind.startswith("race")]
    found = run(text, policy=policy, seed=3)[0].findings  # a race may show up in data too
    assert [str(f) for f in found if f.kind.startswith("race")] == expected


def test_race_check_can_be_switched_off():
    result, _ = run(vector_kernel(COPY[0], COPY[2]), settings=Settings(race=False))
    assert result.of_kind("race") == []


def test_nothing_is_written_where_an_access_is_out_of_range():
    x, y = np.ones(64, np.float32), np.zeros(8, np.float32)
    text = vector_kernel(load("ub", "X", 256), handshake("MTE2", "MTE3"), store("ub", "Y", 256))
    result = emulate(text, X=x, Y=y, blocks=1)
    assert kinds(result) == {"out-of-range"} and not y.any()
