"""Transactions and committed offsets on a disk that is really full, and a crash afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest

from tests.hostile.transactional_loop import Loop, committed, read_committed
from tests.support.small_disk import SmallDisk, SmallDiskUnavailableError
from tests.support.up import Up

ROUNDS, FULL_AFTER = 60, 20


@pytest.fixture
def disk() -> Iterator[SmallDisk]:
    try:
        with SmallDisk(6) as made:
            yield made
    except SmallDiskUnavailableError as error:
        pytest.skip(f"no small disk can be mounted: {error}")


def test_what_is_acknowledged_is_there_and_what_is_refused_happens_once(disk: SmallDisk) -> None:
    with Up("--data-dir", f"{disk.path}/data", before=disk.before) as broker:
        with broker.connect() as client:
            client.create("t", 1)
            for name, kind in (("g", 0), ("plain", 0), ("x", 1)):
                while client.ask(FindCoordinatorRequest(name, kind), 2).error_code:
                    pass
            loop = Loop(client, disk)
            for number in range(ROUNDS):
                if number == FULL_AFTER:
                    disk.fill()
                loop.round(number)
            assert len(set(loop.refusals)) > 1, loop.refusals
            disk.make_room()
        for end in (broker.kill, broker.stop):
            with broker.connect() as client:
                assert read_committed(client) == list(range(0, ROUNDS, 2))
                assert committed(client, "g") == ROUNDS - 2
                assert committed(client, "plain") == ROUNDS - 1
            end()
            broker.start()
        broker.assert_healthy()
