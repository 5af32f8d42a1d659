"""A segment file that is not there, in logs that were and were not compacted."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_client import NewTopic, Producer
from fencepost_client.clients.admin import Admin
from fencepost_pipeline.audit.audit_run import Audit, audit
from fencepost_pipeline.audit.checks.lost_segments import Setting, policies_of
from fencepost_pipeline.audit.data_directories import DataDirectory
from fencepost_pipeline.audit.findings import Invariant

from tests.pipeline.audit.harness import alone, failing

SMALL = {"segment.bytes": str(1 << 20)}
VALUE = b"x" * 300_000  # three to a segment
TOPICS = {
    "plain": SMALL,
    "deleting": SMALL | {"cleanup.policy": "delete"},
    "compacted": SMALL | {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "1"},
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of several segments each, and the metadata log beside them."""
    folder = tmp_path_factory.mktemp("lost") / "data"

    async def run() -> None:
        async with Broker(data_dir=folder) as broker:
            async with Admin(broker.bootstrap) as admin:
                await admin.create_topics(
                    [NewTopic(name, 1, configs=configs) for name, configs in TOPICS.items()]
                )
            async with Producer(broker.bootstrap) as producer:
                for topic in TOPICS:
                    for number in range(12):
                        await producer.send_and_wait(topic, VALUE, key=b"%d" % number)

    asyncio.run(run())
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """A copy to doctor."""
    return Path(shutil.copytree(written, tmp_path / "data"))


def segments(folder: Path, topic: str) -> list[Path]:
    found = sorted((folder / f"{topic}-0").glob("*.log"))
    assert len(found) > 3
    return found


def audited(folder: Path) -> Audit:
    return audit(DataDirectory([folder]))


def notes(found: Audit) -> list[str]:
    return next(v.notes for v in found.verdicts if v.invariant is Invariant.LOST)


def test_all_files_are_there(folder: Path) -> None:
    found = audited(folder)
    assert failing(found) == {}
    assert notes(found) == []


@pytest.mark.parametrize(("topic", "rows_at_once"), [("plain", 10_000), ("deleting", 1)])
def test_a_file_in_the_middle_is_missed(
    folder: Path, topic: str, rows_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost_pipeline.audit.batch_headers.CHUNK_ROWS", rows_at_once)
    before, lost, behind, *_ = segments(folder, topic)
    lost.unlink()
    (text,) = alone(audited(folder), Invariant.LOST)
    first, end = int(lost.stem), int(behind.stem)
    assert text.startswith(f"{topic}-0 offset {first} to {end - 1}: missing between {before.name}")
    assert behind.name in text


def test_a_file_that_lost_its_end_is_told(folder: Path) -> None:
    """It ends between two batches, so that nothing of it looks torn."""
    first, second, *_ = segments(folder, "deleting")
    data = first.read_bytes()
    first.write_bytes(data[: 12 + int.from_bytes(data[8:12])])
    (text,) = alone(audited(folder), Invariant.LOST)
    assert text.startswith(f"deleting-0 offset 1 to {int(second.stem) - 1}: ")


def cut_front(folder: Path) -> None:
    """Retention's work."""
    for topic in TOPICS:
        for path in segments(folder, topic)[:2]:
            path.unlink()


def compact(folder: Path) -> None:
    segments(folder, "compacted")[1].unlink()


def compact_without_a_policy_of_its_own(folder: Path) -> None:
    """A batch in the middle of a file is missing, too."""
    first, second, *_ = segments(folder, "plain")
    second.unlink()
    data = first.read_bytes()
    size = 12 + int.from_bytes(data[8:12])
    behind = size + 12 + int.from_bytes(data[size + 8 : size + 12])
    first.write_bytes(data[:size] + data[behind:])


def make_unreadable(folder: Path) -> None:
    """The last batch of the first file: what is missing behind it is told as such."""
    path = segments(folder, "deleting")[0]
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("doctor", "note"),
    [
        (cut_front, None),
        (compact, "1 x hole between two files of a compacted topic"),
        (compact_without_a_policy_of_its_own, "1 x hole between two files of a topic without "),
        (make_unreadable, "1 x hole beside a file that cannot be read"),
    ],
)
def test_what_is_no_lost_file(
    folder: Path, doctor: Callable[[Path], None], note: str | None
) -> None:
    doctor(folder)
    found = audited(folder)
    assert Invariant.LOST not in failing(found)
    assert [each[: len(note or "")] for each in notes(found)] == ([note] if note else [])


def test_without_the_metadata_log_it_is_not_judged(folder: Path) -> None:
    segments(folder, "plain")[1].unlink()
    shutil.rmtree(folder / "__cluster_metadata-0")
    found = audited(folder)
    assert failing(found) == {}
    (note,) = notes(found)
    assert "no metadata log here says" in note


def test_a_topic_that_once_was_compacted_stays_so() -> None:
    found = policies_of(
        [
            Setting("t", "compact,delete"), Setting("t", "delete"), Setting("u", "delete"),
            Setting("", "compact"), Setting("", "delete"),
        ]
    )  # fmt: skip
    assert found.of_topics == {"t": "compact,delete", "u": "delete"}
    assert found.of_brokers == "compact"
