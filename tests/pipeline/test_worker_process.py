"""A worker's modules are not looked at behind each task; programs of others are left alone."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from itertools import repeat
from types import SimpleNamespace

import pytest
from fencepost_pipeline.spark import worker_process
from fencepost_pipeline.spark.worker_process import keep_modules


@pytest.fixture(autouse=True)
def _thawed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(worker_process, "_calls", repeat(True, 2))
    gc.unfreeze()  # Python 3.12 begins with some
    yield
    gc.unfreeze()


@pytest.mark.parametrize("name", [None, "pytest.__main__"])
def test_in_a_program_of_others_nothing_is_done(
    monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    spec = name and SimpleNamespace(name=name)
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", spec)
    keep_modules()
    assert gc.get_freeze_count() == 0


def test_in_a_worker_when_its_first_two_tasks_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = SimpleNamespace(name="pyspark.daemon")
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", spec)
    for _ in range(2):
        keep_modules()
        assert gc.get_freeze_count() > 1000
        gc.unfreeze()
    keep_modules()
    assert gc.get_freeze_count() == 0
