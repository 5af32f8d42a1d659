"""``fencepost producer-ids history``, and a block that ``fencepost up`` goes on behind."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_broker.cli.main import main
from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.log.records import encode_record
from fencepost_broker.metadata.log.snapshot_files import write_snapshot
from fencepost_broker.storage.disk.files import FileDisk
from fencepost_client import Producer
from fencepost_protocol.generated.producer_ids_record import ProducerIdsRecord
from fencepost_protocol.records.batch import assign_offset
from fencepost_protocol.records.writer import build_batch

from tests.wire.up_harness import broker as up_process


def history(capsys: pytest.CaptureFixture[str], data_dir: Path) -> tuple[int, Any]:
    capsys.readouterr()
    code = main(["producer-ids", "history", str(data_dir), "--json"])
    return code, json.loads(capsys.readouterr().out)


def table(capsys: pytest.CaptureFixture[str], data_dir: Path) -> tuple[int, list[str]]:
    capsys.readouterr()
    code = main(["producer-ids", "history", str(data_dir)])
    return code, [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


async def produce(bootstrap: str) -> None:
    async with Producer(bootstrap) as producer:
        await producer.send_and_wait("t", b"x")


@pytest.mark.asyncio
async def test_who_was_given_which_block(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        async with Broker(data_dir=tmp_path, topics={"t": 1}) as broker:
            await produce(broker.bootstrap)
    code, told = history(capsys, tmp_path)
    assert code == 0
    assert (told["first_offset"], told["is_whole"], told["overlaps"]) == (0, True, [])
    first, second = told["blocks"]
    assert (first["broker_id"], first["first_id"], first["last_id"]) == (1, 0, 999)
    assert (second["broker_id"], second["first_id"], second["last_id"]) == (1, 1000, 1999)
    assert 0 < first["offset"] < second["offset"]
    assert first["broker_epoch"] < second["broker_epoch"]
    assert 1_700_000_000_000 < first["timestamp_ms"] <= second["timestamp_ms"]
    code, lines = table(capsys, tmp_path)
    assert code == 0
    assert lines[0] == "OFFSET TIME BROKER EPOCH FIRST ID LAST ID"
    assert lines[1].endswith(f"1 {first['broker_epoch']} 0 999")
    assert lines[-1] == "2 blocks; none overlaps another."


def write_log(folder: Path, first_offset: int, *following: int) -> None:
    """A metadata log of nothing but blocks, each of another broker."""
    content = bytearray()
    for index, producer_id in enumerate(following):
        record = MetadataRecord(ProducerIdsRecord(index + 1, 10 + index, producer_id), 0)
        batch = build_batch(None, [bytes(encode_record(record))], 1_700_000_000_000)
        assign_offset(batch, first_offset + index, 1)
        content += batch
    folder = folder / "__cluster_metadata-0"
    folder.mkdir()
    (folder / f"{first_offset:020d}.log").write_bytes(content)


def test_blocks_that_overlap_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_log(tmp_path, 0, 1000, 2000, 2000, 3000)
    code, told = history(capsys, tmp_path)
    assert code == 1
    ((found),) = told["overlaps"]
    assert (found["with"]["offset"], found["block"]["offset"]) == (1, 2)
    code, lines = table(capsys, tmp_path)
    assert code == 1
    assert lines[-1] == (
        "OVERLAP: at offset 2, broker 3 got a block that ends at id 1999;"
        " broker 2 already had ids up to 1999"
    )


def test_what_is_behind_a_snapshot_is_said_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_log(tmp_path, 70, 8000, 9000)
    code, told = history(capsys, tmp_path)
    assert (code, told["is_whole"], told["first_offset"]) == (0, False, 70)
    assert [each["first_id"] for each in told["blocks"]] == [None, 8000]
    _, lines = table(capsys, tmp_path)
    assert lines[0].startswith("The log begins at offset 70: earlier records are in a snapshot,")
    assert lines[2].endswith("1 10 ? 7999")


def test_the_latest_block_of_a_snapshot_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one before the log; the later snapshot stands for a block that the log has, too."""
    write_log(tmp_path, 70, 8000, 9000)
    disk = FileDisk(tmp_path)
    for end_offset, producer_id in ((70, 7000), (72, 9000)):
        records = [MetadataRecord(ProducerIdsRecord(5, 50, producer_id), 0)]
        write_snapshot(disk, "__cluster_metadata-0", records, end_offset, 1, 1_690_000_000_000)
    code, told = history(capsys, tmp_path)
    assert (code, told["is_whole"], told["overlaps"]) == (0, False, [])
    assert [(each["offset"], each["first_id"], each["last_id"]) for each in told["blocks"]] == [
        (-1, None, 6999),
        (70, 7000, 7999),
        (71, 8000, 8999),
    ]
    _, lines = table(capsys, tmp_path)
    assert lines[2].startswith("snapshot 2023-")


def test_where_there_is_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["producer-ids", "history", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "has no segment of a metadata log: name the data directory of a controller" in told.err
    write_log(tmp_path, 0, 1000)
    path = tmp_path / "__cluster_metadata-0" / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert main(["producer-ids", "history", str(tmp_path)]) == 2
    assert "wrong checksum at offset 0" in capsys.readouterr().err


def test_up_goes_on_behind_an_imported_block(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    block = tmp_path / "block.json"
    block.write_text('{"version":1,"broker":7,"block_start":"5000","block_end":"5999"}')
    data_dir = tmp_path / "data"
    options = [
        "--topic",
        "t",
        "--data-dir",
        str(data_dir),
        "--import-producer-id-block",
        str(block),
    ]
    for _ in range(2):  # the second start finds it done
        with up_process(*options) as (_, ready):
            asyncio.run(produce(ready["bootstrap"]))
    _, told = history(capsys, data_dir)
    blocks = [(each["broker_id"], each["first_id"], each["last_id"]) for each in told["blocks"]]
    assert blocks == [(7, 0, 5999), (1, 6000, 6999), (1, 7000, 7999)]
    block.write_text("{}")
    assert main(["up", "--port", "0", *options]) == 2
    assert f"{block}: version is missing" in capsys.readouterr().err
