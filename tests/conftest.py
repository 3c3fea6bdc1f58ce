"""Property tests try the same examples in every run; HYPOTHESIS_PROFILE=explore tries others."""

from __future__ import annotations

import os

from hypothesis import settings

import tilelang_ascend_sched  # noqa: F401  # puts TileLang's own TVM on the path

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
