"""What ``register`` says of the Python that Spark's workers run."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fencepost_pipeline.spark import register

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install fencepost[spark]")


def session(command: str | None) -> Any:
    data_source = SimpleNamespace(register=lambda _: None)
    if command is None:  # Spark Connect has no context
        return SimpleNamespace(dataSource=data_source)
    return SimpleNamespace(dataSource=data_source, sparkContext=SimpleNamespace(pythonExec=command))


def python(folder: Path, exit_code: int) -> str:
    """Another Python, as far as one can see."""
    path = folder / "python3"
    path.write_text(f"#!/bin/sh\nexit {exit_code}\n")
    path.chmod(0o755)
    return str(path)


def test_another_python_without_fencepost_is_told(tmp_path: Path) -> None:
    for command in (python(tmp_path, 1), str(tmp_path / "no-such-python")):
        with pytest.warns(UserWarning, match="has no Fencepost") as told:
            register(session(command))
        assert command in str(told[0].message)
        assert f"PYSPARK_PYTHON={sys.executable}" in str(told[0].message)


def test_a_python_that_has_it_is_fine(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for command in (None, sys.executable, python(tmp_path, 0)):
            register(session(command))
