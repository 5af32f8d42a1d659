"""Settings and latencies, for all benchmarks."""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from fencepost_client.clients.admin import Admin
from fencepost_client.clients.delivery import Delivery, batch_of
from fencepost_client.commands.bench.settings import merge
from fencepost_client.commands.bootstrap import check_that_a_broker_answers
from fencepost_client.commands.errors import UsageError
from fencepost_client.commands.text import reason
from fencepost_client.config.kafka_names import ADMIN_NAMES, read_properties
from fencepost_client.producer.batch import Batch
from fencepost_client.types import TopicPartition

DEFAULT_BOOTSTRAP: Final = "127.0.0.1:9092"
DEFAULT_TRANSACTION_MS: Final = 3000
_LISTEN_SECONDS: Final = 10.0


def now_ms() -> float:
    """A clock for durations."""
    return time.monotonic() * 1000


def some_number() -> int:
    """For names that shall not be taken."""
    return random.SystemRandom().randrange(1 << 32)


async def settings_of(
    options: argparse.Namespace,
    kind: str,
    defaults: Mapping[str, str],
    own: Mapping[str, str | None],
) -> dict[str, str]:
    """Settings of one client (``producer`` or ``consumer``); says when nobody listens there."""
    path = getattr(options, f"{kind}_config")
    file: Mapping[str, str] = {}
    if path is not None:
        try:
            file = read_properties(Path(path).read_text(encoding="utf-8"))  # noqa: ASYNC240
        except (OSError, ValueError) as error:
            raise UsageError(f"--{kind}-config {path}: {reason(error)}") from error
    settings = merge(
        {"bootstrap.servers": DEFAULT_BOOTSTRAP, **defaults},
        file,
        getattr(options, f"{kind}_props"),
        {"bootstrap.servers": options.bootstrap, **own},
    )
    await check_that_a_broker_answers(settings, _LISTEN_SECONDS)
    return settings


async def partitions_of(topic: str, settings: Mapping[str, str]) -> list[TopicPartition]:
    """All partitions of a topic, to register them."""
    common = {name: value for name, value in settings.items() if name in ADMIN_NAMES}
    async with Admin.from_config(common) as admin:
        described = (await admin.describe_topics([topic]))[topic]
    return [TopicPartition(topic, each.partition) for each in described.partitions]


class Stopwatch:
    """Latencies of records, from their sending to the outcome of their batch."""

    def __init__(self, tell: Callable[[int, int, int], None]) -> None:
        self._tell = tell
        self._on_the_way: dict[Batch, list[tuple[int, float, int]]] = {}

    def sent(self, number: int, delivery: Delivery, sent_ms: float, size_bytes: int) -> None:
        """A record was handed over; ``tell`` gets its number, latency and size."""
        batch = batch_of(delivery)
        records = self._on_the_way.get(batch)
        if records is None:
            records = self._on_the_way[batch] = []
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            future.add_done_callback(lambda _: self._done(batch))
            batch.waiters.append(future)
        records.append((number, sent_ms, size_bytes))

    def _done(self, batch: Batch) -> None:
        records, at_ms = self._on_the_way.pop(batch), now_ms()
        if batch.error is None:
            for number, sent_ms, size_bytes in records:
                self._tell(number, int(at_ms - sent_ms), size_bytes)
