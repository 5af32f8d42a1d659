"""What a broker holds and how it starts: each measured on a fresh one."""

from __future__ import annotations

import os
import selectors
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from tests.bench.broker.loader import Load
from tests.bench.broker.measure import cpu_seconds, memory, pinned
from tests.bench.broker.peers import (
    IN_MEMORY,
    ON_DISK,
    OURS,
    REPOSITORY_DIR,
    as_a_user_has_it,
)
from tests.bench.broker.rows import AtMost, Row, Run, Sample
from tests.bench.broker.rows_raw import (
    CONNECTIONS,
    KB,
    MEGABYTE,
    batch_of,
    check_fetched,
    fetch_request,
    look,
    produce_request,
    replay_to,
    sample_of,
)
from tests.bench.broker.wire import HOST, Wire, WrongAnswerError

MIB: Final = 1 << 20


@contextmanager
def fresh(run: Run) -> Iterator[Run]:
    """The same run on a broker of the same kind that has done nothing yet."""
    with run.peer.fresh() as peer, Wire(peer.port, peer.newest_right) as wire:
        yield run.at(peer, wire)


# -- start ---------------------------------------------------------------------------------------


def cold_start(run: Run) -> Sample:
    """From the start of the process to the first answer."""
    return {"start_ms": run.peer.cold_start_seconds() * 1e3}


IN_PROCESS_STARTS: Final = 21


def in_process_start(run: Run) -> Sample:
    """In a process that has done it before, as in a suite of tests; and the first one there."""
    command = [sys.executable, "-m", "tests.bench.broker.in_process", str(IN_PROCESS_STARTS)]
    with pinned(run.peer.core):
        result = subprocess.run(
            command,
            cwd=REPOSITORY_DIR,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=as_a_user_has_it(os.environ),
        )
    if result.returncode != 0:
        raise WrongAnswerError(result.stderr.strip()[-1000:])
    first, *others = map(float, result.stdout.split())
    return {"start_ms": statistics.median(others), "first_start_ms": first}


def idle(run: Run) -> Sample:
    """After a few requests, with nothing stored."""
    with fresh(run) as other:
        look(other, ApiVersionsRequest("bench", "1"))
        look(other, MetadataRequest([]))
        return {"memory_mib": memory(other.peer.pid).resident / MIB}


# -- memory --------------------------------------------------------------------------------------

GIGABYTE: Final = 1_000


def after_a_gigabyte(run: Run) -> Sample:
    """A thousand batches of 1 MB, produced and then fetched one after the other."""
    with fresh(run) as other:
        topic = other.topic()
        batch = batch_of(MEGABYTE, KB)
        records = int.from_bytes(batch[57:61], "big")
        asked = look(other, produce_request(topic, 0, batch))
        before = memory(other.peer.pid)
        count = other.count(GIGABYTE)
        loaded = replay_to(other, [asked], Load(count, 1, seconds_max=120))
        for number in range(loaded.answers_in_all):
            offset = number * records
            check_fetched(look(other, fetch_request(topic, offset, len(batch))), offset, len(batch))
        after = memory(other.peer.pid)
        files_before, files_after = before.resident - before.own, after.resident - after.own
        return {
            "own_growth_mib": (after.own - before.own) / MIB,
            "file_growth_mib": (files_after - files_before) / MIB,
        }


# -- connections ---------------------------------------------------------------------------------

PARKED: Final = 8_000
PARKED_MAX_WAIT_MS: Final = 300_000
QUIET_SECONDS: Final = 0.2


def parked(run: Run) -> Sample:
    """Connections with a Fetch each that waits; then small requests of others beside them."""
    with fresh(run) as other:
        topic = other.topic()
        small = look(other, MetadataRequest([MetadataRequestTopic(name=topic)]))
        replay_to(other, [small], Load(2_000, CONNECTIONS))
        before = memory(other.peer.pid).resident
        frame = other.wire.encode(fetch_request(topic, 0, MEGABYTE, PARKED_MAX_WAIT_MS))
        connections = [connected(other.peer.port) for _ in range(other.count(PARKED))]
        try:
            for connection in connections:
                connection.sendall(frame)
            wait_until_idle(other.peer.pid)
            grown = memory(other.peer.pid).resident - before
            loaded = replay_to(other, [small], Load(other.count(50_000), CONNECTIONS))
            look(other, produce_request(topic, 0, batch_of(0, 100)))
            check_woken(connections)
        finally:
            for connection in connections:
                connection.close()
        return {**sample_of(loaded), "connection_kib": grown / len(connections) / KB}


def connected(port: int) -> socket.socket:
    """A connection that sends at once."""
    connection = socket.create_connection((HOST, port), timeout=60)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def wait_until_idle(pid: int) -> None:
    """Until the broker has nothing to do any more, or nearly: a JVM never rests."""
    for _ in range(100):
        before = cpu_seconds(pid)
        time.sleep(QUIET_SECONDS)
        if cpu_seconds(pid) - before < QUIET_SECONDS / 10:
            return
    raise WrongAnswerError("the broker did not come to rest")


