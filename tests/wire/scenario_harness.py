"""What scenarios bring about, and clients of others that read afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import confluent_kafka
from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as OfAiokafka
from fencepost_broker import Broker, Cluster
from fencepost_broker.server.scenarios.changed_password import MECHANISM, NEXT_PASSWORD, USER
from fencepost_broker.server.scenarios.members import GROUP
from fencepost_broker.server.scenarios.places import broker_for, cluster_for
from fencepost_broker.server.scenarios.scenario import Facts, Scenario
from fencepost_broker.server.scenarios.wire import Connection
from fencepost_client import Consumer, TopicPartition

from tests.support.waiting import polled

READ_S = 20.0
LOGIN = {
    "security_protocol": "SASL_PLAINTEXT",
    "sasl_mechanism": MECHANISM,
    "sasl_plain_username": USER,
    "sasl_plain_password": NEXT_PASSWORD,
}
"""Options of aiokafka and of our client."""
FACTS: dict[str, Facts] = {
    "late-end-txn": {
        "late_end_txn": "NONE",
        "state": "CompleteCommit",
        "last_stable_offset_before": 2,
        "last_stable_offset": 4,
    },
    "late-end-txn-version-2": {
        "late_end_txn": "PRODUCER_FENCED",
        "state": "Ongoing",
        "last_stable_offset_before": 2,
        "last_stable_offset": 2,
    },
    "commit-after-time-out": {
        "commit": "INVALID_TXN_STATE",
        "state": "CompleteAbort",
        "last_stable_offset": 2,
        "end_offset": 2,
    },
    "expired-transactional-id": {"add_partitions": "INVALID_PRODUCER_ID_MAPPING", "state": ""},
    "markers-that-never-come": {
        "commit": "NONE",
        "state": "PrepareCommit",
        "last_stable_offset": 0,
        "end_offset": 2,
    },
    "unstable-offset-commit": {
        "commit": "NONE",
        "fetch": "UNSTABLE_OFFSET_COMMIT",
        "fetch_after_time_out": "UNSTABLE_OFFSET_COMMIT",
        "state": "PrepareAbort",
    },
    "hanging-transaction": {
        "late_produce": "NONE",
        "state": "CompleteAbort",
        "hangs": "yes",
        "last_stable_offset_before": 2,
        "last_stable_offset": 5,
        "end_offset": 5,
    },
    "gaps-by-compaction": {
        "records_before": 4,
        "records": 2,
        "first_offset": 2,
        "end_offset": 4,
    },
    "empty-transaction": {
        "commit": "INVALID_TXN_STATE",
        "abort": "INVALID_TXN_STATE",
        "epoch": 0,
    },
    "empty-transaction-version-2": {"commit": "INVALID_TXN_STATE", "abort": "NONE", "epoch": 2},
    "lost-commit-answer": {
        "lost_answers": 1,
        "second_answer": "NONE",
        "last_stable_offset": 2,
        "end_offset": 2,
    },
    "coordinator-dies-in-prepare-commit": {
        "commit": "NONE",
        "state_before": "PrepareCommit",
        "last_stable_offset_before": 0,
        "without_coordinator": "NOT_COORDINATOR",
        "state": "CompleteCommit",
        "last_stable_offset": 2,
        "end_offset": 2,
    },
    "self-fencing": {
        "first": "CONCURRENT_TRANSACTIONS",
        "second": "NONE",
        "late": "NONE",
        "send": "INVALID_PRODUCER_EPOCH",
    },
    "epoch-exhaustion": {
        "send": "NONE",
        "last_epoch": 32766,
        "commit": "NONE",
        "producer_id": "new",
        "epoch": 0,
        "next_send": "NONE",
    },
    "slow-producer-ids": {
        "first": "COORDINATOR_LOAD_IN_PROGRESS",
        "last": "NONE",
        "refused": 2,
        "epoch": 1,
    },
    "unknown-producer-id": {
        "log_start": 1,
        "old_broker": "UNKNOWN_PRODUCER_ID",
        "send": "NONE",
        "gap": "OUT_OF_ORDER_SEQUENCE_NUMBER",
    },
    "aborted-records-only": {"last_stable_offset": 6, "end_offset": 6},
    "log-ends-in-a-marker": {"last_stable_offset": 2, "end_offset": 2},
    "duplicate-after-lost-answer": {"lost_answers": 1, "second_answer": "NONE", "end_offset": 2},
    "no-duplicate-with-idempotence": {"lost_answers": 1, "second_answer": "NONE", "end_offset": 1},
    "out-of-order-sequence": {
        "gap": "OUT_OF_ORDER_SEQUENCE_NUMBER",
        "filled": "NONE",
        "end_offset": 2,
    },
    "large-batch-refused": {"small": "NONE", "large": "MESSAGE_TOO_LARGE", "end_offset": 1},
    "zombie-member-commits": {
        "commit": "NONE",
        "heirs_commit": "NONE",
        "zombies_commit": "UNKNOWN_MEMBER_ID",
        "offset": 3,
    },
    "static-member-replaced": {
        "heartbeat_before": "NONE",
        "heartbeat": "FENCED_INSTANCE_ID",
        "commit": "FENCED_INSTANCE_ID",
        "new_heartbeat": "NONE",
    },
    "offset-out-of-range": {
        "committed": 1,
        "log_start": 3,
        "fetch": "OFFSET_OUT_OF_RANGE",
        "fetch_at_start": "NONE",
    },
    "rebalance-storm": {"rebalances": 6, "late_commit": "ILLEGAL_GENERATION", "heartbeat": "NONE"},
    "stuck-cooperative-rebalance": {
        "share_of_the_new": "",
        "heartbeats": "NONE",
        "state": "Stable",
        "share_at_last": "partition 1",
    },
    "leader-epoch-fenced": {
        "before": "NONE",
        "old_epoch": "FENCED_LEADER_EPOCH",
        "no_epoch": "NONE",
        "later_epoch": "UNKNOWN_LEADER_EPOCH",
        "current_epoch": "NONE",
    },
    "half-a-cluster-behind-a-cut": {
        "before": "NONE",
        "meanwhile": "NONE",
        "answered_behind_the_cut": "no",
        "late": "NOT_LEADER_OR_FOLLOWER",
        "end_offset": 2,
    },
    "metadata-that-lies": {
        "first_leader": 99,
        "lies": 2,
        "leader": 1,
        "send": "NONE",
        "end_offset": 1,
    },
    "throttled-client": {
        "send": "NONE",
        "throttle_time_ms": 5116,
        "end_offset_in_the_pause": 1,
        "next_send": "NONE",
        "end_offset": 2,
    },
    "acl-taken-away": {
        "before": "NONE",
        "denied": "TOPIC_AUTHORIZATION_FAILED",
        "after": "NONE",
        "end_offset": 2,
    },
    "disk-full-at-the-leader": {
        "refused_writes": 1,
        "while_full": "KAFKA_STORAGE_ERROR",
        "end_offset_while_full": 1,
        "after": "NONE",
        "end_offset": 2,
    },
    "clock-jumps-back": {
        "state_after_an_hour": "Ongoing",
        "last_stable_offset_after_an_hour": 0,
        "state": "CompleteAbort",
        "last_stable_offset": 3,
        "end_offset": 3,
    },
    "expired-certificate": {
        "connected_client": "NONE",
        "new_connection": "certificate has expired",
        "after_renewal": "NONE",
    },
    "password-changed": {
        "connected_client": "NONE",
        "old_password": "SASL_AUTHENTICATION_FAILED",
        "new_password": "NONE",
    },
}
READABLE = {
    "late-end-txn": [b"first", b"second"],
    "late-end-txn-version-2": [b"first"],
    "commit-after-time-out": [],
    "expired-transactional-id": [b"first"],
    "markers-that-never-come": [],
    "unstable-offset-commit": [b"order"],
    "hanging-transaction": [b"plain"],
    "gaps-by-compaction": [b"shipped", b"open"],
    "empty-transaction": [b"paid"],
    "empty-transaction-version-2": [b"paid"],
    "lost-commit-answer": [b"paid"],
    "coordinator-dies-in-prepare-commit": [b"paid"],
    "self-fencing": [],
    "epoch-exhaustion": [b"last", b"next"],
    "slow-producer-ids": [b"paid"],
    "unknown-producer-id": [b"paid"],
    "aborted-records-only": [],
    "log-ends-in-a-marker": [b"0"],
    "duplicate-after-lost-answer": [b"paid", b"paid"],
    "no-duplicate-with-idempotence": [b"paid"],
    "out-of-order-sequence": [b"0", b"1"],
    "large-batch-refused": [b"x"],
    "zombie-member-commits": [b"1", b"2", b"3"],
    "static-member-replaced": [b"order"],
    "offset-out-of-range": [b"4"],
    "rebalance-storm": [b"order"],
    "stuck-cooperative-rebalance": [b"order"],
    "leader-epoch-fenced": [b"order"],
    "half-a-cluster-behind-a-cut": [b"before", b"meanwhile"],
    "metadata-that-lies": [b"order"],
    "throttled-client": [b"x" * 15_000, b"late"],
    "acl-taken-away": [b"before", b"after"],
    "disk-full-at-the-leader": [b"before", b"after"],
    "clock-jumps-back": [b"second"],
    "expired-certificate": [b"before", b"connected", b"new"],
    "password-changed": [b"before", b"connected"],
}
"""What a reader of committed records gets."""


# -- readers of committed records, up to the last stable offset ------------------------------------

Reader = Callable[[str, int, Mapping[str, str]], Awaitable[list[bytes]]]


def place_of(scenario: Scenario) -> Broker | Cluster:
    """What a scenario needs, not yet started."""
    return cluster_for(scenario) if scenario.brokers else broker_for(scenario)


async def last_stable_offset(place: Broker | Cluster, login: Mapping[str, str]) -> int:
    """How far readers of committed records get."""
    # In scenarios of clusters, the last broker leads in the end.
    broker = place if isinstance(place, Broker) else place.broker(max(place.brokers))
    async with Connection(broker) as connection:
        if login:
            assert await connection.log_in(MECHANISM, USER, NEXT_PASSWORD) == "NONE"
        return await connection.end_offset(committed=True)


async def ours(bootstrap: str, end: int, login: Mapping[str, str]) -> list[bytes]:
    values: list[Any] = []
    options: dict[str, Any] = dict(login)
    async with (
        asyncio.timeout(READ_S),
        Consumer(
            bootstrap, auto_offset_reset="earliest", isolation_level="read_committed", **options
        ) as consumer,
    ):
        partition = TopicPartition("orders", 0)
        consumer.assign([partition])
        while await consumer.position(partition) < end:
            values += [each.value for each in await consumer.getmany(timeout_ms=100)]
    return values


async def aiokafka(bootstrap: str, end: int, login: Mapping[str, str]) -> list[bytes]:
    values: list[Any] = []
    partition = OfAiokafka("orders", 0)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        **login,
    )
    await consumer.start()
    try:
        consumer.assign([partition])
        async with asyncio.timeout(READ_S):
            while await consumer.position(partition) < end:
                got = await consumer.getmany(timeout_ms=100)
                values += [each.value for each in got.get(partition, [])]
    finally:
        await consumer.stop()
    return values


async def librdkafka(bootstrap: str, end: int, login: Mapping[str, str]) -> list[bytes]:
    return await asyncio.to_thread(read_by_librdkafka, bootstrap, login)


def read_by_librdkafka(bootstrap: str, login: Mapping[str, str] | None = None) -> list[bytes]:
    """The committed records."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            **for_librdkafka(login or {}),
        }
    )
    values: list[bytes] = []
    try:
        consumer.assign([confluent_kafka.TopicPartition("orders", 0, 0)])
        while True:
            message = consumer.poll(READ_S)
            assert message is not None
            if message.error():
                assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF
                return values
            values.append(message.value())
    finally:
        consumer.close()


