"""Tiny AscendC kernels around one SIMD or SIMT body, run by the emulator."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tilelang_ascend_sched.emulator import Result, emulate

VL = 256
"""Bytes of a vector register."""

DTYPES = {
    "float": np.dtype(np.float32),
    "half": np.dtype(np.float16),
    "bfloat16_t": np.dtype(ml_dtypes.bfloat16),
    "float8_e4m3_t": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8_e5m2_t": np.dtype(ml_dtypes.float8_e5m2),
    **{f"{s}int{b}_t": np.dtype(f"{s}int{b}") for b in (8, 16, 32, 64) for s in ("", "u")},
}
"""Element types of registers by their C++ name."""


def lanes(ctype: str) -> int:
    return VL // DTYPES[ctype].itemsize


_TEXT = """#include <tl_templates/ascend/common.h>
#include <tl_templates/ascend/debug.h>
#include <tl_templates/ascend/simd_inst.h>
{header}
{definition}
extern "C" __global__ __vector__ void program(__gm__ uint8_t* In, __gm__ uint8_t* Out) {{
  asc_init();
  __ubuf__ uint8_t *ub = (__ubuf__ uint8_t *)0;
  asc_copy_gm2ub_align((__ubuf__ uint8_t*)(ub), (__gm__ uint8_t*)(In), 1, {bytes}, 0, 0, 0,
                       static_cast<asc_load_l2_cache_mode>(0), {bytes}, {bytes});
  asc_sync_notify(PIPE_MTE2, PIPE_V, static_cast<event_t>(0));
  asc_sync_wait(PIPE_MTE2, PIPE_V, static_cast<event_t>(0));
  {before}
  {call}
  asc_sync_notify(PIPE_V, PIPE_MTE3, static_cast<event_t>(0));
  asc_sync_wait(PIPE_V, PIPE_MTE3, static_cast<event_t>(0));
  asc_copy_ub2gm_align((__gm__ uint8_t*)(Out), (__ubuf__ uint8_t*)(ub), 1, {bytes},
                       static_cast<asc_store_l2_cache_mode>(0), {bytes}, {bytes});
}}
"""


class Program:
    """Statements over named UB buffers.

    ``input`` and ``output`` return C++ pointer expressions to be used in ``body`` lines. All of UB
    that is used is copied in before the body and out after it.
    """

    def __init__(self) -> None:
        self._fields: dict[str, tuple[int, np.ndarray]] = {}
        self._size = 0
        self.lines: list[str] = []
        self.header = ""
        """Text before the body, such as another template's include."""
        self.call_before = ""
        """A call of a function of ``header``, just before that of the body."""
        self.text = ""
        """What was run."""

    def _place(self, name: str, array: np.ndarray) -> str:
        assert name not in self._fields, name
        array = np.array(array)
        self._fields[name] = (self._size, array)
        pointer = f"({self.ctype(array.dtype)}*)(ub + {self._size})"
        self._size += -(-array.nbytes // VL) * VL
        return f"((__ubuf__ {pointer[1:]})"

    @staticmethod
    def ctype(dtype: np.dtype) -> str:
        return next(name for name, d in DTYPES.items() if d == dtype)

    def input(self, name: str, array: np.ndarray) -> str:
        return self._place(name, np.asarray(array))

    def output(self, name: str, dtype: np.dtype | type, count: int) -> str:
        """``count`` elements, each byte 0xcc until the body writes it."""
        empty = np.full(count * np.dtype(dtype).itemsize, 0xCC, np.uint8).view(dtype)
        return self._place(name, empty)

    def add(self, *lines: str) -> None:
        self.lines += lines

    def simd(self) -> tuple[dict[str, np.ndarray], Result]:
        body = "\n".join(f"  {line}" for line in self.lines)
        definition = f"__simd_vf__ inline void body(__ubuf__ uint8_t* ub) {{\n{body}\n}}\n"
        return self._run(definition, "body(ub);")

    def simt(self, threads: str) -> tuple[dict[str, np.ndarray], Result]:
        """``threads``: the extents, for example ``"128"`` or ``"32, 4"``."""
        body = "\n".join(f"  {line}" for line in self.lines)
        definition = f"__simt_vf__ inline void body(__ubuf__ uint8_t* ub) {{\n{body}\n}}\n"
        return self._run(definition, f"asc_vf_call<body>(cce::dim3({threads}), ub);")

    def _run(self, definition: str, call: str) -> tuple[dict[str, np.ndarray], Result]:
        memory = np.zeros(self._size, np.uint8)
        for offset, array in self._fields.values():
            memory[offset : offset + array.nbytes] = array.reshape(-1).view(np.uint8)
        text = _TEXT.format(
            header=self.header,
            definition=definition,
            before=self.call_before,
            call=call,
            bytes=self._size,
        )
        self.text = text
        out = np.zeros_like(memory)
        result = emulate(text, blocks=1, In=memory, Out=out)
        values = {
            name: out[offset : offset + array.nbytes].view(array.dtype).reshape(array.shape)
            for name, (offset, array) in self._fields.items()
        }
        return values, result


def predicate_bits(mask: np.ndarray, itemsize: int) -> np.ndarray:
    """The 32 bytes of a predicate register that activates ``mask`` for elements of that size."""
    bits = np.zeros(VL, np.uint8)
    bits[::itemsize] = mask
    return np.packbits(bits, bitorder="little")


def samples(ctype: str, rng: np.random.Generator, count: int | None = None) -> np.ndarray:
    """Random lanes; floats are of many magnitudes, integers of the whole range."""
    dtype = DTYPES[ctype]
    n = count or lanes(ctype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        values[: n // 4] = rng.integers(0, 20, n // 4)
        return values
    values = rng.standard_normal(n) * 2.0 ** rng.integers(-4, 5, n)
    return values.astype(np.float32).astype(dtype)


def same(actual: np.ndarray, expected: np.ndarray) -> bool:
    """Bitwise equal, but for the payload of NaN."""
    a, e = np.asarray(actual), np.asarray(expected).astype(actual.dtype)
    if a.dtype.kind in "iu":
        return bool((a == e).all())
    x, y = a.astype(np.float64), e.astype(np.float64)
    nan = np.isnan(x) & np.isnan(y)
    return bool((nan | ((x == y) & (np.signbit(x) == np.signbit(y)))).all())
