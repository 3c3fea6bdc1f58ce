"""``SMALL``: kernels that lower and run in an instant, one for each kind of structure."""

from __future__ import annotations

from examples import Workload
from tests.kernels.control import CONTROL
from tests.kernels.cube import CUBE
from tests.kernels.hints import HINTS
from tests.kernels.vector import VECTOR
from tests.kernels.wide import WIDE

SMALL: dict[str, Workload] = {w.name: w for w in (*VECTOR, *CUBE, *CONTROL, *HINTS, *WIDE)}
