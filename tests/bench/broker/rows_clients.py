"""What users see: librdkafka and franz-go, as fast as they produce and consume."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Final

from fencepost_protocol.records.batch import split_batches

from tests.bench.broker.clients import Ran, run_client
from tests.bench.broker.loader import Load
from tests.bench.broker.rows import AtMost, BestPeer, Goal, Row, Run, Sample
from tests.bench.broker.rows_raw import (
    KB,
    MOCK_LOSES,
    batch_of,
    fetch_request,
    look,
    produce_request,
    replay_to,
)
from tests.bench.broker.wire import HOST, WrongAnswerError

KILOBYTE_RECORDS: Final = 400_000
SMALL_RECORDS: Final = 1_200_000
FILL_BATCH: Final = 64 * 1024


def start(run: Run, client: str, what: str, topic: str, *numbers: int) -> Ran:
    """Run a client; the numbers are what it is told to do (see there)."""
    words = [what, f"{HOST}:{run.peer.port}", topic, *map(str, numbers)]
    return run_client(client, words, run.peer.pid, run.client_core)


def sample_of(ran: Ran, value_size: int) -> Sample:
    """Rates count the values' bytes alone."""
    size = ran.records * value_size
    return {
        "rate": size / ran.seconds / 1e6,
        "cpu_us": ran.broker_cpu_seconds / ran.records * 1e6,
        "cpu_s_per_gb": ran.broker_cpu_seconds / size * 1e9,
        "client_share": ran.client_cpu_seconds / ran.seconds,
        "broker_share": ran.broker_cpu_seconds / ran.seconds,
        **ran.told,
    }


def produce(client: str, partitions: int, full: int, value_size: int) -> Callable[[Run], Sample]:
    """A producer that gives its records as fast as they are taken."""

    def measure(run: Run) -> Sample:
        records = max(2, run.count(full))
        topic = run.topic(partitions)
        ran = start(run, client, "produce", topic, partitions, records, value_size)
        check_kept(run, topic, partitions, records)
        return {**sample_of(ran, value_size), **batch_size(run, topic)}

    return measure


def check_kept(run: Run, topic: str, partitions: int, records: int) -> None:
    """What was acknowledged must be there, once."""
    kept = sum(run.wire.records_kept(topic, partition) for partition in range(partitions))
    if kept != records:
        raise WrongAnswerError(f"{run.peer.name} acknowledged {records} records, has {kept}")


SEEN_BYTES: Final = 4 << 20


def batch_size(run: Run, topic: str) -> Sample:
    """How large the producer's batches were, by those in the middle of a partition.

    A client's batches are the larger, the longer a broker takes to answer; and they decide what a
    message costs.
    """
    middle = run.wire.end_offset(topic) // 2
    answer = run.wire.ask(fetch_request(topic, middle, SEEN_BYTES)).responses[0].partitions[0]
    if answer.error_code or not answer.records:
        return {}
    batches = split_batches(memoryview(answer.records), tolerate_partial=True)
    sizes = [len(batch) for _, batch in batches]
    return {"batch_kb": statistics.mean(sizes) / 1e3} if sizes else {}


def consume(
    client: str, partitions: int, full: int, value_size: int, segment_bytes: int = 1 << 30
) -> Callable[[Run], Sample]:
    """A consumer from the beginning of a topic that was filled before."""

    def measure(run: Run) -> Sample:
        topic = run.topic(partitions, segment_bytes=str(segment_bytes))
        records = fill(run, topic, partitions, run.count(full), value_size)
        ran = start(run, client, "consume", topic, partitions, records, value_size)
        return sample_of(ran, value_size)

    return measure


def fill(run: Run, topic: str, partitions: int, records: int, value_size: int) -> int:
    """Append at least so many records, in batches of 64 KB; gives how many."""
    batch = batch_of(FILL_BATCH, value_size)
    in_batch = int.from_bytes(batch[57:61], "big")
    asked = [look(run, produce_request(topic, p, batch)) for p in range(partitions)]
    load = Load(max(2, records // in_batch), connections=partitions, seconds_max=120)
    loaded = replay_to(run, asked, load)
    return (loaded.answers_in_all + len(asked)) * in_batch


def produce_synchronously(full: int) -> Callable[[Run], Sample]:
    """One record of 100 bytes after the other."""

    def measure(run: Run) -> Sample:
        records = max(2, run.count(full))
        topic = run.topic()
        ran = start(run, "librdkafka", "produce-synchronously", topic, 1, records, 100)
        return {**sample_of(ran, 100), "rate": ran.records / ran.seconds}

    return measure


def client_rows(client: str) -> Iterator[Row]:
    """Produce and consume by one client."""
    ahead = BestPeer("rate", 1.1)
    cheap = AtMost("cpu_us", 0.8)
    for partitions in (1, 6):
        words = f"1 KB, {partitions} partition{'s' * (partitions > 1)}"
        name = f"{partitions}-{client}"
        produces = produce(client, partitions, KILOBYTE_RECORDS, KB)
        yield produce_row(client, name, words, produces, (ahead, cheap), plotted=True)
        consumes = consume(client, partitions, KILOBYTE_RECORDS, KB)
        goals = (ahead, AtMost("cpu_s_per_gb", 0.6))
        yield consume_row(client, name, words, consumes, goals, plotted=True)
    rolled = consume(client, 1, KILOBYTE_RECORDS, KB, segment_bytes=16 << 20)
    goals = (ahead, AtMost("cpu_s_per_gb", 0.25))
    words = "1 KB, 1 partition, rolled segments"
    yield consume_row(client, f"rolled-{client}", words, rolled, goals)
    name, words = f"100b-{client}", "100 bytes, 1 partition"
    produces = produce(client, 1, SMALL_RECORDS, 100)
    yield produce_row(client, name, words, produces, (ahead,))
    yield consume_row(client, name, words, consume(client, 1, SMALL_RECORDS, 100), (ahead,))


def produce_row(
    client: str,
    name: str,
    words: str,
    measure: Callable[[Run], Sample],
    goals: tuple[Goal, ...],
    *,
    plotted: bool = False,
) -> Row:
    """A producer's row."""
    without = MOCK_LOSES
    if client == "franz-go":
        without = {"mock": "its malformed ApiVersions answer keeps franz-go from connecting"}
    return Row(
        f"produce-{name}",
        f"produce, {words}",
        f"Clients: {client}",
        measure,
        unit="MB/s",
        cpu_of="message",
        goals=goals,
        without=without,
        plotted=plotted,
    )


def consume_row(
    client: str,
    name: str,
    words: str,
    measure: Callable[[Run], Sample],
    goals: tuple[Goal, ...],
    *,
    plotted: bool = False,
) -> Row:
    """A consumer's row."""
    return Row(
        f"consume-{name}",
        f"consume, {words}",
        f"Clients: {client}",
        measure,
        unit="MB/s",
        shown=("rate", "cpu_s_per_gb"),
        cpu_of="message",
        goals=goals,
        without=MOCK_LOSES,
        plotted=plotted,
    )


SYNCHRONOUS: Final = Row(
    "synchronous-librdkafka",
    "produce, 100 bytes, each awaited before the next",
    "Clients: librdkafka",
    produce_synchronously(10_000),
    unit="records/s",
    shown=("p50_us", "p99_us", "rate", "cpu_us"),
    cpu_of="message",
    goals=(AtMost("p50_us", 100.0),),
)
ROWS: Final = (*client_rows("librdkafka"), SYNCHRONOUS, *client_rows("franz-go"))
