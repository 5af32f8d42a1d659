"""A worker's modules are not looked at behind each task; programs of others are left alone."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from fencepost_pipeline.spark.worker_process import keep_modules


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    keep_modules.cache_clear()
    yield
    gc.unfreeze()
    keep_modules.cache_clear()


@pytest.mark.parametrize("name", [None, "pytest.__main__"])
def test_in_a_program_of_others_nothing_is_done(
    monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    spec = name and SimpleNamespace(name=name)
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", spec)
    keep_modules()
    assert gc.get_freeze_count() == 0


def test_in_a_worker_once(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = SimpleNamespace(name="pyspark.daemon")
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", spec)
    keep_modules()
    assert gc.get_freeze_count() > 1000
    gc.unfreeze()
    keep_modules()
    assert gc.get_freeze_count() == 0
