"""The plugin inside TileLang: what it binds, what it leaves, what a lowering sees."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
import tilelang
from tilelang.ascend import pipeline as stock_pipeline
from tilelang.ascend import transform as stock_transform
from tilelang.ascend.transform import z3_scheduler
from tvm.ir.transform import PassContext
from tvm.target import Target
from tvm_ffi import get_global_func

import tilelang_ascend_sched as plugin
from tests.plug.kernels import jit_scale, scale
from tilelang_ascend_sched.pipeline import PASSES
from tilelang_ascend_sched.transform import OURS


def lower(func) -> str:
    with Target("ascend"):
        return tilelang.lower(func, target="ascend").kernel_source


def bound() -> dict[str, object]:
    """Everything of TileLang's that the plugin touches."""
    from tilelang.autotuner.tuner import AutoTuneImpl, AutoTuner
    from tilelang.cache.kernel_cache import KernelCache
    from tilelang.instrumentation import session
    from tilelang.jit import JITImpl

    state: dict[str, object] = {info.name: getattr(stock_transform, info.name) for info in PASSES}
    state |= {owner.__name__: dict(vars(owner)) for owner in (KernelCache, AutoTuner, JITImpl)}
    state["AutoTuneImpl"] = dict(vars(AutoTuneImpl))
    state["pipeline"] = stock_pipeline.ascend_pipeline._lower
    state["solver"] = dict(vars(z3_scheduler))
    state["tools"] = dict(session._tool_factories)
    return state


def test_off_leaves_tilelang_as_found():
    with plugin.disabled():
        found = bound()
    with plugin.disabled():
        assert bound() == found
    assert bound() != found
    for name in OURS:
        with plugin.disabled():
            assert get_global_func(f"tl.transform.{name}")().info.name == f"tl.{name}"


