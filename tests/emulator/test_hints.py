"""Declarations of no conflict: a wrong one is told by name and line, a right one is silent.

No postponed annotations: see ``examples``.
"""

import numpy as np
import pytest
import tilelang.ascend.language as T

import tilelang_ascend_sched as sched
from tilelang_ascend_sched.emulator import Finding, Result, Site, emulate, hints, launch

N, WIDTH = 6, 64


def rows():
    """A new one for each parameter: TileLang takes one object for one tensor."""
    return T.Tensor((N, WIDTH), T.float32)


def index():
    """See ``rows``."""
    return T.Tensor((N,), T.int32)


def scatter():
    """Rows go where Place says."""

    @T.prim_func
    def scatter(X: rows(), Place: index(), Y: rows()):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(N, num_stages=2):
                T.assume_no_conflict(Y)
                T.copy(X[i, 0:WIDTH], x)
                T.copy(x, Y[Place[i], 0:WIDTH])

    return scatter


def scatter_slices():
    """The same with a declaration of the slice, which TileLang's own passes do not find again."""

    @T.prim_func
    def scatter_slices(X: rows(), Place: index(), Y: rows()):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(N, num_stages=2):
                T.assume_no_conflict(Y[Place[i], 0:WIDTH])
                T.copy(X[i, 0:WIDTH], x)
                T.copy(x, Y[Place[i], 0:WIDTH])

    return scatter_slices