def check_woken(connections: list[socket.socket]) -> None:
    """Every Fetch that waited must be answered, now that there is a record."""
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection, selectors.EVENT_READ, connection)
        waiting = len(connections)
        while waiting:
            events = selector.select(30)
            if not events:
                raise WrongAnswerError(f"{waiting} parked fetches were not answered")
            for key, _ in events:
                if not key.data.recv(65536):
                    raise WrongAnswerError("a connection with a parked fetch was closed")
                waiting -= 1
                selector.unregister(key.data)


# -- partitions ----------------------------------------------------------------------------------

FEW_PARTITIONS: Final = 10
MANY_PARTITIONS: Final = 10_000
TOPIC_PARTITIONS: Final = 1_000
TURNS: Final = 5
"""Two brokers take turns: one measured after the other differ by what the machine did meanwhile."""


def cost_by_partitions(make: Callable[[Run, str], Message]) -> Callable[[Run], Sample]:
    """The cost of a request about one partition, with few and with many partitions around it."""

    def measure(run: Run) -> Sample:
        with fresh(run) as quiet, fresh(run) as crowded:
            left = run.count(MANY_PARTITIONS) - FEW_PARTITIONS
            while left > 0:
                crowded.topic(min(TOPIC_PARTITIONS, left))
                left -= TOPIC_PARTITIONS
            asked = [(each, make(each, each.topic(FEW_PARTITIONS))) for each in (quiet, crowded)]
            turns = [[cost(*each) for each in asked] for _ in range(TURNS)]
            return {
                "times": statistics.median(many / few for few, many in turns),
                "few_cpu_us": statistics.median(few for few, _ in turns),
                "cpu_us": statistics.median(many for _, many in turns),
            }

    return measure


def cost(run: Run, request: Message) -> float:
    """Microseconds of CPU."""
    load = Load(max(1_000, run.count(40_000)), CONNECTIONS, 4)
    return replay_to(run, [look(run, request)], load).cpu_us


def one_record_of(run: Run, topic: str) -> Message:
    """A Fetch of one record."""
    batch = batch_of(0, 100)
    look(run, produce_request(topic, 0, batch))
    return fetch_request(topic, 0, len(batch))


BY_PARTITIONS: Final[tuple[tuple[str, str, Callable[[Run, str], Message]], ...]] = (
    (
        "metadata",
        "Metadata of one topic",
        lambda _, topic: MetadataRequest([MetadataRequestTopic(name=topic)]),
    ),
    (
        "produce",
        "produce of 100 bytes",
        lambda _, topic: produce_request(topic, 0, batch_of(0, 100)),
    ),
    ("fetch", "fetch of 100 bytes", one_record_of),
)
FLAT: Final = 1.2
"""What counts as flat: two measurements of the same differ by so much."""


def partition_rows() -> Iterator[Row]:
    """Each kind of request."""
    without = {
        "kafka": "10,000 partitions take it minutes",
        "mock": "topics have 4 partitions there",
    }
    for name, title, make in BY_PARTITIONS:
        yield Row(
            f"partitions-{name}",
            title,
            f"Cost of a request: {MANY_PARTITIONS:,} partitions beside {FEW_PARTITIONS}",
            cost_by_partitions(make),
            shown=("times", "few_cpu_us", "cpu_us"),
            goals=(AtMost("times", FLAT),),
            without=without,
        )


NOT_IN_PROCESS: Final = "it has no such start"
ROWS: Final = (
    Row(
        "cold-start",
        "process start to first answer",
        "Start and memory",
        cold_start,
        shown=("start_ms",),
        goals=(AtMost("start_ms", 100.0),),
    ),
    Row(
        "in-process-start",
        "start inside of a test's process",
        "Start and memory",
        in_process_start,
        shown=("start_ms", "first_start_ms"),
        goals=(AtMost("start_ms", 15.0),),
        ours=(IN_MEMORY,),
        without=dict.fromkeys(("kafka", "kfake", "mock"), NOT_IN_PROCESS),
    ),
    Row(
        "idle-memory",
        "resident memory, idle",
        "Start and memory",
        idle,
        shown=("memory_mib",),
        goals=(AtMost("memory_mib", 30.0),),
    ),
    Row(
        "memory-after-1gb",
        "1 GB produced and fetched",
        "Start and memory",
        after_a_gigabyte,
        shown=("own_growth_mib", "file_growth_mib"),
        goals=(AtMost("own_growth_mib", 64.0, (ON_DISK,)),),
        ours=OURS,
        without={"mock": "keeps at most 5 MiB a partition"},
    ),
    Row(
        "parked",
        f"{PARKED:,} connections with a waiting fetch each; Metadata of 4 others",
        "Many connections",
        parked,
        shown=("connection_kib", "p99_us", "cpu_us"),
        goals=(AtMost("connection_kib", 6.5), AtMost("p99_us", 2_000.0)),
        without={"mock": "a produce does not wake the fetches that wait for it"},
        ours=(IN_MEMORY,),
    ),
    *partition_rows(),
)
