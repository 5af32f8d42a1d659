"""A decision about many partitions, as a broker takes it in: in turns, and never half a topic."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from fencepost_broker.server.broker_server import BrokerServer
from fencepost_broker.server.links import controller_link
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

from tests.support.cluster import running_cluster
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
PARTITIONS = 40


@dataclass(frozen=True)
class Seen:
    """A broker's partitions of a topic, at one moment."""

    known: int
    """In its picture of the metadata."""
    here: int
    """That requests find."""
    logs: int
    led: frozenset[int]
    """By whom, as its picture has it."""
    epochs: int
    """Of all leaders together."""
    is_in_step: bool
    """Requests find each in the epoch that the picture has."""


def look(node: BrokerServer, topic: str) -> Seen:
    known = node.image.topics.by_name.get(topic)
    here = node.table.by_name.get(topic)
    partitions = {} if known is None else known.partitions
    return Seen(
        len(partitions),
        0 if here is None else len(here.partitions),
        sum(name == topic for name, _ in node.log_manager.logs),
        frozenset(each.leader for each in partitions.values()),
        sum(each.leader_epoch for each in partitions.values()),
        here is None
        or all(
            each.leader_epoch == partitions[each.number].leader_epoch for each in here.partitions
        ),
    )


@contextmanager
def watched(see: Callable[[], Seen]) -> Iterator[set[Seen]]:
    """What is to be seen in each turn of the loop."""
    seen: set[Seen] = set()
    loop = asyncio.get_running_loop()
    is_watching = True

    def watch() -> None:
        seen.add(see())
        if is_watching:
            loop.call_soon(watch)

    watch()
    try:
        yield seen
    finally:
        is_watching = False
        seen.add(see())


@pytest.fixture(autouse=True)
def every_step_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controller_link, "TURN_S", -1)


async def test_a_topic_is_made_in_turns_and_told_of_as_a_whole() -> None:
    async with running_cluster(1) as cluster:
        node = cluster.broker(1).server
        with watched(lambda: look(node, "t")) as seen:
            await cluster.create("t", PARTITIONS)
        assert {each.known for each in seen} == {each.here for each in seen} == {0, PARTITIONS}
        assert all(each.is_in_step for each in seen)
        assert {each.logs for each in seen} == set(range(PARTITIONS + 1)), "others had a turn"
        assert (await cluster.broker(1).produce("t", PARTITIONS - 1, b"x")) is not None


async def test_logs_of_a_topic_with_settings_are_made_when_these_are_known() -> None:
    async with running_cluster(1) as cluster:
        node = cluster.broker(1).server
        configs = [CreatableTopicConfig("segment.index.bytes", "4096")]
        request = CreateTopicsRequest([CreatableTopic("t", PARTITIONS, 1, configs=configs)])
        with watched(lambda: look(node, "t")) as seen:
            await cluster.broker(1).ask(request, 7)
            await until(lambda: look(node, "t").here == PARTITIONS)
        assert {each.logs for each in seen} == {0, PARTITIONS}
        (made,) = {
            log.config.segment_index_bytes
            for (name, _), log in node.log_manager.logs.items()
            if name == "t"
        }
        assert made == 4096


async def test_leaders_change_in_turns() -> None:
    async with running_cluster(3) as cluster:
        await cluster.create("t", PARTITIONS, 3)
        node = cluster.broker(1).server
        await until(lambda: look(node, "t").led == {1, 2, 3})
        with watched(lambda: look(node, "t")) as seen:
            await cluster.stop(3)
            await until(lambda: look(node, "t").led == {1, 2})
        assert {each.here for each in seen} == {PARTITIONS}
        assert all(each.is_in_step for each in seen)
        assert len({each.epochs for each in seen}) > PARTITIONS // 3, "others had a turn"
