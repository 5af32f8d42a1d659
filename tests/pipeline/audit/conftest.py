"""A clean log of our own broker, made once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from fencepost_broker import Broker

from tests.pipeline.audit.memory_logs import MemoryLogs
from tests.pipeline.audit.traffic import TOPICS, make_traffic

SETTINGS = {"group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 2,
            "transaction.state.log.num.partitions": 2}  # fmt: skip


@pytest.fixture(scope="session")
def clean_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory on which every invariant holds. Nobody writes into it."""
    folder = tmp_path_factory.mktemp("audit") / "data"

    async def run() -> None:
        async with Broker(settings=SETTINGS, data_dir=folder, topics=TOPICS) as broker:
            await make_traffic(broker.bootstrap)

    asyncio.run(run())
    return folder


@pytest.fixture(scope="session")
def _clean_logs(clean_folder: Path) -> MemoryLogs:
    return MemoryLogs.of_folder(clean_folder)


@pytest.fixture
def logs(_clean_logs: MemoryLogs) -> MemoryLogs:
    """The clean logs, a copy to doctor."""
    return _clean_logs.copy()
