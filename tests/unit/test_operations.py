"""The structs of operations, and the table of what carries them out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
import pytest
from fencepost_broker.coordinator.runtime.steps import STEPS
from fencepost_broker.operations import (
    OPERATIONS,
    AnyOperation,
    MoveLeader,
    Operation,
    Result,
    UnloadCoordinator,
)
from fencepost_broker.server import operations as carried_out


def concrete(base: type[Any]) -> set[type[Any]]:
    found = set()
    for each in base.__subclasses__():
        found |= {each} if not each.__name__.startswith("_") else set()
        found |= concrete(each)
    return found


def test_every_operation_can_be_named_and_carried_out() -> None:
    assert concrete(Operation) == set(OPERATIONS.values()) == set(carried_out.CARRIES_OUT)


def test_every_operation_and_field_is_described() -> None:
    results = concrete(Result)
    for each in [*OPERATIONS.values(), *results]:
        assert (each.__doc__ or "").strip().endswith("."), each
        for name, hint in get_type_hints(each, include_extras=True).items():
            if name.startswith("__"):
                continue
            described = [meta for meta in getattr(hint, "__metadata__", ()) if meta.description]
            assert described, f"{each.__name__}.{name}"


def test_an_operation_is_read_by_its_name() -> None:
    read = msgspec.json.decode(
        b'{"type": "move-leader", "topic": "t", "partition": 1, "broker": 2}', type=AnyOperation
    )
    assert read == MoveLeader(topic="t", partition=1, broker=2)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'{"type": "move-leader", "topic": "t", "partition": 1}', "missing required field"),
        (b'{"type": "fence-broker", "broker": 1, "borker": 2}', "unknown field `borker`"),
        (b'{"type": "forget-producer", "topic": "t", "partition": -1, "producer_id": 1}', ">= 0"),
        (b'{"type": "bump-producer-epoch", "transactional_id": "a", "epoch": 32767}', "<= 32766"),
        (b'{"type": "unload-coordinator"}', "name either a group or a transactional_id"),
    ],
)
def test_what_it_does_not_have_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=why):
        msgspec.json.decode(text, type=AnyOperation)


def test_a_coordinator_is_that_of_one_id() -> None:
    with pytest.raises(ValueError, match="either a group or a transactional_id"):
        UnloadCoordinator(group="g", transactional_id="a")


PAGE = Path(__file__).parents[2] / "docs/how-to/perform-operations.md"


def test_the_page_has_every_operation_and_step() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| `([a-z-]+)` \|", text, re.MULTILINE))
    assert rows == {each.__name__: name for name, each in OPERATIONS.items()}
    for step in STEPS:
        assert step.split(".")[-2] in text, step
