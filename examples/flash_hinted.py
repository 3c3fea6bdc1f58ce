"""``flash_simd`` with versions given by hand and the loop's stages offset."""

from examples.flash_simd import TINY, TOLERANCES, flash_simd, inputs, reference

__all__ = ["TINY", "TOLERANCES", "flash_hinted", "inputs", "reference"]


def flash_hinted(**sizes: int):
    """Two versions of every buffer that one core fills while the other reads."""
    return flash_simd(hinted=True, **sizes).with_attr("global_symbol", "flash_hinted")
