"""Which tests of the SDK run on which broker, and why some run on one alone.

A test takes the broker as a parameter (``bootstrap`` or another) and so runs on both, or says by
``ours_alone`` or ``kafka_alone`` why it cannot, or needs no broker. CI runs all that is ours, and
on Apache Kafka a sample: one loop, and not what takes long there (``long_on_kafka``). ``make sdk``
runs everything.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

FOLDER: Final = Path(__file__).parent
RUNS_WHOLE: Final = os.environ.get("FENCEPOST_TEST_SDK") == "whole"
_PARAMETERS: Final = ("bootstrap", "servers", "restarting", "secured")
_ALONE: Final = ("ours_alone", "kafka_alone")
_LOOP_LEFT_OUT: Final = "asyncio-"


def of_the_sdk(items: Iterable[pytest.Item]) -> list[pytest.Function]:
    """The tests of this folder."""
    return [
        item for item in items if isinstance(item, pytest.Function) and FOLDER in item.path.parents
    ]


def broker_of(item: pytest.Function) -> str | None:
    """The broker that this test got as a parameter."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    found = next((params[name] for name in _PARAMETERS if name in params), None)
    return None if found is None else str(found)


def reason_of(item: pytest.Function) -> tuple[str, str] | None:
    """Which broker it runs on alone, and why."""
    for name in _ALONE:
        mark = item.get_closest_marker(name)
        if mark is not None:
            return name, mark.args[0]
    return None


def check_reasons(items: Iterable[pytest.Function]) -> None:
    """Raise when a test uses our broker, or Apache Kafka, alone, and does not say why."""
    for item in items:
        source = inspect.getsource(item.function)
        alone = "Broker(" in source or "kafka" in " ".join(item.fixturenames)
        if alone and broker_of(item) is None and reason_of(item) is None:
            raise pytest.UsageError(
                f"{item.nodeid} runs on one broker alone: take `bootstrap`, or say why not by "
                "@pytest.mark.ours_alone or @pytest.mark.kafka_alone"
            )


def is_left_out(item: pytest.Function) -> bool:
    """Whether only ``make sdk`` runs it."""
    if RUNS_WHOLE or broker_of(item) != "kafka":
        return False
    return item.callspec.id.startswith(_LOOP_LEFT_OUT) or bool(
        item.get_closest_marker("long_on_kafka")
    )
