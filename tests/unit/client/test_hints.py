"""What exceptions advise: each role can do something else about a code."""

from __future__ import annotations

import pytest
from fencepost_client.errors import admin_error, consumer_error, error_of, producer_error
from fencepost_protocol.errors import ErrorCode, explain_error

ROLES = {"producer": producer_error, "consumer": consumer_error, "admin": admin_error}
FOR_WHO_WRITES_REQUESTS = ("Send Metadata", "Send InitProducerId", "Send JoinGroup", "resend")


def test_each_role_has_its_own_hint() -> None:
    made = {make(ErrorCode.NOT_ENOUGH_REPLICAS).hint for make in ROLES.values()}
    assert len(made) == 3
    assert error_of(ErrorCode.NOT_ENOUGH_REPLICAS).hint not in made
    for role, make in ROLES.items():
        assert make(ErrorCode.COORDINATOR_NOT_AVAILABLE).role == role


@pytest.mark.parametrize("code", ErrorCode)
def test_hints_of_roles_are_about_what_their_clients_can_do(code: ErrorCode) -> None:
    hints = explain_error(code).hints
    assert hints.keys() <= ROLES.keys()
    for role, hint in hints.items():
        error = ROLES[role](code)
        assert error.hint == (error.HINT or hint)
        assert not any(words in hint for words in FOR_WHO_WRITES_REQUESTS), hint
        assert hint.endswith((".", "?")), hint


@pytest.mark.parametrize("message", ["without a stop", "with one.", "asked?"])
def test_a_stop_stands_between_message_and_hint(message: str) -> None:
    error = producer_error(ErrorCode.NOT_ENOUGH_REPLICAS, message)
    end = message if message[-1] in ".?" else f"{message}."
    assert str(error) == f"NOT_ENOUGH_REPLICAS: {end} {error.hint}"
