"""``python -m tilelang_ascend_sched verify`` tells its verdict by its exit status."""

from __future__ import annotations

import json
import textwrap

from click.testing import CliRunner

from tilelang_ascend_sched.cli import main


def run(*arguments: str):
    return CliRunner().invoke(main, ["verify", *arguments])


def test_proven_kernel():
    result = run("examples/gemm_relu.py:gemm_relu", "--stock")
    assert result.exit_code == 0, result.output
    assert "gemm_relu" in result.output or "proven" in result.output


def test_json():
    result = run("examples/while_sum.py:while_sum", "--stock", "--json")
    (report,) = json.loads(result.output)
    assert report["verdict"] == "proven"
    assert report["paths"] > 1


def test_wrong_kernel(tmp_path):
    """Hand-written synchronization that forgets the way back."""
    file = tmp_path / "wrong.py"
    file.write_text(
        textwrap.dedent(
            """
            import tilelang.ascend.language as T

            def wrong():
                @T.prim_func
                def kernel(X: T.Tensor((8, 256), "float32"), Y: T.Tensor((8, 256), "float32")):
                    with T.Kernel(1):
                        with T.Vector():
                            x = T.alloc_shared((256,), "float32")
                            for i in T.serial(8):
                                T.copy(X[i, 0], x)
                                T.ascend_set_flag("MTE2_MTE3", 0)
                                T.ascend_wait_flag("MTE2_MTE3", 0)
                                T.copy(x, Y[i, 0])
                return kernel
            """
        )
    )
    result = run(f"{file}:wrong", "--unscheduled")
    assert result.exit_code == 1, result.output
    assert "race in UB" in result.output
    assert "MTE3 -> AIV0 MTE2" in result.output
    assert "wrong.py:" in result.output


def test_no_such_kernel():
    result = run("examples/gemm_relu.py:nothing")
    assert result.exit_code == 2 and isinstance(result.exception, SystemExit)
    assert "nothing" in result.output
