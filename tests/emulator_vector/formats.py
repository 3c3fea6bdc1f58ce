"""The narrow float formats by definition: tables of all values, rounding as a search in them."""

from __future__ import annotations

import ml_dtypes
import numpy as np

NEAREST_EVEN, NEAREST_AWAY, DOWN, UP, TOWARD_ZERO, ODD = range(6)
MODES = [NEAREST_EVEN, NEAREST_AWAY, DOWN, UP, TOWARD_ZERO, ODD]

# name: (bits, dtype)
FORMATS = {
    "float16": (16, np.dtype(np.float16)),
    "bfloat16": (16, np.dtype(ml_dtypes.bfloat16)),
    "float8_e4m3fn": (8, np.dtype(ml_dtypes.float8_e4m3fn)),
    "float8_e5m2": (8, np.dtype(ml_dtypes.float8_e5m2)),
    "float4_e2m1fn": (4, np.dtype(ml_dtypes.float4_e2m1fn)),
    "float4_e1m2": (4, None),
}


def all_values(name) -> np.ndarray:
    """The float32 value of every code."""
    bits, dtype = FORMATS[name]
    if dtype is None:  # E1M2: quarters up to 1.75
        magnitude = np.arange(8, dtype=np.float32) / 4
        return np.concatenate([magnitude, -magnitude])
    storage = np.uint16 if bits == 16 else np.uint8
    return np.arange(1 << bits).astype(storage).view(dtype).astype(np.float32)


def by_search(name, values, mode, saturate) -> np.ndarray:
    """The conversion by definition: among the neighbours in the sorted table of finite values."""
    table = all_values(name)
    codes = np.arange(table.size)
    finite = np.isfinite(table) & ~(np.signbit(table) & (table == 0))
    order = np.argsort(table[finite])
    grid, grid_codes = table[finite][order].astype(np.float64), codes[finite][order]
    x = values.astype(np.float64)
    clipped = np.clip(x, grid[0], grid[-1])
    low = np.clip(np.searchsorted(grid, clipped, side="right") - 1, 0, grid.size - 1)
    high = np.where(grid[low] == clipped, low, np.minimum(low + 1, grid.size - 1))
    zero = np.where(x < 0, high, low)
    away = np.where(x < 0, low, high)
    down, up = clipped - grid[low], grid[high] - clipped
    nearest = np.where(down < up, low, high)
    tie = down == up
    odd = np.where(grid_codes[low] & 1, low, high)
    even = np.where(grid_codes[low] & 1, high, low)
    choice = {
        NEAREST_EVEN: np.where(tie, even, nearest),
        NEAREST_AWAY: np.where(tie, away, nearest),
        DOWN: low,
        UP: high,
        TOWARD_ZERO: zero,
        ODD: np.where(grid[low] == clipped, low, odd),
    }[mode]
    result = grid[choice]
    # Overflow of the nearest modes begins half a step above the largest value; at that tie the
    # even code wins, which is the largest value's own if its code is even.
    step = grid[-1] - grid[-2]
    limit = grid[-1] + step / 2
    over = np.abs(x) > grid[-1]
    beyond = np.abs(x) > limit
    if mode == NEAREST_AWAY or grid_codes[-1] & 1:
        beyond |= np.abs(x) == limit
    goes_up = {DOWN: x < 0, UP: x > 0, TOWARD_ZERO: False, ODD: False}.get(mode, beyond)
    has_infinity = np.isinf(table).any()
    has_nan = np.isnan(table).any()
    top = grid[-1] if saturate or not has_nan else np.inf if has_infinity else np.nan
    result = np.where(over & goes_up | np.isinf(x), np.copysign(top, x), result)
    result = np.where(np.isnan(x), np.nan if has_nan else 0.0, result)
    return np.copysign(result, np.where(np.isnan(x), 1, x)).astype(np.float32)
