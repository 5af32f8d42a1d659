"""Apache Kafka and our broker are asked the same, mostly what makes no sense: codes and presence.

What a controller decides stands in `test_controller_differential.py`; here is what a broker answers
by itself. Both have the same two topics, and are node 1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

from tests.conformance.answer_cases import (
    GROUP_ID,
    TOPICS,
    TRANSACTIONAL_ID,
    cases,
    cases_of_coordinators,
    plain,
)
from tests.conformance.controller_peer import ask
from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError
from tests.support.broker import running_broker
from tests.support.waiting import asked_until

pytestmark = pytest.mark.conformance


@pytest.fixture(scope="module")
def kafka() -> Iterator[ApacheKafka]:
    try:
        with ApacheKafka() as running:
            ask(running.port, TOPICS, 7)
            asyncio.run(have_coordinators(asker(running)))
            yield running
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


def asker(kafka: ApacheKafka) -> Callable[[Any, int], Awaitable[Any]]:
    return lambda message, version: asyncio.to_thread(ask, kafka.port, message, version)


async def have_coordinators(ask: Callable[[Any, int], Awaitable[Any]]) -> None:
    """Wait for the coordinators of the cases' group, which exists then, and transactional id."""

    async def has(request: FindCoordinatorRequest) -> bool:
        return not (await ask(request, 4)).coordinators[0].error_code

    async def commits() -> bool:
        answer = await ask(OffsetCommitRequest(GROUP_ID, topics=topics), 9)
        return not answer.topics[0].partitions[0].error_code

    async def ends() -> bool:
        answer = await ask(EndTxnRequest(TRANSACTIONAL_ID, 5, 0), 3)
        return bool(answer.error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING)

    topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5)])]
    for kind, key in enumerate((GROUP_ID, TRANSACTIONAL_ID)):
        await asked_until(partial(has, FindCoordinatorRequest("", kind, [key])))
    await asked_until(commits)
    await asked_until(ends)


@pytest.mark.asyncio
async def test_the_same_answers(kafka: ApacheKafka) -> None:
    different = []
    asked = 0
    async with running_broker() as ours:
        await ours.ask(TOPICS, 7)
        await have_coordinators(ours.ask)
        for label, message, version in (*cases(), *cases_of_coordinators()):
            asked += 1
            theirs = plain(await asker(kafka)(message, version))
            mine = plain(await ours.ask(message, version))
            if theirs != mine:
                different.append(f"{label}:\n  Kafka {theirs}\n  ours  {mine}")
    assert asked > 150
    assert not different, "\n".join([f"{len(different)} of {asked} differ:", *different])


@pytest.mark.asyncio
@pytest.mark.parametrize(("version", "kind"), [(0, 0), (1, 0), (3, 1), (4, 0), (6, 1)])
async def test_a_coordinator_that_is_found(kafka: ApacheKafka, version: int, kind: int) -> None:
    request = FindCoordinatorRequest("some", kind)
    if version >= 4:
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=["some"])

    def told(answer: Any) -> list[tuple[object, ...]]:
        return [
            (each.error_code, each.error_message, each.node_id, each.host)
            for each in (answer, *answer.coordinators)
        ]

    async def ask_kafka() -> list[tuple[object, ...]]:
        return told(await asyncio.to_thread(ask, kafka.port, request, version))

    async def is_there() -> bool:
        return (await ask_kafka())[-1][0] != ErrorCode.COORDINATOR_NOT_AVAILABLE

    await asked_until(is_there)
    async with running_broker() as ours:
        assert told(await ours.ask(request, version)) == await ask_kafka()
