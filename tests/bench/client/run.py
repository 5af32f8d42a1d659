"""Runs the rows: who takes part does so once a round, one behind the other."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from fencepost_client import Admin, NewTopic, Producer

from tests.bench.broker.build import BuildError, librdkafka_python
from tests.bench.broker.measure import touch_free_memory
from tests.bench.broker.peers import PEERS, REPOSITORY_DIR
from tests.bench.client.results import Samples
from tests.bench.client.rows import CONFLUENT, MODULES, Contender, Row

JOB_SECONDS: Final = 120.0
BATCHES_TO_CONSUME: Final = 1 << 14
MEMORY_TOUCHED: Final = 1 << 30
"""Before each job; more than it needs."""
TRIES: Final = 2
"""A round in which somebody fails twice is one without them."""


class JobFailedError(Exception):
    """A library has not done its job; says what it said."""


@contextmanager
def broker(name: str) -> Iterator[str]:
    """Start one of them; gives where it is."""
    with PEERS[name](None) as peer:
        yield f"127.0.0.1:{peer.port}"


def measure(row: Row, bootstrap: str, rounds: int, share: float = 1.0) -> Samples:
    """All rounds of a row."""
    samples = Samples()
    filled = asyncio.run(_make_topic(bootstrap, row, share)) if row.filled_with else None
    for number in range(-row.warm_up_rounds, rounds):
        turn = number % len(row.contenders)
        for contender in row.contenders[turn:] + row.contenders[:turn]:
            if contender.name in samples.troubles:
                continue
            try:
                told = _try(row, contender, bootstrap, filled, share)
            except (JobFailedError, BuildError) as error:
                samples.troubles[contender.name] = str(error)
            else:
                if number >= 0:
                    samples.add(contender.name, told)
    return samples


def _try(
    row: Row, contender: Contender, bootstrap: str, topic: str | None, share: float
) -> Mapping[str, float]:
    for left in reversed(range(TRIES)):
        try:
            return _ask(row, contender, bootstrap, topic, share)
        except JobFailedError:
            if not left:
                raise
    raise AssertionError


def _ask(
    row: Row, contender: Contender, bootstrap: str, topic: str | None, share: float
) -> Mapping[str, float]:
    job: dict[str, Any] = {**row.job, "kind": row.kind, "bootstrap": bootstrap}
    job["topic"] = topic or asyncio.run(_make_topic(bootstrap, row, share))
    job["way"] = contender.way
    if "count" in job and row.kind != "memory":
        job["count"] = _whole(job["count"] * share * row.shares.get(contender.library, 1.0))
    if "seconds" in job:
        job["seconds"] *= share
    touch_free_memory(max(1 << 20, round(MEMORY_TOUCHED * share)))
    python = librdkafka_python() if contender.library == CONFLUENT else sys.executable
    # What modules that are compiled in the process leave free would hide half of a client's memory.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    words = [python, "-m", "tests.bench.client.worker", MODULES[contender.library], json.dumps(job)]
    try:
        done = subprocess.run(
            words,
            cwd=REPOSITORY_DIR,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=JOB_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise JobFailedError(f"not done after {JOB_SECONDS:.0f} s") from None
    if done.returncode:
        raise JobFailedError(_last_line(done.stderr) or f"ended with {done.returncode}")
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def _whole(count: float) -> int:
    return max(1000, round(count / 1000) * 1000)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:200] if lines else ""


async def _make_topic(bootstrap: str, row: Row, share: float) -> str:
    """A topic of this row's own; filled by our producer, in batches of 16 KB."""
    name = f"{row.name}-{uuid.uuid4().hex[:8]}"
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(name, row.partitions, 1)])
    if row.filled_with:
        value = bytes(row.job.get("size", 100))
        count = row.filled_with if row.kind == "memory" else _whole(row.filled_with * share)
        async with Producer(bootstrap, batch_size=BATCHES_TO_CONSUME) as producer:
            for partition in range(row.partitions):
                await producer.send_many(name, [value] * count, partition=partition)
            await producer.flush()
    return name


def versions(names: Sequence[str]) -> dict[str, str]:
    """Of the brokers that are measured."""
    return {name: PEERS[name](None).version() for name in names}
