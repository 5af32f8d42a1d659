"""Some rounds of the kill loop; all of it is `make kill-pipeline`."""

from __future__ import annotations

import shutil

import pytest

from tests.pipeline.kill import rounds

pytestmark = pytest.mark.slow


def test_some_rounds() -> None:
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install fencepost[spark]")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java runtime: there is no 'java' on the PATH")
    found = rounds.run("fencepost", 3, seed=105)
    assert len(found) == 4
