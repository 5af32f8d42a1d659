"""Offsets looked up at the leaders, by scripted answers."""

from __future__ import annotations

from fencepost_client import (
    NetworkError,
    TopicPartition,
)
from fencepost_client.consumer.list_offsets import (
    EARLIEST,
    list_offsets,
)
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import Moved
from fencepost_protocol.errors import ErrorCode

from tests.machine.client.harness.list_offsets import listed
from tests.machine.client.scripts import Script

ZERO, ONE = TopicPartition("t", 0), TopicPartition("t", 1)


def backoff() -> Backoff:
    return Backoff(lambda: 0.5)


def test_offsets_are_listed_at_each_leader_and_what_moved_again() -> None:
    script = Script(
        [
            listed((0, 0, 4)),
            listed((1, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)),
            NetworkError(),
            listed((1, 0, 7)),
        ]
    )
    procedure = list_offsets(
        {ZERO: EARLIEST, ONE: 1000}, lambda _, partition: partition, backoff(), read_committed=True
    )
    assert script.play(procedure) == {ZERO: 4, ONE: 7}
    assert script.count(Moved) == 2
    assert [len(request.topics[0].partitions) for request in script.asked] == [1, 1, 1, 1]
    assert script.asked[0].isolation_level == 1
