"""`fencepost topics make-awkward`: unmodified clients read what its file says."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_broker.cli.main import main
from fencepost_protocol.records.batch import BatchHeader, split_batches

from tests.wire.awkward_harness import check, described


def make(folder: Path, *arguments: str) -> Path:
    path = folder / "expected.json"
    assert main(["topics", "make-awkward", "--expected", str(path), *arguments]) == 0
    return path


def headers(data_dir: Path, topic: str) -> list[BatchHeader]:
    """The headers of all batches of a topic."""
    return [
        header
        for path in sorted((data_dir / f"{topic}-0").glob("*.log"))
        for header, _ in split_batches(memoryview(path.read_bytes()))
    ]


@pytest.mark.asyncio
async def test_clients_read_what_the_file_says_of_a_data_directory(tmp_path: Path) -> None:
    path = await asyncio.to_thread(make, tmp_path, "--data-dir", str(tmp_path / "data"))
    async with Broker(data_dir=tmp_path / "data", log_level="error") as broker:
        await check(broker.bootstrap, described(path))


@pytest.mark.asyncio
async def test_clients_read_what_the_file_says_of_a_running_broker(tmp_path: Path) -> None:
    async with Broker(log_level="error") as broker:
        path = await asyncio.to_thread(make, tmp_path, "-b", broker.bootstrap, "--seed", "2")
        topics = described(path)
        assert "awkward-compacted" not in {each["topic"] for each in topics}
        await check(broker.bootstrap, topics)


def test_the_files_have_what_no_client_can_write(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    make(tmp_path, "--data-dir", str(data_dir))
    found = headers(data_dir, "awkward-compacted")
    sizes = [each.last_offset - each.base_offset + 1 for each in found]
    assert found[0].record_count == 0, "an empty batch at the beginning"
    assert any(0 < each.record_count < size for each, size in zip(found, sizes, strict=True))
    gaps = [b.base_offset - a.next_offset for a, b in pairwise(found)]
    assert min(gaps) == 0
    assert max(gaps) > 0
    assert any(each.delete_horizon_ms and not each.is_control for each in found)
    assert headers(data_dir, "awkward-transactions")[-1].is_control
    codecs = {each.attributes & 7 for each in headers(data_dir, "awkward-codecs")}
    assert codecs == set(range(5))


def test_the_same_seed_makes_the_same_files(tmp_path: Path) -> None:
    """All but the ids of the cluster and of its topics."""

    def contents(name: str, seed: str) -> tuple[bytes, dict[str, bytes]]:
        folder = tmp_path / name
        folder.mkdir()
        path = make(folder, "--data-dir", str(folder / "data"), "--seed", seed)
        logs = {
            each.relative_to(folder).as_posix(): each.read_bytes()
            for each in folder.glob("data/awkward-*/*.log")
        }
        return path.read_bytes(), logs

    first = contents("a", "7")
    assert len(first[1]) > 10
    assert contents("b", "7") == first
    assert contents("c", "8")[0] != first[0]


def test_topics_that_exist_are_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--data-dir", str(tmp_path / "data"), "--json"]
    make(tmp_path, *arguments)
    summary = {each["topic"]: each for each in json.loads(capsys.readouterr().out)}
    assert summary["awkward-aborted"]["records"] == 9
    assert summary["awkward-aborted"]["committed"] == 0
    path = str(tmp_path / "expected.json")
    assert main(["topics", "make-awkward", "--expected", path, *arguments]) == 1
    assert "awkward-records" in capsys.readouterr().err


def test_a_cluster_and_a_data_directory_exclude_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ["-b", "127.0.0.1:1", "--data-dir", str(tmp_path)]
    assert main(["topics", "make-awkward", *both]) == 2
    assert "exclude each other" in capsys.readouterr().err


def test_the_folder_of_the_file_has_to_exist(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "missing" / "expected.json")
    data_dir = tmp_path / "data"
    command = ["topics", "make-awkward", "--data-dir", str(data_dir), "--expected", path]
    assert main(command) == 2
    assert "there is no folder" in capsys.readouterr().err
    assert not data_dir.exists()
