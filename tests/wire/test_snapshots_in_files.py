"""Snapshots in files and data directories, from one running broker to another."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from fencepost_broker import Broker, Snapshot, StorageError

from tests.support.broker import Client
from tests.wire.snapshot_harness import read, write
from tests.wire.transaction_harness import Producer as ManualProducer
from tests.wire.transaction_harness import until_state


@pytest_asyncio.fixture
async def broker() -> AsyncIterator[Broker]:
    async with Broker(topics={"t": 1}, log_level="error") as broker:
        yield broker


@pytest.mark.asyncio
async def test_another_broker_continues_from_a_file(broker: Broker, tmp_path: Path) -> None:
    async with Client(broker.bootstrap) as client:
        producer = ManualProducer(client)
        await producer.start()
        await producer.send()
    broker.snapshot("hanging").save(tmp_path / "s.tar.gz")
    loaded = Snapshot.load(tmp_path / "s.tar.gz")
    async with Broker(clock="manual", topics={"other": 1}) as other:
        other.clock.advance(days=30)
        await other.restore(loaded)
        assert other.clock.now_ms() == loaded.at.now_ms, "a manual clock is set to its time"
        assert other.stats()["topics"].keys() == {"t", "__transaction_state"}
        explained = other.explain_transaction("a")
        assert explained is not None
        assert explained.state == "Ongoing"
        other.clock.advance(minutes=2)
        async with Client(other.bootstrap) as client:
            await until_state(client, "CompleteAbort")


@pytest.mark.asyncio
async def test_data_directories(broker: Broker, tmp_path: Path) -> None:
    await write(broker, b"one")
    folder = tmp_path / "data"
    broker.snapshot().write_data_dir(folder)
    async with Broker(data_dir=folder) as on_disk:
        assert await read(on_disk, 1) == [b"one"]
        await write(on_disk, b"two")
        with pytest.raises(StorageError, match="another broker"):
            Snapshot.from_data_dir(folder)
    await broker.restore(Snapshot.from_data_dir(folder))
    assert await read(broker, 2) == [b"one", b"two"]
    assert (folder / ".kafka_cleanshutdown").exists()
