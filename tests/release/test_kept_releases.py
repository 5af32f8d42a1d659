"""What earlier versions have written is read by this one: `make keep-release` made it then."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio
from fencepost_broker import Broker
from fencepost_client import (
    AuthenticationError,
    AuthorizationError,
    Consumer,
    Producer,
    ShareConsumer,
    TopicPartition,
)
from fencepost_client.histories import check, read_files
from fencepost_client.recordings.replaying import Replay, replay_file
from fencepost_protocol import __version__

from tests.release.kept import keep
from tests.release.kept.facts import read_facts
from tests.release.kept.scene import LONG_MS, PASSWORD, SETTINGS
from tests.support.broker import Client
from tests.wire.transaction_harness import Producer as ByHand
from tests.wire.transaction_harness import state_of

VERSIONS = sorted(path.parent for path in keep.HERE.glob("*/facts.json"))
KINDS = (*keep.STOPS, "snapshot")


def named(path: Path) -> str:
    return path.name


def test_this_version_is_kept() -> None:
    assert __version__ in [path.name for path in VERSIONS], "make keep-release"


class Kept(NamedTuple):
    archive: Path
    at_ms: int
    facts: dict[str, Any]


@pytest.fixture(params=VERSIONS, ids=named)
def version(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture(params=KINDS)
def kept(request: pytest.FixtureRequest, version: Path) -> Kept:
    told = json.loads((version / "facts.json").read_text(encoding="utf-8"))
    return Kept(version / f"{request.param}.tar.gz", told["state time"], told[request.param])


@pytest_asyncio.fixture
async def broker(kept: Kept) -> AsyncIterator[Broker]:
    async with keep.opened(kept.archive, kept.at_ms) as broker:
        yield broker


@pytest.mark.asyncio
async def test_each_fact_is_still_there(kept: Kept, broker: Broker) -> None:
    found = json.loads(json.dumps(await read_facts(broker.bootstrap)))
    for name, fact in kept.facts.items():
        assert found[name] == fact, name


@pytest.mark.asyncio
async def test_producers_go_on_where_they_were(kept: Kept, broker: Broker) -> None:
    ids = {name: fact[1:3] for name, fact in kept.facts["transactions"].items()}
    async with Client(broker.bootstrap) as client:
        again = ByHand(client, "open")
        assert await again.start() == 0
        assert again.id == ids["open"][0]
        assert again.epoch > ids["open"][1], "who had it before has to be fenced"
        assert await state_of(client, "open") == "Empty", "what it had begun is aborted"
    end = kept.facts["offsets"]["payments-0"][2]
    async with Producer(broker.bootstrap, transactional_id="committed") as producer:
        producer.begin()
        written = await producer.send_and_wait("payments", b"new", partition=0)
        await producer.commit()
    assert written.offset == end
    everything = await committed_values(broker)
    assert everything == [b"committed 0", b"committed 1", b"x", b"new"]


async def committed_values(broker: Broker) -> list[bytes | None]:
    places = [TopicPartition("payments", number) for number in (0, 1)]
    async with Consumer(
        broker.bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign(places)
        values: list[bytes | None] = []
        while b"new" not in values:
            values += [each.value for each in await consumer.getmany(timeout_ms=LONG_MS)]
    return values


@pytest.mark.asyncio
async def test_a_share_group_goes_on_with_what_was_released(broker: Broker) -> None:
    broker.clock.advance(minutes=1)  # its member of that time is gone
    async with ShareConsumer(broker.bootstrap, group_id="workers") as member:
        member.subscribe(["jobs"])
        found: list[tuple[bytes | None, int]] = []
        while len(found) < 3:
            more = await member.getmany(timeout_ms=LONG_MS)
            assert more
            found += [(each.value, each.delivery_count) for each in more]
    assert found == [(b"job 1", 2), (b"job 3", 2), (b"job 4", 2)]


@pytest.mark.asyncio
async def test_a_user_logs_in_and_has_the_rights_of_then(kept: Kept) -> None:
    users = {"root": "r"}
    settings = SETTINGS | {"super.users": "User:root"}
    async with keep.opened(kept.archive, kept.at_ms, users=users, settings=settings) as broker:
        assert await read_as_ada(broker, "orders")
        with pytest.raises(AuthorizationError):
            await read_as_ada(broker, "payments")
        with pytest.raises(AuthenticationError):
            await read_as_ada(broker, "orders", password="wrong")


async def read_as_ada(broker: Broker, topic: str, password: str = PASSWORD) -> int:
    async with Consumer(
        broker.bootstrap, security_protocol="SASL_PLAINTEXT", sasl_mechanism="SCRAM-SHA-512",
        sasl_plain_username="ada", sasl_plain_password=password,
    ) as consumer:  # fmt: skip
        place = TopicPartition(topic, 0)
        consumer.assign([place])
        consumer.seek_to_beginning(place)
        return len(await consumer.getmany(timeout_ms=LONG_MS))


@pytest.mark.asyncio
async def test_a_recording_is_replayed(version: Path) -> None:
    async with Broker() as broker:
        found = await replay_file(version / "session.fprec", Replay(broker.bootstrap))
    assert found.requests > 10
    assert found.differences == []


def test_a_history_is_judged(version: Path) -> None:
    operations = list(read_files([version / "history.jsonl"]))
    assert len(operations) > 5
    assert check(operations).holds
