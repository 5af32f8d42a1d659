"""Transactions by clients: how many a second, how long EndTxn takes, and what KIP-447 changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

from tests.bench.broker.clients import Ran
from tests.bench.broker.peers import FENCEPOSTS, FSYNC, IN_MEMORY
from tests.bench.broker.rows import AtLeast, AtMost, Goal, Row, Run, Sample
from tests.bench.broker.rows_clients import start
from tests.bench.broker.wire import ANSWER_SECONDS, WrongAnswerError

PAGE: Final = "transactions"
MILLISECONDS: Final = 1_500
VALUE_SIZE: Final = 100
PER_SECOND: Final = {1: 4_000.0, 8: 10_000.0}
"""The goal by the number of producers."""
MOCK_SHORTENS: Final = {
    "mock": "its transactions have no markers, no fencing and no isolation",
}


def check_committed(run: Run, topic: str, partitions: int, right: Callable[[int], bool]) -> None:
    """Everything that was committed must be there and decided on; markers may take their time."""
    end = time.monotonic() + ANSWER_SECONDS

    def offsets(isolation_level: int) -> int:
        return sum(run.wire.end_offset(topic, p, isolation_level) for p in range(partitions))

    while not right(decided := offsets(isolation_level=1)):
        if time.monotonic() > end:
            raise WrongAnswerError(
                f"{run.peer.name} has {decided} offsets that are decided on, "
                f"{offsets(isolation_level=0)} in all: not what was committed"
            )
        time.sleep(0.01)


# -- one-record transactions ---------------------------------------------------------------------


def transact(client: str, producers: int) -> Callable[[Run], Sample]:
    """Each producer commits a record, then the next one, to a partition of its own."""

    def measure(run: Run) -> Sample:
        topic = run.topic(producers)
        duration_ms = run.milliseconds(MILLISECONDS)
        ran = start(run, client, "transact", topic, producers, duration_ms, VALUE_SIZE)
        told = dict(ran.told)
        committed = told.pop("in_all")
        # A record and a marker each.
        check_committed(run, topic, producers, lambda offsets: offsets == 2 * committed)
        return {
            "rate": ran.records / ran.seconds,
            "cpu_us": ran.broker_cpu_seconds / ran.records * 1e6,
            **shares(ran),
            **told,
        }

    return measure


def shares(ran: Ran) -> Sample:
    """How busy both sides were."""
    return {
        "client_share": ran.client_cpu_seconds / ran.seconds,
        "broker_share": ran.broker_cpu_seconds / ran.seconds,
    }


def transaction_rows() -> Iterator[Row]:
    """Both clients, one and eight producers."""
    for client in ("franz-go", "librdkafka"):
        for producers in (1, 8):
            many = f"{producers} producer{'s' * (producers > 1)}"
            goals: tuple[Goal, ...] = ()
            if client == "franz-go":
                goals = (AtLeast("rate", PER_SECOND[producers]),)
            if client == "franz-go" and producers == 1:
                goals += (
                    AtMost("end_p50_us", 200.0),
                    AtMost("end_p99_us", 1_000.0),
                    AtMost("end_p99_us", 15_000.0, (FSYNC,)),
                )
            yield Row(
                f"transactions-{producers}-{client}",
                f"{client}, {many}",
                "One-record transactions",
                transact(client, producers),
                unit="transactions/s",
                shown=("rate", "end_p50_us", "end_p99_us", "cpu_us"),
                cpu_of="transaction",
                goals=goals,
                ours=FENCEPOSTS,
                without=MOCK_SHORTENS,
                plotted=client == "franz-go",
                page=PAGE,
                headline=f"one-record transactions, franz-go, {many}"
                if client == "franz-go"
                else "",
                remark=LIBRDKAFKA_ENDS if client == "librdkafka" else "",
            )


LIBRDKAFKA_ENDS: Final = (
    "librdkafka tells nothing of its requests: what stands as its EndTxn is the time of "
    "commit_transaction() with nothing left to send. It speaks transaction version 1, which asks "
    "to enter a partition before it produces to it; the broker's answer to that is what waits."
)


# -- KIP-447 -------------------------------------------------------------------------------------

EXACTLY_ONCE_MILLISECONDS: Final = 1_000
THREADS: Final = 2
"""As go/exactly_once.go has them."""


def exactly_once(partitions: int, producers: int) -> Callable[[Run], Sample]:
    """Records and offsets of all input partitions, committed over and over again."""

    def measure(run: Run) -> Sample:
        topic = run.topic(partitions)
        duration_ms = run.milliseconds(EXACTLY_ONCE_MILLISECONDS)
        numbers = (partitions, producers, duration_ms)
        ran = start(run, "franz-go", "exactly-once", topic, *numbers)
        # Each record, and a marker for each: both kinds of producer write to their partitions once
        # in a transaction.
        committed = ran.told["in_all"]
        check_committed(run, topic, partitions, lambda offsets: offsets == 2 * committed)
        return {
            "rate": ran.records / ran.seconds,
            "transactions": ran.told["transactions"] / ran.seconds,
            "requests": ran.told["requests"] / ran.seconds,
            "connections": ran.told["connections"],
            "cpu_us": ran.broker_cpu_seconds / ran.records * 1e6,
            **shares(ran),
        }

    return measure


def exactly_once_rows() -> Iterator[Row]:
    """A producer for each partition, and one for each thread."""
    for partitions in (10, 50, 100):
        for producers, whose in ((partitions, "partition"), (THREADS, "thread")):
            yield Row(
                f"kip447-{partitions}-{whose}",
                f"{partitions} input partitions, a producer for each {whose}",
                f"KIP-447: records and offsets in one transaction, franz-go, {THREADS} threads",
                exactly_once(partitions, producers),
                unit="records/s",
                shown=("rate", "transactions", "requests", "connections", "cpu_us"),
                cpu_of="record",
                ours=(IN_MEMORY,),
                without=MOCK_SHORTENS,
                page=PAGE,
            )


ROWS: Final = (*transaction_rows(), *exactly_once_rows())
