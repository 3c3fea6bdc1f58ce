"""What the plugin binds inside TileLang while it is on, each in one place:

- every pass of the chain on ``tilelang.ascend.transform``, where the pipeline looks them up, and
  our passes under the FFI globals ``tl.transform.<Name>``;
- the pass after the chain, which gets the check in front of it;
- the pipeline body, which opens a :class:`~.session.Session`;
- the two solver functions, which TileLang's registered entry points look up at each call;
- a tool that times passes, through TileLang's own instrumentation;
- the cache keys (:mod:`.caches`).
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

from tilelang.ascend import pipeline as stock_pipeline
from tilelang.ascend import transform as stock_transform
from tilelang.ascend.transform import z3_scheduler
from tilelang.instrumentation import (
    PassEventObserver,
    PassInstrumentationTool,
    StackedPassInstrument,
    current_pass_phase,
    register_pass_instrumentation_tool,
    unregister_pass_instrumentation_tool,
)
from tvm import IRModule
from tvm.ir.transform import Pass, PassContext, Sequential, module_pass
from tvm_ffi import get_global_func, register_global_func

from ..options import Options
from ..pipeline import PASSES
from ..transform import GLOBAL_PREFIX, IN_CHAIN, OURS
from ..verify import HINTS_PASSES, PACKING_PASS
from . import caches, session, solving
from .patches import Patches
from .reports import remember
from .switch import Switch

_TOOL = "tilelang_ascend_sched"


class Bindings:
    """Installs and removes everything above; used by the :class:`~.switch.Switch` alone."""

    def __init__(self) -> None:
        self.switch = Switch(self._install, self._uninstall)
        self._patches = Patches()
        self._globals: dict[str, Any] = {}

    def _install(self) -> None:
        for info in PASSES:
            stock = getattr(stock_transform, info.name)
            self._patches.set(stock_transform, info.name, self._chooser(info.name, stock))
        for name in OURS:
            self._globals[name] = get_global_func(f"tl.transform.{name}")
            ours = get_global_func(GLOBAL_PREFIX + name)
            register_global_func(f"tl.transform.{name}", ours, override=True)
        after = stock_transform.AscendThreadSync
        self._patches.set(stock_transform, "AscendThreadSync", self._checked(after))
        pipeline = stock_pipeline.ascend_pipeline
        self._patches.set(pipeline, "_lower", self._lowering(pipeline._lower))
        for name, function in solving.functions().items():
            stock = getattr(z3_scheduler, name)
            self._patches.set(z3_scheduler, name, self._solver(function, stock))
        caches.install(self._patches, self.switch)
        register_pass_instrumentation_tool(_TOOL, _TimingTool)

    def _uninstall(self) -> None:
        unregister_pass_instrumentation_tool(_TOOL)
        self._patches.undo()
        for name, stock in self._globals.items():
            register_global_func(f"tl.transform.{name}", stock, override=True)
        self._globals.clear()

    def _chooser(self, name: str, stock: Callable[..., Pass]) -> Callable[..., Pass]:
        """The constructor of pass ``name`` that asks the lowering whose pass it wants."""

        @functools.wraps(stock)
        def construct(*args: Any, **kwargs: Any) -> Pass:
            lowering = session.current()
            if lowering is not None:
                lowering.runs(name)
                return (IN_CHAIN[name] if lowering.owners[name] else stock)(*args, **kwargs)
            if current_pass_phase() is not None or not self.switch.is_on():
                ours = False  # a lowering that began while the plugin was off
            else:
                config = PassContext.current().config
                ours = Options.from_config(config).owners()[name]
            return (OURS[name] if ours else stock)(*args, **kwargs)

        return construct

    def _checked(self, stock: Callable[[str], Pass]) -> Callable[[str], Pass]:
        """The constructor of the pass after the chain, with the check in front of it."""

        @functools.wraps(stock)
        def construct(scope: str) -> Pass:
            lowering = session.current()
            if lowering is None or not lowering.on or scope != "shared":
                return stock(scope)
            check = module_pass(_check, opt_level=0, name="tl.VerifySchedule")
            return Sequential([check, stock(scope)])

        return construct

    def _lowering(self, stock: Callable[[IRModule, Any], IRModule]) -> Callable[..., IRModule]:
        """The pipeline body that runs under a session."""

        @functools.wraps(stock)
        def lower(mod: IRModule, target: Any) -> IRModule:
            with self.switch.pinned() as on:
                config = PassContext.current().config if on else {}
                names = sorted(str(var.name_hint) for var in mod.functions)
                lowering = session.Session("+".join(names), on, Options.from_config(config))
                with session.active(lowering):
                    result = stock(mod, target)
                if on:
                    lowering.report.scheduled = any(
                        entry.name == "AutoSchedule" for entry in lowering.report.passes
                    )
                    remember(lowering.report)
                    lowering.finish()
                return result

        return lower

    def _solver(self, ours: Callable[..., Any], stock: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(stock)
        def schedule(*args: Any, **kwargs: Any) -> Any:
            lowering = session.current()
            if lowering is not None:
                on = lowering.on
            else:
                on = current_pass_phase() is None and self.switch.is_on()
            return (ours if on else stock)(*args, **kwargs)

        return schedule


def _check(mod: IRModule, _: PassContext) -> IRModule:
    lowering = session.current()
    if lowering is not None:
        lowering.check_kernels(mod)
    return mod


class _TimingTool(PassInstrumentationTool):
    """Times the passes of the chain and shows the session the module around AutoSchedule."""

    def create_pass_instrument(self) -> object:
        return StackedPassInstrument(_Timer(), capture_nested=False)


class _Timer(PassEventObserver):
    def pass_started(self, mod: IRModule, event: Any) -> float:
        lowering = session.current()
        if lowering is not None and lowering.on:
            if event.name == "tl.AutoSchedule":
                lowering.expect_regions(mod)
            elif event.name in HINTS_PASSES and lowering.hinted is None:
                lowering.hinted = mod
            elif event.name == PACKING_PASS:
                lowering.unpacked = mod
        return time.perf_counter()

    def pass_finished(self, mod: IRModule, event: Any, state: float) -> None:
        lowering = session.current()
        if lowering is None or not lowering.on:
            return
        lowering.time_pass(event.name.removeprefix("tl."), time.perf_counter() - state)
        if event.name == "tl.AutoSchedule":
            lowering.read_buffers(mod)