def slots():
    """The first rows of a UB buffer are refilled while row Place[i] is stored."""

    @T.prim_func
    def slots(X: rows(), Place: index(), Y: rows()):
        with T.Kernel(1):
            s = T.alloc_shared((N, WIDTH), T.float32)
            T.copy(X, s)
            for i in T.serial(N // 2):
                T.assume_no_conflict(s[T.clamp(Place[i], 0, N - 1), 0:WIDTH], s[i, 0:WIDTH])
                T.copy(s[T.clamp(Place[i], 0, N - 1), 0:WIDTH], Y[i, 0:WIDTH])
                T.copy(X[i, 0:WIDTH], s[i, 0:WIDTH])

    return slots


def two_hints():
    """Two tensors are written where Place and Other say."""

    @T.prim_func
    def two_hints(X: rows(), Place: index(), Other: index(), Y: rows(), Z: rows()):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(N, num_stages=2):
                T.assume_no_conflict(Y)
                T.assume_no_conflict(Z)
                T.copy(X[i, 0:WIDTH], x)
                T.copy(x, Y[Place[i], 0:WIDTH])
                T.copy(x, Z[Other[i], 0:WIDTH])

    return two_hints


def group():
    """One loop writes rows, the next reads them, each where its own index says."""

    @T.prim_func
    def group(X: rows(), Place: index(), Other: index(), Y: rows(), Z: rows()):
        with T.Kernel(1):
            x = T.alloc_shared((WIDTH,), T.float32)
            z = T.alloc_shared((WIDTH,), T.float32)
            for i in T.Pipelined(N // 2, num_stages=2):
                T.assume_no_conflict(Y[Place[i], 0:WIDTH], group="rows")
                T.copy(X[i, 0:WIDTH], x)
                T.copy(x, Y[Place[i], 0:WIDTH])
            for j in T.Pipelined(N // 2, num_stages=2):
                T.assume_no_conflict(Y[Other[j], 0:WIDTH], group="rows")
                T.copy(Y[Other[j], 0:WIDTH], z)
                T.copy(z, Z[j, 0:WIDTH])

    return group


RIGHT = np.array([3, 0, 5, 1, 4, 2], np.int32)
WRONG = np.array([3, 3, 3, 1, 1, 1], np.int32)


def line(part: str) -> int:
    """Of the only line of this file that holds ``part`` first."""
    with open(__file__) as file:
        return next(i for i, text in enumerate(file, 1) if part in text)


def arrays(**given: np.ndarray) -> dict[str, np.ndarray]:
    made = {"X": np.arange(N * WIDTH, dtype=np.float32).reshape(N, WIDTH), **given}
    return made | {"Y": np.zeros((N, WIDTH), np.float32)}


@pytest.fixture(params=[True, False], ids=["ours", "stock"])
def passes(request):
    with sched.enabled() if request.param else sched.disabled():
        yield


@pytest.mark.usefixtures("passes")
class TestDeclarations:
    def test_right(self):
        data = arrays(Place=RIGHT)
        result = emulate(scatter(), **data)
        assert result.ok, result.findings
        assert (data["Y"][RIGHT] == data["X"]).all()

    @pytest.mark.parametrize("policy", ["eager", "random"])
    def test_wrong(self, policy):
        result = emulate(scatter(), policy=policy, **arrays(Place=WRONG))
        (finding,) = result.findings
        assert finding.kind == "wrong-hint"
        assert finding.message.startswith(
            f"assume_no_conflict(Y) at test_hints.py:{line('T.assume_no_conflict(Y)')} is wrong: "
            "only this declaration excuses a WAW race on GM Y bytes 768..1023"
        )
        assert [s.pipe for s in finding.sites] == ["MTE3", "MTE3"]

    def test_on_chip(self):
        data = arrays(Place=np.array([5, 3, 4, 0, 0, 0], np.int32))
        assert emulate(slots(), **data).ok
        assert (data["Y"][:3] == data["X"][[5, 3, 4]]).all()
        result = emulate(slots(), **arrays(Place=np.arange(N, dtype=np.int32)))
        assert {f.kind for f in result.findings} == {"wrong-hint"}
        place = f"at test_hints.py:{line('T.assume_no_conflict(s[')} is wrong"
        assert all(place in f.message and " race on UB bytes" in f.message for f in result.findings)

    @pytest.mark.parametrize("wrong", ["Y", "Z"])
    def test_one_of_two(self, wrong):
        data = arrays(Place=RIGHT, Other=RIGHT, Z=np.zeros((N, WIDTH), np.float32))
        data["Place" if wrong == "Y" else "Other"] = WRONG
        (finding,) = emulate(two_hints(), **data).findings
        assert finding.kind == "wrong-hint" and f"race on GM {wrong} " in finding.message
        assert finding.message.startswith(f"assume_no_conflict({wrong}) at")

    def test_group(self):
        """TileLang's own passes do not find these slices again, so they order the two loops."""
        z = np.zeros((N, WIDTH), np.float32)
        data = arrays(Place=RIGHT, Other=RIGHT[::-1].copy(), Z=z)
        assert emulate(group(), **data).ok
        found = emulate(group(), **{**data, "Other": RIGHT}).findings
        assert [f.kind for f in found] == (["wrong-hint"] if sched.is_enabled() else [])
        assert all("of group 'rows' at test_hints.py:" in str(f) for f in found)

    def test_slice(self):
        found = emulate(scatter_slices(), **arrays(Place=WRONG)).findings
        assert [f.kind for f in found] == (["wrong-hint"] if sched.is_enabled() else [])
        assert all(str(f).startswith("wrong-hint: assume_no_conflict(Y[Place[i], 0") for f in found)


def test_saved_text_knows_of_no_declarations():
    """Nothing in it tells why nothing orders the two."""
    with sched.disabled():
        text = launch.lower(scatter()).text
    (finding,) = emulate(text, blocks=1, **arrays(Place=WRONG)).findings
    assert finding.kind == "race-same-pipe"


def test_a_race_that_stays_without_the_declaration_is_no_fault_of_it():
    declared = hints.hints_of(scatter())
    sites = (Site("AIV0", "MTE2", "load", "kernel.asc", 7, 0),) * 2
    race = Finding("race", "WAW race on GM Y bytes 0..3: ...", 0, sites)
    elsewhere = Finding("race", "WAW race on GM X bytes 0..3: ...", 0, sites)
    moved = Finding("race", "WAW race on GM Y bytes 8..11: ...", 0, sites)
    found = Result((race, elsewhere), ())
    assert hints.judge(found, declared, lambda _: Result((moved,), ())) == found
    told = hints.judge(found, declared, lambda _: Result((), ()))
    assert [f.kind for f in told.findings] == ["wrong-hint", "race"]
    assert hints.judge(found, (), lambda _: Result((), ())) == found
