"""A share group while faults happen, compared with a queue.

Each record that was written is delivered. No delivery has a count above the group's limit; a leader
that dies has not written the deliveries that were not acknowledged, so a record may be given once
more for each change of its leader.

After an accept or a reject has succeeded, the record is not given and accepted again. The success
of an answer that was late says nothing: as in Kafka, a broker ignores acknowledgements of records
that its start offset has passed. Such a delivery is known by its lower count.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from fencepost_client import (
    AcknowledgeType,
    Admin,
    ConfigResource,
    KafkaError,
    Producer,
    ResourceKind,
    ShareConsumer,
    ShareRecord,
    TopicPartition,
)

from fencepost_broker.config import Value
from fencepost_broker.simulation.programs.settings import FAULTS_S, INTENSITY, settings_for
from fencepost_broker.simulation.simulation import Simulation

_TOPIC: Final = "mails"
_PARTITIONS: Final = 2
_GROUP: Final = "senders"
_MEMBERS: Final = 3
_LIMIT: Final = 4
_RECORDS_MIN: Final = 10
"""A seed without faults is over at once."""
_REST_S: Final = 0.05
_SETTINGS: Final[Mapping[str, Value]] = {
    "group.share.min.heartbeat.interval.ms": 500,
    "group.share.heartbeat.interval.ms": 500,
    "group.share.min.session.timeout.ms": 2000,
    "group.share.session.timeout.ms": 2000,
    "group.share.assignment.interval.ms": 0,
    "group.share.min.record.lock.duration.ms": 1000,
    "share.coordinator.snapshot.update.records.per.snapshot": 20,
    "share.coordinator.cold.partition.snapshot.interval.ms": 3000,
    "share.coordinator.state.topic.prune.interval.ms": 2000,
}
_OF_GROUP: Final = {
    "share.auto.offset.reset": "earliest",
    "share.record.lock.duration.ms": "1000",
    "share.delivery.count.limit": str(_LIMIT),
}
_KINDS: Final = (AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT)
_WEIGHTS: Final = (8, 2, 1)


class _End(NamedTuple):
    """An accept or a reject that has succeeded."""

    given_s: float
    done_s: float
    delivery_count: int


class _Queue:
    """What members were given, and what became of it."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self.written: set[bytes] = set()
        self.given: Counter[bytes] = Counter()
        self.ended: dict[bytes, list[_End]] = {}
        self.is_over = asyncio.Event()

    def _goes_on(self) -> bool:
        return not self.is_over.is_set() or len(self.written) < _RECORDS_MIN

    async def write(self, bootstrap: str) -> None:
        """Write records until it is over."""
        number = 0
        while self._goes_on():
            try:
                async with Producer(bootstrap, acks="all", request_timeout_ms=5000) as producer:
                    while self._goes_on():
                        number += 1
                        value = b"%d" % number
                        await producer.send_and_wait(_TOPIC, value, partition=number % _PARTITIONS)
                        self.written.add(value)
                        await asyncio.sleep(_REST_S)
            except KafkaError:
                await asyncio.sleep(0.2)

    async def read(self, bootstrap: str) -> None:
        """Be a member of the group; faults kill this at any ``await``."""
        while True:
            try:
                async with ShareConsumer(
                    bootstrap,
                    group_id=_GROUP,
                    share_acknowledgement_mode="explicit",
                    share_acquire_mode="record_limit",
                    max_poll_records=5,
                    request_timeout_ms=5000,
                ) as consumer:
                    consumer.subscribe([_TOPIC])
                    while True:
                        await self._take(consumer)
            except KafkaError:
                await asyncio.sleep(0.2)

    async def _take(self, consumer: ShareConsumer) -> None:
        records = await consumer.getmany(timeout_ms=1000)
        given_s = self._sim.now_s
        ends: list[ShareRecord] = []
        for record in records:
            assert record.value is not None
            assert 1 <= record.delivery_count <= _LIMIT, f"{record} is above the limit {_LIMIT}"
            self.given[bytes(record.value)] += 1
            [kind] = self._sim.random.choices(_KINDS, _WEIGHTS)
            consumer.acknowledge(record, kind)
            if kind is not AcknowledgeType.RELEASE:
                ends.append(record)
        failed = await consumer.commit() if records else {}
        for record in ends:
            if TopicPartition(record.topic, record.partition) not in failed:
                end = _End(given_s, self._sim.now_s, record.delivery_count)
                self.ended.setdefault(bytes(record.value or b""), []).append(end)

    def check(self, leader_changes: int) -> None:
        """Compare it with a queue."""
        most = _LIMIT + leader_changes
        wrong = {
            "lost": self.written - self.given.keys(),
            "given too often": {value for value, count in self.given.items() if count > most},
            "accepted or rejected again": {
                value for value, ends in self.ended.items() if _has_ended_again(ends)
            },
        }
        for what, which in wrong.items():
            assert not which, f"{what}: {sorted(which)[:5]}"
        assert self.ended, "nothing was accepted"


def _has_ended_again(ends: list[_End]) -> bool:
    return any(
        later.given_s > first.done_s and later.delivery_count >= first.delivery_count
        for first in ends
        for later in ends
    )


async def shares(
    sim: Simulation,
    brokers: int = 3,
    for_s: float = FAULTS_S,
    intensity: float = INTENSITY,
) -> None:
    """Members of a share group accept, release and reject while brokers and members are killed."""
    settings = {**settings_for(brokers), **_SETTINGS}
    cluster = await sim.cluster(brokers, {_TOPIC: _PARTITIONS}, settings)
    async with Admin(cluster.bootstrap) as admin:
        await admin.alter_configs({ConfigResource(ResourceKind.GROUP, _GROUP): _OF_GROUP})
    queue = _Queue(sim)
    writer = sim.start(queue.write(cluster.bootstrap), "writer")
    for number in range(_MEMBERS):
        sim.start(lambda: queue.read(cluster.bootstrap), f"member-{number}", restart=True)
    sim.start_faults(intensity, for_s)
    await sim.quiet(rest_s=0)
    queue.is_over.set()
    await writer
    async with Admin(cluster.bootstrap) as admin:
        while True:
            offsets = await admin.list_share_group_offsets(_GROUP)
            if len(offsets) == _PARTITIONS and not any(each.lag for each in offsets.values()):
                break
            await asyncio.sleep(1)
        [topic] = (await admin.describe_topics([_TOPIC])).values()
    queue.check(max(each.leader_epoch for each in topic.partitions))
