"""The ``tl.ascend_sched.*`` pass-config keys."""

from __future__ import annotations

import pytest
from tvm.ir.transform import PassContext

from tilelang_ascend_sched.options import PREFIX, Options
from tilelang_ascend_sched.pipeline import PASSES


def test_every_option_is_declared_to_tvm():
    values = {"strict": True, "budget": 7, "seed": 1}
    config = {
        PREFIX + name: values.get(name, getattr(Options(), name))
        for name in Options.__dataclass_fields__
    }
    with PassContext(config=config) as context:
        assert Options.from_config(context.config) == Options(strict=True, budget=7, seed=1)


def test_unknown_key_lists_those_allowed():
    with pytest.raises(ValueError, match=r"tl\.ascend_sched\.stict.*tl\.ascend_sched\.strict"):
        Options.from_config({"tl.ascend_sched.stict": True})


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("engine", "magic", "allowed are auto, heuristic, branch, cpsat, z3"),
        ("objective", "luck", "allowed are time, ii"),
        ("budget", 0, "must be 1 to 1000000"),
        ("seed", 2**31, "must be 0 to 2147483647"),
        ("passes", "theirs", "allowed are ours, stock"),
        ("passes", "NoSuchPass=ours", "no pass 'NoSuchPass'"),
        ("passes", "RewriteFlagsToBuf=ours", "did you mean 'RewriteFlagToBuf'"),
        ("passes", "stock,estimatelatency=ours", "did you mean 'EstimateLatency'"),
        ("passes", "NormalizeHints=stock", "did you mean 'NormalizeConflictHints'"),
        ("passes", "EstimateLatency", "write EstimateLatency=ours.stock"),
        ("passes", "RewriteFlagToBuf=mine", "allowed are ours, stock"),
        ("passes", 3, "must be a string"),
        ("strict", "yes", "must be True or False"),
        ("strict", 2, "must be True or False"),
        ("seed", True, "must be an integer"),
        ("budget", 1.5, "must be an integer"),
        ("report", "/no/such/folder/report.json", "in a folder that exists"),
        ("report", "/", "in a folder that exists"),
    ],
)
def test_bad_values_are_refused(key: str, value: object, message: str):
    with pytest.raises(ValueError, match=message):
        Options.from_config({PREFIX + key: value})


def test_a_pass_we_do_not_have_cannot_be_ours():
    missing = next(info.name for info in PASSES if not info.ours)
    with pytest.raises(ValueError, match=f"{missing} has no pass of ours"):
        Options(passes=f"{missing}=ours").owners()


def test_later_terms_win():
    owners = Options(passes="stock, RewriteFlagToBuf=ours").owners()
    assert [name for name, ours in owners.items() if ours] == ["RewriteFlagToBuf"]
    assert not any(Options(passes="RewriteFlagToBuf=ours,stock").owners().values())


def test_other_keys_are_not_ours_to_judge():
    assert Options.from_config({"tl.enable_dump_ir": True}) == Options()
