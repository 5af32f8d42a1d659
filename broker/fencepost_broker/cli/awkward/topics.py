"""The awkward topics. The same seed makes the same records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Final, get_args

from fencepost_client.config.settings import CompressionName

from fencepost_broker.cli.awkward.contents import (
    LOG_APPEND_TIME,
    TIMESTAMP_TYPE,
    AwkwardTopic,
    Batch,
    Compact,
    DeleteRecords,
    End,
    Record,
    Step,
    Writer,
)

BEGIN_MS: Final = 1_767_225_600_000
"""When most records were made: 2026-01-01."""
SEGMENT_MS: Final = 60_000
_LATER_MS: Final = BEGIN_MS + 10 * SEGMENT_MS
CODECS: Final[tuple[CompressionName, ...]] = get_args(CompressionName)
_LARGE_BYTES: Final = 1_500_000
"""More than consumers fetch of a partition at once, by default."""


def awkward_topics(seed: int, prefix: str) -> list[AwkwardTopic]:
    """Return all topics."""
    # No secrets: each topic has the same records again, whatever the others have.
    return [make(Random(f"{seed} {make.__name__}"), prefix) for make in _TOPICS]  # noqa: S311


def _records(
    random: Random, count: int, begin_ms: int = BEGIN_MS, keys: Sequence[bytes] | None = None
) -> list[Record]:
    return [
        Record(
            begin_ms + number,
            random.choice(keys) if keys else b"key-%d" % number,
            random.randbytes(random.randint(1, 40)),
        )
        for number in range(count)
    ]


def _odd_records(random: Random, prefix: str) -> AwkwardTopic:
    odd = [
        (None, b"a record without a key", ()),
        (b"a key without a value", None, ()),
        (None, None, ()),
        (b"", b"", ()),
        (b"\0", b"\xff\xfe\x00", ()),
        (b"k", b"v", [("null", None), ("empty", b""), ("text", b"x")]),
        (b"k", b"v", [("same", b"1"), ("same", b"2"), ("same", None)]),
        (b"k", None, [("", b"a header without a name")]),
        (b"k", b"v", [("größe", b"\xc3\x28")]),
        (b"k", b"v", [(f"header-{number}", b"%d" % number) for number in range(200)]),
        (random.randbytes(300), random.randbytes(300), ()),
    ]
    records = [Record(BEGIN_MS + at, *each) for at, each in enumerate(odd)]
    return AwkwardTopic(
        f"{prefix}records",
        "null and empty keys and values; headers without values, without names, and repeated",
        [Batch(Writer(), records), *(Batch(Writer(), [each]) for each in records)],
    )


def _codecs(random: Random, prefix: str) -> AwkwardTopic:
    order = [*CODECS, *CODECS]
    random.shuffle(order)
    steps = [
        Batch(Writer(codec, codec), _records(random, random.randint(1, 50))) for codec in order
    ]
    return AwkwardTopic(f"{prefix}codecs", "batches of every codec in one partition", steps)


def _large(random: Random, prefix: str) -> AwkwardTopic:
    small = [Record(BEGIN_MS, b"small", b"1")]
    large = [Record(BEGIN_MS, b"large", random.randbytes(_LARGE_BYTES))]
    blank = [Record(BEGIN_MS, b"blank", bytes(_LARGE_BYTES))]
    return AwkwardTopic(
        f"{prefix}large",
        "a batch that is larger than a fetch, and one that is small until it is decompressed",
        [
            Batch(Writer(), small),
            Batch(Writer(), large),
            Batch(Writer("gzip", "gzip"), blank),
            Batch(Writer(), small),
        ],
        {"max.message.bytes": str(2 * _LARGE_BYTES)},
    )


def _timestamps(random: Random, prefix: str) -> AwkwardTopic:
    times = [0, 1, 978_307_200_000, BEGIN_MS, BEGIN_MS - 1, 1, BEGIN_MS - 86_400_000, BEGIN_MS]
    steps: list[Step] = [
        Batch(Writer(codec, codec), [Record(each, b"k", b"%d" % each) for each in times])
        for codec in ("none", "zstd")
    ]
    random.shuffle(times)
    steps += [Batch(Writer(), [Record(each, None, b"%d" % each)]) for each in times]
    return AwkwardTopic(
        f"{prefix}timestamps", "old timestamps, and timestamps that are not in order", steps
    )


def _append_time(random: Random, prefix: str) -> AwkwardTopic:
    return AwkwardTopic(
        f"{prefix}append-time",
        "the broker gives a batch its timestamp, which is not the records' own",
        [Batch(Writer(codec, codec), _records(random, 5, 0)) for codec in ("none", "lz4")],
        {TIMESTAMP_TYPE: LOG_APPEND_TIME},
    )


def _transactions(random: Random, prefix: str) -> AwkwardTopic:
    return AwkwardTopic(
        f"{prefix}transactions",
        "transactions that overlap, some of them aborted; the log ends in a marker",
        list(_overlapping(random, prefix)),
    )


def _overlapping(random: Random, prefix: str) -> Iterator[Step]:
    writers = [
        Writer(f"{prefix}{codec}", codec, is_transactional=True) for codec in ("none", "gzip")
    ]
    for number in range(6):
        for writer in writers:
            yield Batch(writer, _records(random, random.randint(1, 5)))
        yield Batch(Writer(), _records(random, random.randint(1, 3)))
        first, second = random.sample(writers, 2)
        yield Batch(first, _records(random, 2))
        yield End(first, commit=number % 2 == 0)
        yield Batch(second, _records(random, 2))
        yield End(second, commit=number % 3 == 0)


def _aborted(random: Random, prefix: str) -> AwkwardTopic:
    writer = Writer(f"{prefix}aborted", is_transactional=True)
    steps: list[Step] = []
    for _ in range(3):
        steps += [Batch(writer, _records(random, 3)), End(writer, commit=False)]
    return AwkwardTopic(f"{prefix}aborted", "aborted records only, and markers", steps)


def _late_start(random: Random, prefix: str) -> AwkwardTopic:
    return AwkwardTopic(
        f"{prefix}late-start",
        "the log begins in the middle of a batch: its first records are deleted",
        [
            Batch(Writer(), _records(random, 10)),
            Batch(Writer("zstd", "zstd"), _records(random, 10)),
            Batch(Writer(), _records(random, 3)),
            DeleteRecords(random.randint(11, 18)),
        ],
    )


def _all_deleted(random: Random, prefix: str) -> AwkwardTopic:
    return AwkwardTopic(
        f"{prefix}all-deleted",
        "the log is empty, and does not begin at 0",
        [Batch(Writer(), _records(random, 5)), DeleteRecords(5)],
    )


def _compacted(random: Random, prefix: str) -> AwkwardTopic:
    return AwkwardTopic(
        f"{prefix}compacted",
        "compaction left gaps in batches and between them, batches without records, tombstones",
        list(_until_compacted(random, prefix)),
        {"cleanup.policy": "compact", "segment.ms": str(SEGMENT_MS)},
    )


def _until_compacted(random: Random, prefix: str) -> Iterator[Step]:
    kept, replaced = ([b"%s-%d" % (name, each) for each in range(8)] for name in (b"a", b"b"))
    keys = [*kept, *replaced]
    last = Writer("last")
    transactional = Writer(f"{prefix}compacted", is_transactional=True)
    # All keys of this batch get other records: the batch stays, without records, because it has
    # its producer's last sequence.
    yield Batch(Writer("once"), _records(random, 4, keys=replaced))
    for number in range(8):
        codec = CODECS[number % len(CODECS)]
        yield Batch(Writer(codec, codec), _records(random, 10, keys=keys))
        yield Batch(transactional, _records(random, 3, keys=keys))
        yield End(transactional, commit=number % 2 == 0)
    yield Batch(last, [Record(BEGIN_MS, key, b"last") for key in replaced])
    yield Batch(last, [Record(BEGIN_MS, key, None) for key in replaced[::3]])
    # The newest of all: a batch without records may not have the largest timestamp of a segment,
    # or Kafka's DumpLogSegments complains about the index of times.
    yield Batch(last, [Record(BEGIN_MS + 1000, replaced[1], b"later")])
    yield Compact()
    yield Batch(last, _records(random, 5, _LATER_MS, keys))


_TOPICS: Final[tuple[Callable[[Random, str], AwkwardTopic], ...]] = (
    _odd_records,
    _codecs,
    _large,
    _timestamps,
    _append_time,
    _transactions,
    _aborted,
    _late_start,
    _all_deleted,
    _compacted,
)
