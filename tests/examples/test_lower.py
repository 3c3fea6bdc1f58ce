"""Every example lowers with TileLang's own passes, and its reference is right."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tilelang

import tilelang_ascend_sched as sched
from examples import WORKLOADS
from tests.kernels.small import SMALL
from tilelang_ascend_sched.target import load_prim_func

SHAPES = {
    "gemm_relu": {"A": (256, 2048), "B": (7168, 2048), "C": (256, 7168)},
    "gemm_cube": {"A": (2048, 2048), "B": (2048, 2048)},
    "gemm_bias_gelu": {"A": (1024, 1024), "B": (2048, 1024), "Bias": (2048,)},
    "gemm_fp8": {"A": (2048, 2048), "B": (2048, 2048)},
    "gemm_l0": {"A": (1024, 2048), "B": (1024, 2048)},
    "gemm_splitk": {"A": (512, 8192), "B": (512, 8192)},
    "gemm_grouped": {"A": (1024, 1024), "B": (4, 1024, 1024), "Size": (4,)},
    "mlp": {"A": (1024, 256), "B1": (256, 256), "B2": (256, 256)},
    "flash_simt": {"Q": (1024, 128), "K": (4096, 128), "V": (4096, 128)},
    "flash_simd": {"Q": (1024, 128), "K": (4096, 128), "V": (4096, 128)},
    "flash_hinted": {"Q": (1024, 128), "K": (4096, 128), "V": (4096, 128)},
    "softmax_rows": {"X": (256, 32768)},
    "rmsnorm": {"X": (4096, 4096)},
    "layernorm_manual": {"X": (4096, 4096)},
    "quant_fp8": {"X": (4096, 7168)},
    "topk": {"X": (4096, 256), "Index": (4096, 8)},
    **{f"streams_{n}": {"X": (n, 8, 256)} for n in (1, 2, 4, 8, 16, 24)},
    "scan_rows": {"X": (64, 65536)},
    "while_sum": {"X": (4096, 512)},
    "dynamic_add": {"X": ("m", 1024)},
    "manual_ring": {"X": (64, 4096)},
    "gemv": {"A": (64, 2048, 2048), "X": (64, 2048)},
}
"""The sizes at which figures are compared, in the order in which they are shown."""

REFUSED = {
    "streams_24": "three event ids a chain are 72; three pipe pairs have 24, and 32 locks exist",
}
"""What TileLang itself cannot lower, and why."""


EXAMPLES = Path(__file__).parents[2] / "examples"


def lower_stock(func) -> str:
    with sched.disabled():
        return sched.lower(func).source


def test_names_and_sizes_stay():
    assert list(WORKLOADS) == list(SHAPES)
    for name, shapes in SHAPES.items():
        buffers = {b.name: b for b in WORKLOADS[name].build().buffer_map.values()}
        for parameter, shape in shapes.items():
            found = buffers[parameter].shape
            assert tuple(getattr(n, "value", None) or n.name for n in found) == shape, name


@pytest.mark.parametrize("name", [name for name in WORKLOADS if name not in REFUSED])
def test_lowers(name):
    source = lower_stock(WORKLOADS[name].build())
    assert source.count('extern "C" __global__') == 1


@pytest.mark.parametrize("name", list(WORKLOADS))
def test_tiny_variant_has_the_same_parameters(name):
    workload = WORKLOADS[name]
    assert workload.tiny
    full, tiny = workload.build(), workload.build(**workload.tiny)
    assert len(full.params) == len(tiny.params)
    for one, other in zip(full.params, tiny.params, strict=True):
        full_buffer, tiny_buffer = full.buffer_map[one], tiny.buffer_map[other]
        assert full_buffer.name == tiny_buffer.name
        assert full_buffer.dtype == tiny_buffer.dtype
        assert len(full_buffer.shape) == len(tiny_buffer.shape)


@pytest.mark.parametrize("name", list(WORKLOADS))
def test_the_command_line_finds_it(name):
    file = "streams" if name.startswith("streams_") else name
    found = load_prim_func(f"{EXAMPLES}/{file}.py:{name}")
    assert tilelang.tvm.ir.structural_equal(found, WORKLOADS[name].build(), map_free_vars=True)


def test_a_file_that_imports_its_neighbour_is_found_first_thing(tmp_path):
    """In a process that has not imported the examples as a package, from another folder."""
    program = (
        "from tilelang_ascend_sched.target import load_prim_func\n"
        f"print(load_prim_func('{EXAMPLES}/flash_hinted.py:flash_hinted').attrs['global_symbol'])"
    )
    environment = os.environ | {"PYTHONPATH": str(EXAMPLES.parent)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "flash_hinted"


@pytest.mark.parametrize("name", list(WORKLOADS))
def test_kernel_is_named_after_its_row(name):
    assert WORKLOADS[name].build().attrs["global_symbol"] == name


@pytest.mark.parametrize("name", list(REFUSED))
def test_refused_by_stock(name):
    with pytest.raises(tilelang.tvm.error.InternalError, match="buf_id"):
        lower_stock(WORKLOADS[name].build())


@pytest.mark.parametrize("name", list(SMALL))
def test_small_kernel_lowers(name):
    assert 'extern "C" __global__' in lower_stock(SMALL[name].build())


def test_many_flags_spills():
    assert "asc_lock(" in lower_stock(SMALL["many_flags"].build())


@pytest.mark.parametrize("name", ["gemm_relu", "gemm_cube"])
def test_no_synchronization_is_written_by_hand(name):
    script = WORKLOADS[name].build().script()
    assert "flag" not in script and "barrier" not in script and "sync" not in script


@pytest.mark.parametrize("workload", [*WORKLOADS.values(), *SMALL.values()], ids=lambda w: w.name)
def test_data_fits_the_signature(workload):
    """Inputs and outputs have the names, shapes and types of the kernel's parameters."""
    func = workload.build(**workload.tiny)
    inputs = workload.inputs(np.random.default_rng(0), **workload.tiny)
    expected = workload.reference(**inputs)
    assert set(expected) == set(workload.tolerances)
    arrays = inputs | expected
    buffers = {buffer.name: buffer for buffer in func.buffer_map.values()}
    assert set(arrays) == set(buffers)
    symbols: dict[str, int] = {}
    for name, buffer in buffers.items():
        assert str(buffer.dtype) == str(arrays[name].dtype)
        for extent, length in zip(buffer.shape, arrays[name].shape, strict=True):
            wanted = extent.value if hasattr(extent, "value") else None
            if wanted is None:
                wanted = symbols.setdefault(extent.name, length)
            assert length == wanted


