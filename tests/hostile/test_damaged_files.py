"""A data directory with a damaged file: repaired with a line that says so, or refused with one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.writer import build_batch

from tests.support.up import Up

COUNT = 60
TIME = 1_000_000_000_000
GARBAGE = b"\xff" * 50
CLEAN_MARK = ".kafka_cleanshutdown"
REFUSED = 5
"""The exit code for files that cannot be read."""

Damage = Callable[[Path], None]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a broker that was stopped: many segments, an idempotent producer."""
    folder = tmp_path_factory.mktemp("whole") / "data"
    with Up("--data-dir", str(folder)) as broker:
        with broker.connect() as client:
            client.create("t", 1, segment_ms="10", index_interval_bytes="100")
            for number in range(COUNT):
                assert not client.produce("t", batch(number)).error_code
        assert broker.stop() == 0
    return folder


def batch(number: int) -> bytearray:
    values = [b"x" * 100]
    return build_batch(
        None, values, TIME + number * 7, producer_id=5, producer_epoch=0, base_sequence=number
    )


def over(pattern: str, data: bytes = GARBAGE, at: int = 0) -> Damage:
    def damage(folder: Path) -> None:
        for path in sorted(folder.glob(pattern)):
            content = bytearray(path.read_bytes())
            content[at : at + len(data)] = data
            path.write_bytes(content)

    return damage


def cut(pattern: str, size: int) -> Damage:
    def damage(folder: Path) -> None:
        for path in folder.glob(pattern):
            path.write_bytes(path.read_bytes()[:size])

    return damage


def crashed(*damages: Damage) -> Damage:
    """Damage, and no mark of a clean stop."""

    def damage(folder: Path) -> None:
        (folder / CLEAN_MARK).unlink()
        for each in damages:
            each(folder)

    return damage


def gone(pattern: str) -> Damage:
    def damage(folder: Path) -> None:
        for path in folder.glob(pattern):
            path.unlink()

    return damage


def last_log(change: Callable[[Path], None]) -> Damage:
    return lambda folder: change(max((folder / "t-0").glob("*.log")))


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


def spoil(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[80:89] = b"\xff" * 9
    path.write_bytes(content)


REPAIRED: dict[str, tuple[Damage, str | None, int]] = {
    "nothing": (lambda folder: None, None, 0),
    "a crash": (crashed(), "recovered", 0),
    "leader epochs": (over("t-0/leader-epoch-checkpoint"), "leader-epochs-lost", 0),
    "recovery points": (over("recovery-point-offset-checkpoint"), "checkpoint-ignored", 0),
    "log starts": (over("log-start-offset-checkpoint"), "checkpoint-ignored", 0),
    "high watermarks": (over("replication-offset-checkpoint"), "checkpoint-ignored", 0),
    "offset indexes": (over("t-0/*.index"), "index-rebuilt", 0),
    "time indexes, cut": (cut("t-0/*.timeindex", 5), "index-rebuilt", 0),
    "offset indexes, gone": (gone("t-0/*.index"), "index-rebuilt", 0),
    "snapshots": (over("t-0/*.snapshot"), "snapshot-ignored", 0),
    "snapshots, cut": (cut("t-0/*.snapshot", 3), "snapshot-ignored", 0),
    "the mark of a clean stop": (over(CLEAN_MARK), None, 0),
    "partition.metadata, empty": (cut("t-0/partition.metadata", 0), None, 0),
    "the last batches after a crash": (crashed(last_log(spoil)), "tail-truncated", 2),
    "half a segment after a crash": (crashed(last_log(halve)), "tail-truncated", 1),
}  # fmt: skip


@pytest.mark.parametrize("label", REPAIRED)
def test_what_can_be_made_again_is(whole: Path, tmp_path: Path, label: str) -> None:
    damage, kind, lost = REPAIRED[label]
    folder = tmp_path / "data"
    shutil.copytree(whole, folder)
    damage(folder)
    with Up("--data-dir", str(folder)) as broker:
        with broker.connect() as client:
            records = client.fetch("t")
            assert [record.offset for record in records] == list(range(COUNT - lost))
            answer = client.produce("t", batch(COUNT - lost))
            assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, COUNT - lost)
        kinds = [line["kind"] for line in broker.said() if "kind" in line]
        assert kind is None or kind in kinds, kinds
        broker.assert_healthy()
        assert broker.stop() == 0


METADATA_LOG = "__cluster_metadata-0/00000000000000000000.log"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (over("meta.properties"), "meta.properties"),
        (cut("meta.properties", 0), "meta.properties"),
        (over(METADATA_LOG, b"\xff" * 9, 300), "__cluster_metadata-0"),
    ],
    ids=["meta.properties", "meta.properties, empty", "metadata log"],
)
def test_what_cannot_is_named(whole: Path, tmp_path: Path, damage: Damage, said: str) -> None:
    folder = tmp_path / "data"
    shutil.copytree(whole, folder)
    damage(folder)
    with (
        pytest.raises(AssertionError, match=f"the broker ended with {REFUSED}:") as caught,
        Up("--data-dir", str(folder)),
    ):
        pass
    assert said in str(caught.value)
    assert str(folder) in str(caught.value)
    assert "Traceback" not in str(caught.value)
    assert (folder / "t-0").exists()
