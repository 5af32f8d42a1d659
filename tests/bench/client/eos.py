"""What KIP-609's pre-registration saves: `fencepost bench eos` on brokers of several kinds."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from fencepost_client import Admin, NewTopic, Producer

from tests.bench.broker.peers import PEERS, REPOSITORY_DIR, FencepostPeer, fencepost_command
from tests.support.apache_kafka import ApacheKafka

PARTITIONS: Final = 5
RECORDS: Final = 10_000
VALUE_BYTES: Final = 100
THROUGHPUT: Final = 5_000
TRANSACTION_MS: Final = 20


class FencepostWithoutTV2(FencepostPeer):
    """Where a transaction's partitions have to be registered, as before KIP-890."""

    name = "fencepost, transaction.version 1"
    settings = ("features=transaction.version:1",)


class Case(NamedTuple):
    """A broker, and whether partitions are registered at begin."""

    broker: str
    version: int
    preregister: bool

    @property
    def name(self) -> str:
        """In words."""
        how = "registered at begin" if self.preregister else "not registered at begin"
        return f"{self.broker}, transaction.version {self.version}, {how}"


CASES: Final = (
    Case("fencepost", 1, True),
    Case("fencepost", 1, False),
    Case("fencepost", 2, True),
    Case("fencepost", 2, False),
    Case("kafka", 1, False),
    Case("kafka", 2, False),
)


@contextmanager
def broker(name: str, version: int) -> Iterator[str]:
    """A broker with this level of the feature."""
    if name == "kafka":
        level = ["--feature", f"transaction.version={version}"]
        with ApacheKafka(format_arguments=level, at_full_speed=True) as kafka:
            yield kafka.bootstrap
        return
    kind = FencepostWithoutTV2 if version == 1 else PEERS["fencepost"]
    with kind(None) as peer:
        yield f"127.0.0.1:{peer.port}"


def measure(brokers: set[str], rounds: int, share: float = 1.0) -> list[dict[str, Any]]:
    """All cases; those on one broker alternate."""
    told: list[dict[str, Any]] = []
    for place in dict.fromkeys((case.broker, case.version) for case in CASES):
        if place[0] not in brokers:
            continue
        cases = [case for case in CASES if (case.broker, case.version) == place]
        runs: dict[Case, list[dict[str, Any]]] = {case: [] for case in cases}
        with broker(*place) as bootstrap:
            asyncio.run(_fill(bootstrap, round(RECORDS * share)))
            for number in range(rounds):
                for case in cases if number % 2 else reversed(cases):
                    runs[case].append(_run(bootstrap, case, round(RECORDS * share)))
        told += [{**case._asdict(), **_middle(runs[case])} for case in cases]
    return told


def order(told: dict[str, Any]) -> tuple[str, int, bool]:
    """Where a case stands in the table."""
    return told["broker"], told["version"], not told["preregister"]


def _run(bootstrap: str, case: Case, records: int) -> dict[str, Any]:
    command = [
        *fencepost_command(), "bench", "eos", "--bootstrap-server", bootstrap, "--json",
        "--input-topic", "input", "--output-topic", "output", "--num-records", str(records),
        "--throughput", str(THROUGHPUT), "--transaction-duration-ms", str(TRANSACTION_MS),
        "--transactional-id", uuid.uuid4().hex, "--group-id", uuid.uuid4().hex,
        "--producer-props", "batch.size=1000", "linger.ms=0", "--consumer-props",
        "auto.offset.reset=earliest",
        "--preregister" if case.preregister else "--no-preregister",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=REPOSITORY_DIR, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-2000:]}")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _middle(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Requests a transaction and milliseconds a phase, the medians of the rounds."""
    requests = {
        api: statistics.median(run["requests"][api] / run["transactions"] for run in runs)
        for api in runs[0]["requests"]
    }
    phases = {
        phase: {
            "avg_ms": statistics.median(run["phases_ms"][phase]["avg"] for run in runs),
            "count": statistics.median(run["phases_ms"][phase]["count"] for run in runs),
        }
        for phase in runs[0]["phases_ms"]
    }
    transactions = statistics.median(run["transactions"] for run in runs)
    return {"requests": requests, "phases": phases, "transactions": transactions}


async def _fill(bootstrap: str, records: int) -> None:
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic("input", 1, 1), NewTopic("output", PARTITIONS, 1)])
    async with Producer(bootstrap) as producer:
        await producer.send_many("input", [bytes(VALUE_BYTES)] * records)
        await producer.flush()