def tiny_case(name: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    workload = WORKLOADS[name]
    inputs = workload.inputs(np.random.default_rng(1), **workload.tiny)
    wide = {
        key: array.astype(np.float64) if array.dtype != np.int32 else array
        for key, array in inputs.items()
    }
    return wide, workload.reference(**inputs)


def assert_right(name: str, output: str, actual: np.ndarray, expected: np.ndarray) -> None:
    assert WORKLOADS[name].mismatch(output, actual.astype(expected.dtype), expected) is None


def rounded(x: np.ndarray, dtype: type) -> np.ndarray:
    return x.astype(np.float32).astype(dtype).astype(np.float64)


GEMM = ["gemm_relu", "gemm_cube", "gemm_bias_gelu", "gemm_fp8", "gemm_l0", "gemm_splitk"]


@pytest.mark.parametrize("name", GEMM)
def test_gemm_references(name):
    """Term by term, in float64."""
    inputs, expected = tiny_case(name)
    product = np.einsum("mk,nk->mn", inputs["A"], inputs["B"])
    if name == "gemm_relu":
        product = np.where(product > 0, product, 0)
    if name == "gemm_bias_gelu":
        product += inputs["Bias"]
        # tanh(y) = 1 - 2 / (1 + exp(2y))
        inner = 2 * np.sqrt(2 / np.pi) * (product + 0.044715 * product**3)
        product -= product / (1 + np.exp(inner))
    assert_right(name, "C", product, expected["C"])


def test_grouped_reference_takes_each_row_for_itself():
    inputs, expected = tiny_case("gemm_grouped")
    for row, values in enumerate(expected["C"]):
        groups = [
            g
            for g, (first, size) in enumerate(zip(inputs["Start"], inputs["Size"], strict=True))
            if first <= row < first + size
        ]
        assert len(groups) <= 1
        weights = inputs["B"][groups[0]] if groups else np.zeros_like(inputs["B"][0])
        np.testing.assert_allclose(values, weights @ inputs["A"][row], rtol=1e-5, atol=1e-3)


def test_mlp_reference():
    inputs, expected = tiny_case("mlp")
    hidden = rounded(np.einsum("mk,hk->mh", inputs["A"], inputs["B1"]), ml_dtypes.bfloat16)
    result = np.einsum("mh,nh->mn", np.where(hidden > 0, hidden, 0), inputs["B2"])
    assert_right("mlp", "C", result, expected["C"])


@pytest.mark.parametrize("name", ["flash_simt", "flash_simd", "flash_hinted"])
def test_attention_references(name):
    """Key by key, the way a kernel never would: with exact weights for one query at a time."""
    inputs, expected = tiny_case(name)
    for query, values in zip(inputs["Q"], expected["O"], strict=True):
        weights = np.array([np.exp(query @ key / np.sqrt(len(query))) for key in inputs["K"]])
        mean = sum(w * v for w, v in zip(weights, inputs["V"], strict=True)) / weights.sum()
        np.testing.assert_allclose(values, mean, atol=1e-5)


def test_norm_references():
    inputs, expected = tiny_case("rmsnorm")
    x = inputs["X"]
    scale = np.sqrt((x * x).sum(1) / x.shape[1] + 1e-6)
    assert_right("rmsnorm", "Y", x / scale[:, None] * inputs["W"], expected["Y"])
    inputs, expected = tiny_case("layernorm_manual")
    x = inputs["X"]
    mean = x.mean(1)
    variance = (x * x).mean(1) - mean**2
    norm = (x - mean[:, None]) / np.sqrt(variance + 1e-5)[:, None]
    result = norm * inputs["Gamma"] + inputs["Beta"]
    assert_right("layernorm_manual", "Y", result, expected["Y"])


def test_softmax_reference_sums_to_one():
    inputs, expected = tiny_case("softmax_rows")
    np.testing.assert_allclose(expected["Y"].sum(1), 1, rtol=1e-5)
    ratio = np.log(expected["Y"].astype(np.float64)[:, 1:] / expected["Y"][:, :1])
    np.testing.assert_allclose(ratio, inputs["X"][:, 1:] - inputs["X"][:, :1], atol=1e-4)


def test_quantization_loses_less_than_a_step():
    inputs, expected = tiny_case("quant_fp8")
    y = expected["Y"].astype(np.float64)
    assert np.abs(y).max() == 448
    back = y * expected["S"][:, None].astype(np.float64)
    np.testing.assert_allclose(back, inputs["X"], rtol=2**-4, atol=expected["S"].max() * 2**-10)


def test_topk_reference_settles_ties_by_place():
    inputs, expected = tiny_case("topk")
    for row, values, places in zip(inputs["X"], expected["Value"], expected["Index"], strict=True):
        pairs = sorted((-score, place) for place, score in enumerate(row))[: len(values)]
        assert [(-value, place) for value, place in zip(values, places, strict=True)] == pairs


def test_running_references():
    inputs, expected = tiny_case("scan_rows")
    np.testing.assert_allclose(np.diff(expected["Y"], axis=1), inputs["X"][:, 1:], atol=1e-4)
    inputs, expected = tiny_case("while_sum")
    share = len(inputs["X"]) // len(inputs["Count"])
    for block, (count, values) in enumerate(zip(inputs["Count"], expected["Sum"], strict=True)):
        total = np.zeros_like(values, np.float64)
        for row in range(count):
            total += inputs["X"][block * share + row]
        np.testing.assert_allclose(values, total, rtol=1e-5, atol=1e-5)


def test_gemv_reference():
    inputs, expected = tiny_case("gemv")
    result = np.einsum("bmk,bk->bm", inputs["A"], inputs["X"])
    assert_right("gemv", "Y", result, expected["Y"])


def test_a_wrong_result_is_told_with_its_place():
    workload = WORKLOADS["gemm_cube"]
    expected = np.ones((2, 3), np.float32)
    actual = expected.copy()
    assert workload.mismatch("C", actual, expected) is None
    actual[1, 2] = np.nan
    assert "at [1, 2]: nan where 1 is expected" in workload.mismatch("C", actual, expected)
    assert "float32[2, 3] is expected" in workload.mismatch("C", actual[:1], expected)
