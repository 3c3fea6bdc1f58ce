"""The process-wide switch, apart from TileLang."""

from __future__ import annotations

import threading

import pytest

from tilelang_ascend_sched.plug.patches import Patches
from tilelang_ascend_sched.plug.switch import Switch


class Counter:
    """Counts installs; there is never more than one at a time."""

    def __init__(self) -> None:
        self.installed = 0
        self.switch = Switch(self._install, self._uninstall)

    def _install(self) -> None:
        assert self.installed == 0
        self.installed += 1

    def _uninstall(self) -> None:
        assert self.installed == 1
        self.installed -= 1


@pytest.fixture
def counter() -> Counter:
    return Counter()


def test_set_is_idempotent(counter: Counter):
    for on in (True, True, False, False, True):
        counter.switch.set(on)
        assert counter.switch.is_on() is on
        assert counter.installed == on


def test_overrides_nest(counter: Counter):
    counter.switch.set(True)
    with counter.switch.override(False):
        assert not counter.switch.is_on() and counter.installed == 0
        with counter.switch.override(True):
            assert counter.switch.is_on() and counter.installed == 1
        assert not counter.switch.is_on()
    assert counter.switch.is_on() and counter.installed == 1


def test_overlapping_overrides_leave_the_base_state(counter: Counter):
    counter.switch.set(True)
    first, second = counter.switch.override(False), counter.switch.override(True)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert counter.switch.is_on()
    second.__exit__(None, None, None)
    assert counter.switch.is_on() and counter.installed == 1


def test_pinned_work_keeps_its_state_and_its_bindings(counter: Counter):
    counter.switch.set(True)
    with counter.switch.pinned() as on:
        assert on
        counter.switch.set(False)
        assert counter.switch.is_on() and counter.installed == 1
        with counter.switch.pinned() as inner:
            assert inner
    assert not counter.switch.is_on() and counter.installed == 0


def test_work_pinned_off_stays_off(counter: Counter):
    with counter.switch.pinned() as on:
        assert not on
        counter.switch.set(True)
        assert not counter.switch.is_on() and counter.installed == 1
    assert counter.switch.is_on()


def test_pinning_is_seen_by_its_own_thread_alone(counter: Counter):
    counter.switch.set(True)
    seen: list[bool] = []
    with counter.switch.pinned():
        counter.switch.set(False)
        other = threading.Thread(target=lambda: seen.append(counter.switch.is_on()))
        other.start()
        other.join()
    assert seen == [False]


def test_the_bindings_go_when_the_last_of_many_threads_ends(counter: Counter):
    counter.switch.set(True)
    start, stop = threading.Barrier(9), threading.Event()

    def work() -> None:
        with counter.switch.pinned():
            start.wait(10)
            stop.wait(10)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    start.wait(10)
    counter.switch.set(False)
    assert counter.installed == 1
    stop.set()
    for thread in threads:
        thread.join()
    assert counter.installed == 0


def test_patches_undo_in_reverse_and_remove_what_was_not_there():
    class Thing:
        kept = 1

    patches = Patches()
    patches.set(Thing, "kept", 2)
    patches.set(Thing, "kept", 3)
    patches.set(Thing, "added", 4)
    assert (Thing.kept, Thing.added) == (3, 4)
    patches.undo()
    assert Thing.kept == 1 and not hasattr(Thing, "added")
