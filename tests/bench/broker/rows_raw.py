"""The server's own limit: frames that were encoded before, replayed by the native loader."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.batch import split_batches, verify_crc
from fencepost_protocol.records.writer import build_batch

from tests.bench.broker.loader import Load, Loaded, replay
from tests.bench.broker.peers import IN_MEMORY
from tests.bench.broker.rows import (
    AtLeast,
    AtMost,
    BestPeer,
    Goal,
    NotServedError,
    Row,
    Run,
    Sample,
)
from tests.bench.broker.wire import (
    ANSWER_SECONDS,
    Asked,
    WrongAnswerError,
    error_holder,
    refuse_later_than,
)

CONNECTIONS: Final = 4
PARTITIONS: Final = 4
KB: Final = 1024
MEGABYTE: Final = 1_000_000
RECORD_OVERHEAD: Final = 10
"""What a record of a kilobyte has around its value, in a batch of fewer than a thousand."""

MOCK_LOSES: Final = {"mock": "keeps at most 5 MiB a partition"}


def batch_of(size: int, value_size: int) -> bytes:
    """A batch of at most so many bytes, of records with such values (a single one at least)."""
    count = max(1, (size - 61) // (value_size + RECORD_OVERHEAD))
    now_ms = int(time.time() * 1000)  # or retention removes it
    return bytes(build_batch(None, [bytes(value_size)] * count, now_ms))


def produce_request(topic: str, partition: int, batch: bytes) -> ProduceRequest:
    """Acknowledged by all, without a producer id: it can be sent again and again."""
    data = TopicProduceData(topic, partition_data=[PartitionProduceData(partition, batch)])
    return ProduceRequest(None, -1, 30_000, [data])


def fetch_request(topic: str, offset: int, size: int, max_wait_ms: int = 0) -> FetchRequest:
    """Of one partition, without a session."""
    wanted = FetchPartition(0, fetch_offset=offset, partition_max_bytes=size)
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        max_bytes=size,
        topics=[FetchTopic(topic, partitions=[wanted])],
    )


def look(run: Run, request: Message) -> Asked:
    """The first answer to a request, decoded and without error."""
    key = ApiKey(getattr(request, "API_KEY"))  # noqa: B009 (generated classes have it)
    if not run.wire.serves(key):
        raise NotServedError(f"{key.name} is not served")
    asked = run.wire.look(request)
    holder, name = error_holder(asked.response, key)
    code = getattr(holder, name, 0)
    if code:
        raise WrongAnswerError(f"{run.peer.name} answers {key.name} with {ErrorCode(code).name}")
    return asked


def replay_to(run: Run, asked: Sequence[Asked], load: Load) -> Loaded:
    """Replay frames to the broker of this run."""
    return replay(asked, load, run.peer.port, run.peer.pid, run.client_core)


def sample_of(loaded: Loaded, bytes_each: int = 0) -> Sample:
    """A rate in requests a second or, with bytes, in MB a second."""
    rate = loaded.per_second * bytes_each / 1e6 if bytes_each else loaded.per_second
    return {
        "rate": rate,
        "cpu_us": loaded.cpu_us,
        "p50_us": loaded.p50_us,
        "p99_us": loaded.p99_us,
        "client_share": loaded.client_share,
        "broker_share": loaded.broker_share,
    }


# -- produce -------------------------------------------------------------------------------------


def produce(size: int, value_size: int, requests: int, depth: int) -> Callable[[Run], Sample]:
    """Each connection appends to all of four partitions in turn."""

    def measure(run: Run) -> Sample:
        batch = batch_of(size, value_size)
        records = int.from_bytes(batch[57:61], "big")
        topic = run.topic(PARTITIONS)
        asked = [look(run, produce_request(topic, p, batch)) for p in range(PARTITIONS)]
        loaded = replay_to(run, asked, Load(run.count(requests), CONNECTIONS, depth))
        sent = (len(asked) + loaded.answers_in_all) * records
        kept = sum(run.wire.end_offset(topic, p) for p in range(PARTITIONS))
        if kept != sent:
            raise WrongAnswerError(f"{run.peer.name} acknowledged {sent} records, has {kept}")
        return sample_of(loaded, len(batch) if records > 1 else 0)

    return measure


# -- fetch ---------------------------------------------------------------------------------------

FETCHED_BATCHES: Final = 64


def fetch(size: int, requests: int, segment_bytes: int = 1 << 30) -> Callable[[Run], Sample]:
    """One batch after the other, from a topic of 64 of them."""

    def measure(run: Run) -> Sample:
        batch = batch_of(size, KB)
        topic = run.topic(segment_bytes=str(segment_bytes))
        for _ in range(FETCHED_BATCHES + 1):  # the last one keeps its segment open
            look(run, produce_request(topic, 0, batch))
        records = int.from_bytes(batch[57:61], "big")
        asked = []
        for number in range(FETCHED_BATCHES):
            one = look(run, fetch_request(topic, number * records, len(batch)))
            check_fetched(one, number * records, len(batch))
            asked.append(one)
        loaded = replay_to(run, asked, Load(run.count(requests), CONNECTIONS))
        gigabytes = loaded.answers * len(batch) / 1e9
        per_gb = loaded.broker_cpu_seconds / gigabytes
        return {**sample_of(loaded, len(batch)), "cpu_s_per_gb": per_gb}

    return measure


def check_fetched(asked: Asked, offset: int, size: int) -> None:
    """Exactly the one batch that begins there, whole and intact."""
    records = memoryview(asked.response.responses[0].partitions[0].records)
    batches = list(split_batches(records))
    first = int.from_bytes(records[:8], "big")
    if len(batches) != 1 or len(records) != size or first != offset:
        raise WrongAnswerError(
            f"a fetch of {size} bytes at {offset} gave {len(batches)} batches from {first} on, "
            f"{len(records)} bytes"
        )
    verify_crc(records)


KAFKA_LOADS: Final = (
    "kafka: InitProducerId is answered with COORDINATOR_LOAD_IN_PROGRESS while the next block of "
    "producer ids is fetched; such answers are counted as if they were right."
)


TRY_AGAIN: Final = (InitProducerIdRequest, FindCoordinatorRequest)
TRY_AGAIN_CODES: Final = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
}


def look_patiently(run: Run, request: Message) -> Asked:
    """The same for requests that Apache Kafka answers at first, or now and then, with "try again".

    Its coordinators load their topics, and producer ids come by blocks of 1,000.
    """
    if run.peer.name != "kafka" or not isinstance(request, TRY_AGAIN):
        return look(run, request)
    end = time.monotonic() + ANSWER_SECONDS
    while run.wire.ask(request).error_code in TRY_AGAIN_CODES:
        refuse_later_than(end, "the coordinator is still not there")
    if isinstance(request, InitProducerIdRequest):
        return replace(run.wire.look(request), error_at=0)
    return look(run, request)


# -- small requests ------------------------------------------------------------------------------


def small(make: Callable[[Run], Message], requests: int, depth: int) -> Callable[[Run], Sample]:
    """The same request again and again."""

    def measure(run: Run) -> Sample:
        asked = look_patiently(run, make(run))
        return sample_of(replay_to(run, [asked], Load(run.count(requests), CONNECTIONS, depth)))

    return measure


SMALL: Final[tuple[tuple[str, str, Callable[[Run], Message]], ...]] = (
    (
        "metadata",
        "Metadata of one topic",
        lambda run: MetadataRequest([MetadataRequestTopic(name=run.topic())]),
    ),
    ("find-coordinator", "FindCoordinator", lambda _: FindCoordinatorRequest("some-group", 0)),
    ("api-versions", "ApiVersions", lambda _: ApiVersionsRequest("bench", "1")),
    (
        "init-producer-id",
        "InitProducerId, idempotent",
        lambda _: InitProducerIdRequest(None, 60_000),
    ),
)
SMALL_CPU_US: Final = 10.0


def small_rows() -> Iterator[Row]:
    """Each of them alone on its connection and pipelined."""
    for name, title, make in SMALL:
        for depth in (1, 16):
            goals: tuple[Goal, ...] = (BestPeer("rate", 1.0),)
            if depth == 1:
                goals += (AtMost("cpu_us", SMALL_CPU_US),)
            yield Row(
                f"{name}-{depth}",
                f"{title}, depth {depth}",
                f"Small requests, {CONNECTIONS} connections",
                small(make, 40_000 if depth == 1 else 80_000, depth),
                unit="requests/s",
                goals=goals,
                ours=(IN_MEMORY,),
                plotted=depth == 1,
                remark=KAFKA_LOADS if name == "init-producer-id" else "",
            )


def large_rows() -> Iterator[Row]:
    """Batches as they travel."""
    section = f"Frames that were encoded before, {CONNECTIONS} connections"
    for depth in (1, 16):
        yield Row(
            f"raw-produce-100b-{depth}",
            f"produce, one record of 100 bytes a request, depth {depth}",
            section,
            produce(0, 100, 40_000 * (1 + (depth > 1)), depth),
            unit="requests/s",
            goals=(AtMost("cpu_us", 15.0),) if depth == 1 else (),
        )
    for depth in (1, 16):
        yield Row(
            f"raw-produce-16k-{depth}",
            f"produce, batches of 16 KB, depth {depth}",
            section,
            produce(16 * KB, KB, 20_000, depth),
            unit="MB/s",
            goals=(AtMost("cpu_us", 26.0),),
            without=MOCK_LOSES,
        )
    yield Row(
        "raw-produce-1m",
        "produce, batches of 1 MB, depth 1",
        section,
        produce(MEGABYTE, KB, 1_000, 1),
        unit="MB/s",
        goals=(AtLeast("rate", 1500.0),),
        without=MOCK_LOSES,
        plotted=True,
    )
    for rolled in (False, True):
        yield Row(
            "raw-fetch-1m-rolled" if rolled else "raw-fetch-1m",
            f"fetch of 1 MB{' from rolled segments' if rolled else ''}, depth 1",
            section,
            fetch(MEGABYTE, 5_000, 2 * MEGABYTE if rolled else 1 << 30),
            unit="MB/s",
            shown=("rate", "cpu_s_per_gb"),
            goals=(AtLeast("rate", 2500.0),),
            without=MOCK_LOSES,
            plotted=not rolled,
        )


ROWS: Final = (*large_rows(), *small_rows())