def test_untouched_process_and_disabled_plugin_have_the_same_bindings():
    code = (
        "import tilelang, tilelang.ascend.transform as t, tilelang.ascend.pipeline as p\n"
        "from tilelang.ascend.transform import z3_scheduler as z\n"
        "from tilelang.jit import JITImpl\n"
        "def now():\n"
        "    return (dict(vars(t)), dict(vars(z)), dict(vars(JITImpl)), p.ascend_pipeline._lower)\n"
        "before = now()\n"
        "import tilelang_ascend_sched as plugin\n"
        "assert now() != before\n"
        "plugin.disable()\n"
        "assert now() == before\n"
        "print('same')\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stdout.strip()) == (0, "same"), run.stderr


@pytest.mark.parametrize("ending", ["", "plugin.disable()", "plugin.disable(); plugin.enable()"])
def test_interpreter_exits_cleanly_after_lowering(ending: str):
    code = (
        "import tilelang_ascend_sched as plugin\n"
        "from tests.plug.kernels import scale\n"
        "assert plugin.lower(scale()).source\n" + ending
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_passes_are_named_passes():
    for info in PASSES:
        assert getattr(stock_transform, info.name)().info.name == f"tl.{info.name}"


def test_report_says_whose_each_pass_was_and_how_long_it_took():
    lowered = plugin.lower(scale())
    passes = {entry.name: entry for entry in lowered.report.passes}
    assert list(passes) == [info.name for info in PASSES]
    for name, entry in passes.items():
        assert entry.owner == ("ours" if name in OURS else "stock")
        assert entry.seconds is not None and entry.seconds >= 0


def test_report_describes_the_loop():
    loop = plugin.lower(scale(n=8)).report.loops[0]
    assert (loop.kind, loop.name, loop.trips) == ("loop", "i", 8)
    assert loop.tasks == ["ascend_copy(A, tile)", "simt_vf(tile)", "ascend_copy(tile, B)"]
    assert loop.verdict == "optimal" and loop.ii == loop.ii_bound > 0 and loop.witness
    assert loop.objective == "time" and loop.value == loop.lower_bound > 7 * loop.ii


def test_report_counts_buffer_bytes():
    report = plugin.lower(scale()).report
    assert [(b.name, b.scope, b.versions, b.bytes) for b in report.buffers] == [
        ("tile", "UB", 2, 2 * 256 * 4)
    ]
    assert report.scope_bytes() == {"UB": 2048}


def test_stock_passes_by_option():
    lowered = plugin.lower(scale(), pass_configs={"tl.ascend_sched.passes": "stock"})
    assert {entry.owner for entry in lowered.report.passes} == {"stock"}
    one = "stock,RewriteFlagToBuf=ours"
    lowered = plugin.lower(scale(), pass_configs={"tl.ascend_sched.passes": one})
    ours = [entry.name for entry in lowered.report.passes if entry.owner == "ours"]
    assert ours == ["RewriteFlagToBuf"]


def test_no_scheduling_means_none():
    lowered = plugin.lower(scale(), pass_configs={"tl.enable_auto_schedule": False})
    assert not lowered.report.scheduled and not lowered.report.loops
    ran = [entry.name for entry in lowered.report.passes]
    assert ran == ["MergeUBAllocations", "RewriteFlagToBuf"]
    with plugin.disabled(), PassContext(config={"tl.enable_auto_schedule": False}):
        assert lower(scale()) == lowered.source


def test_off_gives_what_stock_gives():
    with plugin.disabled():
        assert not plugin.is_enabled()
        off = plugin.lower(scale())
        assert off.report is None and off.source == lower(scale())


def test_bad_option_stops_the_lowering():
    with pytest.raises(ValueError, match="allowed are auto, heuristic, branch, cpsat, z3"):
        plugin.lower(scale(), pass_configs={"tl.ascend_sched.engine": "magic"})


def test_report_file_is_written(tmp_path):
    path = tmp_path / "report.json"
    lowered = plugin.lower(scale(), pass_configs={"tl.ascend_sched.report": str(path)})
    assert path.read_text() == lowered.report.to_json() + "\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.json"]


def test_last_report_by_kernel():
    plugin.lower(scale(name="first"))
    plugin.lower(scale(name="second"))
    assert plugin.last_report().kernel == "second"
    assert plugin.last_report("first").kernel == "first"
    with pytest.raises(LookupError, match="no schedule report of kernel 'third'"):
        plugin.last_report("third")


def test_dumps_hold_our_passes_by_name(tmp_path):
    plugin.lower(scale(), dump_ir=tmp_path / "a")
    with plugin.dump_ir(tmp_path / "b"):
        lower(scale())
    for folder in ("a", "b"):
        names = {path.stem.partition("_")[2] for path in (tmp_path / folder).iterdir()}
        assert {f"tl.{info.name}" for info in PASSES} <= names


def test_compile_dumps_our_passes_by_name(tmp_path):
    configs = {"tl.enable_dump_ir": True, "tl.dump_ir_path": str(tmp_path)}
    # Without a CANN toolkit compilation stops after lowering.
    with pytest.raises(Exception, match=r"(?i)bisheng"):
        tilelang.compile(scale(name="dumped"), target="ascend", pass_configs=configs)
    names = {path.stem.partition("_")[2] for path in tmp_path.iterdir()}
    assert {f"tl.{info.name}" for info in PASSES} <= names
    assert plugin.last_report("dumped").loops


def test_refused_kernel_is_refused_alike():
    import tilelang.ascend.language as T

    @T.prim_func
    def nowhere(A: T.Tensor((4, 256), T.float32)):
        with T.Kernel(1):
            T.ascend_cross_core_set_flag(4, "PIPE_S", 1)  # both cores have it, and nothing else

    messages = []
    for on in (True, False):
        with plugin.enabled() if on else plugin.disabled(), pytest.raises(Exception) as error:
            lower(nowhere)
        messages.append((type(error.value), str(error.value).splitlines()[-1]))
    assert messages[0] == messages[1]


def test_a_lowering_keeps_the_state_it_began_with():
    """Switching off in the middle of a lowering, from another thread, does not mix chains."""
    inside, go_on = threading.Event(), threading.Event()
    real = stock_transform.AssignCore

    def pausing():
        inside.set()
        assert go_on.wait(60)
        return real()

    reports = []
    stock_transform.AssignCore = pausing
    try:
        worker = threading.Thread(target=lambda: reports.append(plugin.lower(scale()).report))
        worker.start()
        assert inside.wait(60)
        with plugin.disabled():
            assert not plugin.is_enabled()
            go_on.set()
            worker.join()
    finally:
        stock_transform.AssignCore = real
    owners = {entry.name: entry.owner for entry in reports[0].passes}
    assert owners["RewriteFlagToBuf"] == "ours" and owners["RestoreWhileLoops"] == "ours"


def test_parallel_lowerings_fill_their_own_reports():
    results: dict[str, plugin.ScheduleReport] = {}

    def work(count: int) -> None:
        name = f"kernel_{count}"
        results[name] = plugin.lower(scale(n=count, name=name)).report

    threads = [threading.Thread(target=work, args=(count,)) for count in range(2, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    for name, report in results.items():
        assert report.kernel == name
        assert [loop.trips for loop in report.loops if loop.kind == "loop"] == [int(name[7:])]


def test_same_bytes_in_every_process():
    code = (
        "import tilelang_ascend_sched as plugin\n"
        "from tests.plug.kernels import scale\n"
        "print(plugin.lower(scale()).source)\n"
    )
    texts = set()
    for seed in ("0", "1", "77"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=300,
            env={**__import__("os").environ, "PYTHONHASHSEED": seed},
        )
        assert run.returncode == 0, run.stderr
        texts.add(run.stdout)
    assert len(texts) == 1


def test_jit_objects_lower():
    assert plugin.lower(jit_scale).source == plugin.lower(scale()).source


def test_what_cannot_be_lowered_is_refused_in_one_line(tmp_path):
    with pytest.raises(ValueError, match=r"expected a prim_func .*, got int"):
        plugin.lower(3)
    with pytest.raises(ValueError, match=r"unknown pass-config key.*allowed are"):
        plugin.lower(scale(), pass_configs={"tl.ascend_sched.nope": 1})
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="it is a file"):
        plugin.lower(scale(), dump_ir=tmp_path / "file")
