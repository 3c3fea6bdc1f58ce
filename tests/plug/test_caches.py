"""No cache of TileLang's hands out a kernel made under another plugin state or other options."""

from __future__ import annotations

import itertools

import pytest
import tilelang
from tilelang.autotuner.tuner import AutoTuner
from tilelang.cache.kernel_cache import KernelCache
from tilelang.jit import JITImpl

import tilelang_ascend_sched as plugin
from tests.plug.kernels import jit_scale, scale
from tilelang_ascend_sched import native
from tilelang_ascend_sched.plug import caches


def kernel_key(**pass_configs) -> str:
    return KernelCache()._generate_key(
        scale(), [1], args=(), target="ascend", pass_configs=pass_configs
    )


CONFIGS = (
    {},
    {"tl.ascend_sched.passes": "stock"},
    {"tl.ascend_sched.engine": "z3"},
    {"tl.ascend_sched.objective": "ii"},
    {"tl.ascend_sched.budget": 5},
    {"tl.ascend_sched.seed": 5},
    {"tl.ascend_sched.strict": True},
)


def test_kernel_cache_keys_differ_by_state_and_options():
    keys = [kernel_key(**config) for config in CONFIGS]
    with plugin.disabled():
        keys.append(kernel_key())
    assert all(a != b for a, b in itertools.combinations(keys, 2))
    assert keys[0] == kernel_key()


def test_keys_are_stocks_own_while_off():
    stock = KernelCache._generate_key.__wrapped__
    arguments = ([1], "tvm_ffi", (), "ascend", None, {}, None)
    with plugin.disabled():
        assert KernelCache()._generate_key(scale(), *arguments) == stock(
            KernelCache(), scale(), *arguments
        )


def test_fingerprint_follows_library_solver_and_owners(monkeypatch):
    seen = {caches.fingerprint({})}
    with monkeypatch.context() as patch:
        patch.setattr(native, "digest", lambda: "another library")
        seen.add(caches.fingerprint({}))
    with monkeypatch.context() as patch:
        patch.setattr(caches, "_solver_versions", lambda: ["another", "solver"])
        seen.add(caches.fingerprint({}))
    seen.add(caches.fingerprint({"tl.ascend_sched.passes": "RewriteFlagToBuf=stock"}))
    assert len(seen) == 4
    assert caches.fingerprint({"tl.ascend_sched.report": "x"}) == caches.fingerprint({})
    assert caches.fingerprint({"tl.ascend_sched.passes": "ours"}) == caches.fingerprint({})


def test_bad_options_are_refused_before_anything_is_compiled():
    with pytest.raises(ValueError, match=r"tl\.ascend_sched\.strct.*allowed are"):
        tilelang.compile(scale(), target="ascend", pass_configs={"tl.ascend_sched.strct": True})


def test_autotuner_keys_differ_by_state_and_options():
    def key(**pass_configs) -> str | None:
        tuner = AutoTuner(jit_scale.func, configs=[{"n": 4}])
        tuner.set_compile_args(target="ascend", pass_configs=pass_configs)
        tuner.fn = scale
        return tuner.generate_cache_key({}, {})

    keys = [key(), key(**{"tl.ascend_sched.engine": "z3"})]
    with plugin.disabled():
        keys.append(key())
    assert len({*keys}) == 3


@pytest.mark.parametrize("name", ["_kernel_cache", "_call_form_cache", "_tuner_cache"])
def test_jit_objects_keep_one_dictionary_a_state(name: str):
    on = getattr(jit_scale, name)
    assert getattr(jit_scale, name) is on
    with plugin.disabled():
        off = getattr(jit_scale, name)
        assert off is jit_scale.__dict__[name] and off is not on
        assert name not in vars(JITImpl)
    assert getattr(jit_scale, name) is on


def test_jit_recompiles_when_the_state_changes(monkeypatch):
    compiled: list[bool] = []

    def compile_stub(self: JITImpl, *args, **kwargs) -> str:
        compiled.append(plugin.is_enabled())
        return f"kernel {len(compiled)}"

    monkeypatch.setattr(JITImpl, "compile", compile_stub)
    results = []
    for on in (True, False, True, False):
        with plugin.enabled() if on else plugin.disabled():
            results.append(jit_scale(5))
    assert compiled == [True, False]
    assert results == ["kernel 1", "kernel 2", "kernel 1", "kernel 2"]
