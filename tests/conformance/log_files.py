"""What tests of log files against Apache Kafka share: its dump tool, and a log of everything."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fencepost_broker.storage.log import Identity, PartitionLog
from fencepost_protocol.records.compression import Compression

from tests.machine.storage.harness import NOW, append, base_offsets, batch, of_producer, read_all
from tests.support.apache_kafka import LIBRARY_DIR

IDENTITY = Identity(1, "Fa7IDTVUQ2qPvHCbIGlMqw", "AAECAwQFBgcICQoLDA0ODw")
SETTINGS: dict[str, Any] = {
    "segment_bytes": 8_000,
    "retention_ms": -1,
    "transaction_partition_verification_enable": False,
}
DUMPED = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")

BATCH_LINE = re.compile(
    r"^baseOffset: (\d+) lastOffset: (\d+) count: (\d+) .*isvalid: (\w+)", re.MULTILINE
)


def dump(files: Iterable[Path]) -> str:
    """What DumpLogSegments says of files, complaints included."""
    command = [
        "java",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        f"{LIBRARY_DIR}{os.sep}*",
        "org.apache.kafka.tools.DumpLogSegments",
        "--deep-iteration",
        "--files",
        ",".join(map(str, files)),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


def check_dump(folder: Path, log: PartitionLog) -> None:
    """DumpLogSegments reads every file, finds nothing wrong, and finds what we find."""
    files = sorted(path for path in folder.iterdir() if path.suffix in DUMPED)
    said = dump(files)
    for complaint in ("ismatch", "Exception", "WARN", "ERROR", "out of order", "Indexed offset"):
        assert complaint not in said, said
    for file in files:
        assert f"Dumping {file}" in said
    found = BATCH_LINE.findall(said)
    assert {valid for *_, valid in found} <= {"true"}
    assert [tuple(map(int, numbers)) for *numbers, _ in found] == [
        (header.base_offset, header.last_offset, header.record_count)
        for header, _ in read_all(log, base_offsets(log)[0])
    ]
    aborted = [entry for segment in log.segments for entry in segment.transactions.entries()]
    for entry in aborted:
        assert (
            f"version: 0 producerId: {entry.producer_id} firstOffset: {entry.first_offset} "
            f"lastOffset: {entry.last_offset} lastStableOffset: {entry.last_stable_offset}"
        ) in said
    for producer in log.describe_producers():
        assert f"producerId: {producer.producer_id} producerEpoch: " in said


# What the client in these tests can read with the libraries that are there anyway.
COMMON_CODECS = (Compression.NONE, Compression.GZIP, Compression.ZSTD)


def everything(
    log: PartitionLog,
    rounds: int = 60,
    codecs: Sequence[Compression] = tuple(Compression),
    epochs: int = 3,
    now: int = NOW,
) -> None:
    """All kinds of batches, over several segments and leader epochs."""
    for number in range(rounds):
        epoch = number * epochs // rounds
        codec = codecs[number % len(codecs)]
        times = [now + number, now + number + 5, now + number]
        records = of_producer(3 * number, 3, producer=1, txn=True, time=times, codec=codec)
        append(log, records, epoch=epoch, now=now)
        producer_epoch, sequence = divmod(number, 25)
        records = of_producer(sequence, producer=2, epoch=producer_epoch, time=now)
        append(log, records, epoch=epoch, now=now)
        for size in (10, 300):
            append(log, batch([b"v" * size], time=now + number * 10), epoch=epoch, now=now)
        if number % 2:
            log.append_marker(
                1,
                0,
                committed=number % 4 == 1,
                coordinator_epoch=3,
                leader_epoch=epoch,
                now_ms=now + number * 10,
                transaction_version=0,
            )
