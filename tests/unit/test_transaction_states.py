"""The diagram in the docs is the table in the code."""

from __future__ import annotations

import re
from pathlib import Path

from fencepost_broker.coordinator.transaction.states import NAMES, TRANSITIONS, State, may_follow
from fencepost_client.commands.transaction_actions import STATES

PAGE = Path(__file__).parents[2] / "docs/explanation/transactions.md"


def test_the_diagram_has_the_tables_arrows() -> None:
    drawn = re.findall(r"^    (\w+) --> (\w+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(drawn) == len(set(drawn))
    assert set(drawn) == {
        (NAMES[state], NAMES[follower])
        for state, followers in TRANSITIONS.items()
        for follower in followers
    }


def test_the_command_knows_the_same_states() -> None:
    assert set(STATES) == set(NAMES.values())


def test_the_bits_are_the_tables() -> None:
    for state in State:
        for follower in State:
            assert may_follow(state, follower) == (follower in TRANSITIONS[state])
