"""What the plugin says to an environment it does not fit."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest

from tilelang_ascend_sched.compat import check_versions


def environment(**versions: str):
    def lookup(distribution: str) -> str:
        try:
            return versions[distribution.replace("-", "_")]
        except KeyError:
            raise PackageNotFoundError(distribution) from None

    return lookup


@pytest.mark.parametrize("ffi", ["0.1.11", "0.1.12", "0.1.12.post1", "0.1.11+local"])
def test_fitting_versions_pass(ffi: str):
    check_versions(environment(tilelang="0.1.15", apache_tvm_ffi=ffi))
    check_versions(environment(tilelang="0.1.15+cpu", apache_tvm_ffi=ffi))


@pytest.mark.parametrize("found", ["0.1.14", "0.1.16", "0.1.151", "0.2.0"])
def test_another_tilelang_is_named(found: str):
    with pytest.raises(ImportError, match=rf"needs tilelang==0\.1\.15, found {found}"):
        check_versions(environment(tilelang=found, apache_tvm_ffi="0.1.11"))


def test_no_tilelang():
    with pytest.raises(ImportError, match="found not installed"):
        check_versions(environment())


@pytest.mark.parametrize("found", ["0.1.10", "0.1.13", "0.2.0"])
def test_another_tvm_ffi_is_named(found: str):
    with pytest.raises(ImportError, match=rf"apache-tvm-ffi 0\.1\.11 or 0\.1\.12, found {found}"):
        check_versions(environment(tilelang="0.1.15", apache_tvm_ffi=found))
