"""Arguments of a kernel: from numpy arrays and torch tensors to files that the worker maps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

_NUMPY: dict[str, Any] = {
    "float": np.float32,
    "half": np.float16,
    "bfloat16_t": ml_dtypes.bfloat16,
    "fp8_e4_t": ml_dtypes.float8_e4m3fn,
    "float8_e4m3_t": ml_dtypes.float8_e4m3fn,
    "fp8_e5_t": ml_dtypes.float8_e5m2,
    "float8_e5m2_t": ml_dtypes.float8_e5m2,
    "fp8_e8_t": ml_dtypes.float8_e8m0fnu,
    "fp8_e8m0_t": ml_dtypes.float8_e8m0fnu,
    "float8_e8m0_t": ml_dtypes.float8_e8m0fnu,
    "float4_e2m1x2_t": np.uint8,
    "bool": np.bool_,
    "double": np.float64,
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_SAME_BYTES = {"bool": {"int8", "uint8"}, "uint8": {"int8", "float4_e2m1fn_x2"}, "int8": {"uint8"}}
_TVM_NAMES = {"float8_e4m3": "float8_e4m3fn", "float4_e2m1fn": "uint8", "float4_e2m1fnx2": "uint8"}


def dtype_of(ctype: str) -> np.dtype:
    """The numpy dtype of an AscendC element type. ValueError if there is none."""
    if ctype not in _NUMPY:
        raise ValueError(f"element type `{ctype}` is not known to the emulator")
    return np.dtype(_NUMPY[ctype])


def numpy_dtype(name: str) -> np.dtype:
    """The numpy dtype of a TVM dtype name. Packed 4-bit types are bytes."""
    name = _TVM_NAMES.get(name, name)
    return np.dtype(getattr(ml_dtypes, name, name))


@dataclass
class ArrayArgument:
    """One array, as the caller's object and as contiguous bytes."""

    name: str
    given: Any
    array: np.ndarray
    """The caller's memory; written in place after the run."""
    path: Path | None = None

    @property
    def bytes(self) -> int:
        """Size of the contents."""
        return self.array.nbytes

    def save(self, folder: Path, index: int) -> None:
        """Writes the contents to a file of ``folder`` for the worker to map."""
        self.path = folder / f"array{index}"
        with self.path.open("wb") as file:
            file.write(np.ascontiguousarray(self.array).reshape(-1).view(np.uint8).data)

    def load(self) -> None:
        """Copies what the kernel wrote back into the caller's memory."""
        if self.path is None or self.array.nbytes == 0:
            return
        result = np.fromfile(self.path, dtype=np.uint8).view(self.array.dtype)
        self.array[...] = result.reshape(self.array.shape)


def _as_numpy(name: str, value: Any) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    if type(value).__module__.partition(".")[0] == "torch":
        return _torch_view(name, value)
    raise ValueError(
        f"argument {name}: expected a numpy array or torch tensor, got {type(value).__name__}"
    )


def _torch_view(name: str, tensor: Any) -> np.ndarray:
    """The tensor's own memory as numpy, in dtypes numpy itself lacks too."""
    import torch

    if tensor.device.type != "cpu":
        raise ValueError(f"argument {name}: the tensor is on {tensor.device}, move it to the CPU")
    tensor = tensor.detach()
    dtype = str(tensor.dtype).removeprefix("torch.")
    if hasattr(ml_dtypes, dtype):
        raw = {1: torch.uint8, 2: torch.int16}[tensor.element_size()]
        return tensor.view(raw).numpy().view(np.dtype(getattr(ml_dtypes, dtype)))
    return tensor.numpy()


def array_argument(
    name: str, value: Any, dtype: np.dtype, shape: tuple[int, ...] | None
) -> ArrayArgument:
    """Checks an argument. ValueError names the argument, what was found and what is needed."""
    array = _as_numpy(name, value)
    if array.dtype != dtype and array.dtype.name not in _SAME_BYTES.get(dtype.name, ()):
        raise ValueError(f"argument {name}: dtype {array.dtype.name} where {dtype.name} is needed")
    if shape is not None and array.shape != shape:
        raise ValueError(f"argument {name}: shape {array.shape} where {shape} is needed")
    if not array.flags.writeable:
        raise ValueError(f"argument {name}: the array is read-only, pass a writeable copy")
    return ArrayArgument(name, value, array)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    place = [(x.__array_interface__["data"], x.shape, x.strides, x.dtype) for x in (a, b)]
    return place[0] == place[1]


def distinct(arguments: Iterable[ArrayArgument]) -> tuple[list[ArrayArgument], dict[int, int]]:
    """The arrays to map, and for the ``id`` of each argument the index of its array: one array
    given twice is one array for the kernel too. ValueError if two overlap in part."""
    arrays: list[ArrayArgument] = []
    index: dict[int, int] = {}
    for argument in arguments:
        for i, other in enumerate(arrays):
            if _same(argument.array, other.array):
                index[id(argument)] = i
                break
            if np.shares_memory(argument.array, other.array):
                raise ValueError(f"arguments {other.name} and {argument.name} overlap in part")
        else:
            index[id(argument)] = len(arrays)
            arrays.append(argument)
    return arrays, index


def scalar_bits(name: str, ctype: str, value: Any) -> int:
    """A scalar argument as the 8 bytes of its slot."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise ValueError(
            f"argument {name}: expected a number for `{ctype}`, got {type(value).__name__}"
        )
    dtype = dtype_of(ctype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if int(value) != value or not limits.min <= value <= limits.max:
            raise ValueError(f"argument {name}: {value} does not fit `{ctype}`")
        value = int(value)
    raw = np.array(value, dtype=dtype).tobytes()
    return int.from_bytes(raw.ljust(8, b"\0"), "little")