def for_librdkafka(login: Mapping[str, str]) -> dict[str, str]:
    """Options of a login, by librdkafka's names."""
    return {name.replace("plain_", "").replace("_", "."): value for name, value in login.items()}


READERS: list[Reader] = [ours, aiokafka, librdkafka]


class Member:
    """A member of a group with librdkafka, of whose rebalances none is left for `close`.

    `close` with one that was not served may wait for ever, and it keeps Python's lock.
    """

    def __init__(self, bootstrap: str, **settings: str) -> None:
        config: dict[str, Any] = {
            "bootstrap.servers": bootstrap, "group.id": GROUP, "heartbeat.interval.ms": 50,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }  # fmt: skip
        self._consumer = confluent_kafka.Consumer(config)
        self.errors: list[confluent_kafka.KafkaError] = []
        self.assigned = self.revoked = 0
        """How often it was told to begin, and to stop."""
        self.close = self._consumer.close

        def assigned(*_: object) -> None:
            self.assigned += 1

        def revoked(*_: object) -> None:
            self.revoked += 1

        self._consumer.subscribe(["orders"], on_assign=assigned, on_revoke=revoked, on_lost=revoked)

    @property
    def partitions(self) -> int:
        """How many it reads."""
        return len(self._consumer.assignment())

    def poll_until(self, holds: Callable[[], object]) -> None:
        """Let it work until something holds."""

        def look() -> object:
            message = self._consumer.poll(0.02)
            if message is not None and message.error() is not None:
                self.errors.append(message.error())
            return holds()

        polled(look)
