"""A disk that is really full, or that nobody may write to: refused, told once, and better later."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.records.writer import build_batch

from tests.support.small_disk import SmallDisk, SmallDiskUnavailableError
from tests.support.up import COMMAND, Up, Wire

MEGABYTES = 6
FULL = ErrorCode.KAFKA_STORAGE_ERROR


@pytest.fixture
def disk() -> Iterator[SmallDisk]:
    try:
        with SmallDisk(MEGABYTES) as made:
            yield made
    except SmallDiskUnavailableError as error:
        pytest.skip(f"no small disk can be mounted: {error}")


def up(disk: SmallDisk, *arguments: str) -> Up:
    return Up("--data-dir", f"{disk.path}/data", *arguments, before=disk.before)


def kinds(broker: Up) -> list[str]:
    return [line["kind"] for line in broker.said() if "kind" in line]


def until_told(broker: Up, kind: str) -> None:
    """Wait for a log line: what happens in logs is told once a second."""
    while kind not in kinds(broker):
        broker.assert_healthy()


def values(client: Wire, topic: str, partition: int = 0) -> list[bytes]:
    records = client.fetch(topic, partition)
    assert [record.offset for record in records] == list(range(len(records)))
    return [bytes(record.value or b"") for record in records]


def test_records_are_refused_while_it_is_full_and_taken_afterwards(disk: SmallDisk) -> None:
    """Segments roll on the way, so that snapshots, indexes and new files meet the end, too."""
    kept: list[bytes] = []
    with up(disk) as broker:
        with broker.connect() as client, broker.connect() as other:
            client.create("t", 1, segment_ms="20", index_interval_bytes="1000")
            client.create("reader", 1)
            assert not client.produce("reader", build_batch(None, [b"there"], 1_000)).error_code
            now_ms = 1_000
            refused = 0
            while refused < 200:
                if len(kept) == 300 and not refused:
                    disk.fill()
                now_ms += 7
                value = b"%d " % len(kept) + bytes(3_000)
                batch = build_batch(
                    None, [value], now_ms, producer_id=7, producer_epoch=0, base_sequence=len(kept)
                )
                answer = client.produce("t", batch)
                if answer.error_code:
                    assert answer.error_code == FULL
                    refused += 1
                else:
                    assert answer.base_offset == len(kept)
                    kept.append(value)
                    assert len(kept) < 100_000
            assert values(other, "reader") == [b"there"], "who reads is not concerned"
            assert values(other, "t") == kept
            until_told(broker, "append-failed")
            for more in ((), ("--transactional-id", "x")):
                refusal = refused_by_command(broker, 1, *more)
                assert "No success within 1000 ms" in refusal or "within 1005 ms" in refusal
            disk.make_room()
            answer = client.produce("t", batch)
            assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, len(kept))
            kept.append(value)
            until_told(broker, "append-recovered")
        assert kinds(broker).count("append-failed") == 1, "told once, not for each request"
        for end in (broker.kill, broker.stop):
            end()
            broker.start()
            with broker.connect() as client:
                assert values(client, "t") == kept
        assert kinds(broker).count("append-recovered") == 1
        broker.assert_healthy()


@pytest.mark.parametrize("fsync", ["interval", "always"])
def test_what_is_acknowledged_after_a_full_disk_outlives_a_kill(
    disk: SmallDisk, fsync: str
) -> None:
    """The first batch with room again begins a segment, so that nothing covers torn bytes."""
    kept: list[bytes] = []
    with up(disk, "-c", f"fsync={fsync}") as broker:
        with broker.connect() as client:
            client.create("t", 1, segment_ms="1000")
            for period in range(3):
                refused = False
                while not refused:
                    value = b"%d " % len(kept) + bytes(3_000)
                    batch = build_batch(None, [value], 10_000 * period)
                    refused = client.produce("t", batch).error_code == FULL
                    if not refused:
                        kept.append(value)
                    if len(kept) == 60 * (period + 1):
                        disk.fill()
                disk.make_room()
            for number in range(40):
                value = b"%d last" % number
                assert not client.produce("t", build_batch(None, [value], 50_000)).error_code
                kept.append(value)
        broker.kill()
        broker.start()
        with broker.connect() as client:
            assert values(client, "t") == kept
        broker.assert_healthy()


def refused_by_command(broker: Up, seconds: float, *more: str) -> str:
    """``fencepost produce`` writes nothing, and gives up when it was told to."""
    words = ["produce", "-t", "t", "--bootstrap", f"127.0.0.1:{broker.port}"]
    words += ["--timeout", str(seconds), *more]
    done = subprocess.run(
        [*COMMAND[:3], *words], input="x" * 5_000, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    return done.stderr


def test_commands_are_refused_while_it_is_full_and_carried_out_afterwards(disk: SmallDisk) -> None:
    with up(disk) as broker:
        with broker.connect() as client:
            client.create("before", 2)
            client.create("goes", 2)
            disk.fill()
            created: list[str] = []
            refused = 0
            while not refused:
                # Until the last page of the metadata log is full, too.
                name = f"topic-{len(created)}"
                request = CreateTopicsRequest(topics=[CreatableTopic(name, 5, 1)])
                (result,) = client.ask(request, 7).topics
                if result.error_code:
                    assert result.error_code == FULL, result
                    assert result.error_message
                    refused += 1
                else:
                    created.append(name)
                    assert client.produce(name, build_batch(None, [b"x"], 1_000)).error_code == FULL
            request = CreateTopicsRequest(topics=[CreatableTopic("large", 500, 1)])
            assert client.ask(request, 7).topics[0].error_code == FULL
            many = [MetadataRequestTopic(name=f"auto-{number}") for number in range(500)]
            assert client.ask(MetadataRequest(many, True), 12).topics[0].error_code
            error = client.ask(InitProducerIdRequest(None, 1_000), 4).error_code
            assert error in (0, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
            there = client.topics()
            assert set(there) == {"before", "goes", *created}
            disk.make_room()
            deletion = DeleteTopicsRequest(topics=[DeleteTopicState("goes")])
            assert client.ask(deletion, 6).responses[0].error_code == ErrorCode.NONE
            for name in ("before", *created):
                while error := client.produce(name, build_batch(None, [b"x"], 1_000)).error_code:
                    assert error == FULL, "it is made within a second"
            client.create("after", 3)
        assert kinds(broker).count("partition-not-made") <= 1
        for end in (broker.kill, broker.stop):
            end()
            broker.start()
            with broker.connect() as client:
                assert set(client.topics()) == {"before", "after", *created}
                for name in ("before", *created):
                    assert values(client, name) == [b"x"]
        broker.assert_healthy()


def test_a_stop_on_a_full_disk_is_an_unclean_one_and_nothing_is_lost(disk: SmallDisk) -> None:
    with up(disk) as broker:
        with broker.connect() as client:
            client.create("t", 1)
            for number in range(50):
                batch = build_batch(None, [b"%d" % number], 1_000)
                assert not client.produce("t", batch).error_code
        disk.fill()
        broker.stop()
        assert "Traceback" not in broker.stderr()
        done = failed(disk)
        assert "Traceback" not in done.stderr
        if done.returncode:
            assert "No space left" in done.stderr
        disk.make_room()
        broker.start()
        with broker.connect() as client:
            assert values(client, "t") == [b"%d" % number for number in range(50)]


def failed(disk: SmallDisk, *more: str) -> subprocess.CompletedProcess[str]:
    """A broker that is not expected to start; one that does stops as soon as it is ready."""
    command = [*COMMAND, "--until-closed", "0", "--data-dir", f"{disk.path}/data"]
    return subprocess.run(
        [*disk.before, *command, *more],
        input="", capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_directory_that_nobody_may_write_to_is_told(disk: SmallDisk) -> None:
    with up(disk) as broker:
        broker.stop()
        disk.run("mount", "-o", "remount,ro", disk.path)
        done = failed(disk)
        assert done.returncode not in (0, None)
        assert "Read-only file system" in done.stderr
        assert f"{disk.path}/data" in done.stderr
        assert "Traceback" not in done.stderr


def test_records_of_topics_that_the_metadata_log_lost_are_kept(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Up("--data-dir", str(data)) as broker:
        with broker.connect() as client:
            client.create("t", 2)
            assert not client.produce("t", build_batch(None, [b"kept"], 1_000)).error_code
        broker.stop()
    shutil.rmtree(data / "__cluster_metadata-0")
    with Up("--data-dir", str(data), "--recover-metadata") as broker:
        with broker.connect() as client:
            assert client.topics() == {}
            client.create("t", 2)
            assert client.fetch("t") == []
        (kept,) = data.glob("t-0.*-stray")
        assert b"kept" in (kept / "00000000000000000000.log").read_bytes()
        assert kinds(broker).count("stray-partition") == 2
        assert str(kept) in broker.stderr(), "it is told where they are"
