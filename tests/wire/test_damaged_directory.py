"""A data directory with a damaged file: nothing that was acknowledged goes in silence."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_broker.storage.log import StorageError
from fencepost_client import Admin, Consumer, NewTopic, Producer, TopicPartition

from tests.support.broker import Client

pytestmark = pytest.mark.asyncio


async def fill(folder: Path) -> None:
    """Ten records, and a clean stop."""
    async with (
        Broker(topics={"t": 1}, data_dir=folder) as broker,
        Producer(broker.bootstrap) as producer,
    ):
        for number in range(10):
            await producer.send("t", b"%d" % number)
    assert (folder / ".kafka_cleanshutdown").exists()


async def read(broker: Broker) -> list[bytes]:
    """All of the ten records."""
    values = []
    async with Consumer(broker.bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([TopicPartition("t", 0)])
        async for record in consumer:
            values.append(bytes(record.value or b""))
            if len(values) == 10:
                break
    return values


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but the lock."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


def change_id(path: Path) -> bytes:
    """One other character in the topic's id; gives the file as it was."""
    before = path.read_bytes()
    at = before.index(b"topic_id: ") + 12
    other = b"B" if before[at : at + 1] != b"B" else b"C"
    path.write_bytes(before[:at] + other + before[at + 1 :])
    return before


async def test_a_metadata_log_with_another_id_is_refused_and_left_alone(tmp_path: Path) -> None:
    await fill(tmp_path)
    path = tmp_path / "__cluster_metadata-0" / "partition.metadata"
    before = change_id(path)
    damaged = contents(tmp_path)
    for _ in range(2):
        with pytest.raises(StorageError, match=r"partition\.metadata.*Nothing was changed"):
            await Broker(data_dir=tmp_path).start()
        assert contents(tmp_path) == damaged
    path.write_bytes(before)
    async with Broker(data_dir=tmp_path) as broker:
        assert len(await read(broker)) == 10


async def test_the_metadata_logs_own_id_is_written_anew_where_it_is_missing(tmp_path: Path) -> None:
    await fill(tmp_path)
    path = tmp_path / "__cluster_metadata-0" / "partition.metadata"
    before = path.read_bytes()
    path.unlink()
    async with Broker(data_dir=tmp_path) as broker:
        assert len(await read(broker)) == 10
    assert path.read_bytes() == before


async def test_the_only_copy_of_a_partition_with_another_id_is_refused_and_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await fill(tmp_path)
    path = tmp_path / "t-0" / "partition.metadata"
    before = change_id(path)
    damaged = contents(tmp_path / "t-0")
    async with Broker(data_dir=tmp_path) as broker:
        async with Client(broker.bootstrap) as client:
            with pytest.raises(AssertionError, match="another topic's id"):
                await client.produce("t", 0, b"x")
        assert "nothing in its folder was changed" in capsys.readouterr().err
    assert contents(tmp_path / "t-0") == damaged
    path.write_bytes(before)
    async with Broker(data_dir=tmp_path) as broker:
        assert len(await read(broker)) == 10


async def test_a_partition_whose_id_cannot_be_read_is_refused_and_the_broker_serves_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await fill(tmp_path)
    path = tmp_path / "t-0" / "partition.metadata"
    path.write_bytes(b"\xff" * 50)
    damaged = contents(tmp_path / "t-0")
    async with (
        Broker(data_dir=tmp_path, topics={"other": 1}) as broker,
        Client(broker.bootstrap) as client,
    ):
        assert f"{path}: it has no topic id" in capsys.readouterr().err
        assert await client.produce("other", 0, b"x") == 0
        with pytest.raises(AssertionError, match="the log is not used"):
            await client.produce("t", 0, b"x")
    assert contents(tmp_path / "t-0") == damaged


async def test_an_empty_file_of_the_directorys_owner_is_damaged(tmp_path: Path) -> None:
    await fill(tmp_path)
    (tmp_path / "meta.properties").write_bytes(b"")
    with pytest.raises(StorageError, match=r"meta\.properties: it has no cluster\.id"):
        await Broker(data_dir=tmp_path).start()


async def test_the_owners_file_of_a_directory_with_partitions_must_be_there(tmp_path: Path) -> None:
    await fill(tmp_path)
    before = (tmp_path / "meta.properties").read_bytes()
    (tmp_path / "meta.properties").unlink()
    damaged = contents(tmp_path)
    with pytest.raises(StorageError, match=r"meta\.properties: it is not there"):
        await Broker(data_dir=tmp_path).start()
    assert contents(tmp_path) == damaged
    (tmp_path / "meta.properties").write_bytes(before)
    async with Broker(data_dir=tmp_path) as broker:
        assert len(await read(broker)) == 10


async def test_an_id_of_the_directory_that_is_none_is_refused(tmp_path: Path) -> None:
    await fill(tmp_path)
    path = tmp_path / "meta.properties"
    path.write_text(path.read_text().replace("directory.id=", "directory.id=?"))
    with pytest.raises(StorageError, match=r"meta\.properties: its directory\.id is no uuid"):
        await Broker(data_dir=tmp_path).start()


async def test_garbage_in_a_cleanly_closed_metadata_log_is_refused_by_every_start(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "data"
    await fill(folder)
    path = folder / "__cluster_metadata-0" / f"{0:020d}.log"
    path.write_bytes(random.Random(15).randbytes(100))
    damaged = contents(folder)
    command = [sys.executable, "-m", "fencepost_broker", "up", "--port", "0"]
    command += ["--data-dir", str(folder)]
    for _ in range(2):
        ended = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
        assert ended.returncode == 5
        assert f"{path}: there is no whole batch at byte 0 (offset 0)" in ended.stderr
        assert "--recover-metadata" in ended.stderr
        assert contents(folder) == damaged


async def test_recovery_keeps_the_damaged_log_and_the_records_of_topics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await fill(tmp_path)
    path = tmp_path / "__cluster_metadata-0" / f"{0:020d}.log"
    garbage = random.Random(15).randbytes(100)
    path.write_bytes(garbage)
    settings = {"metadata.log.recover": True}
    async with Broker(data_dir=tmp_path, settings=settings):
        told = capsys.readouterr().err
        assert "metadata-recovered" in told
        assert ".log.damaged" in told
        assert "stray" in told
    assert path.with_name(path.name + ".damaged").read_bytes() == garbage
    kept = contents(tmp_path)
    (stray,) = (name for name in kept if name.startswith("t-0") and name.endswith(f"{0:020d}.log"))
    assert "-stray/" in stray
    assert kept[stray]
    async with Broker(topics={"new": 1}, data_dir=tmp_path):
        assert "metadata-recovered" not in capsys.readouterr().err


async def test_names_that_differ_by_case_only_do_not_share_records(tmp_path: Path) -> None:
    await fill(tmp_path)
    async with Broker(data_dir=tmp_path) as broker:
        (tmp_path / "T-0").symlink_to("t-0")  # the file system does not distinguish the two
        async with Client(broker.bootstrap) as client, Admin(broker.bootstrap) as admin:
            await admin.create_topics([NewTopic("T", 1)])
            with pytest.raises(AssertionError, match="differ by case only"):
                await client.produce("T", 0, b"x")
        assert len(await read(broker)) == 10
