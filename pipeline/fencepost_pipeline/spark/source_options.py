"""The options of ``format("fencepost")`` to read, by the names of Spark's own Kafka source."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from fencepost_client.config.kafka_names import CONSUMER_NAMES
from fencepost_client.types import TopicPartition

from fencepost_pipeline.spark.offsets import (
    EARLIEST,
    LATEST,
    AtOffsets,
    AtPlace,
    AtTime,
    AtTimes,
    Bound,
    read_assignment,
    read_bound,
    read_partitions,
)
from fencepost_pipeline.spark.options import Options

T = TypeVar("T")

READ_OPTIONS: Final = (
    "subscribe",
    "subscribePattern",
    "assign",
    "startingOffsets",
    "startingOffsetsByTimestamp",
    "startingTimestamp",
    "startingOffsetsByTimestampStrategy",
    "endingOffsets",
    "endingOffsetsByTimestamp",
    "endingTimestamp",
    "failOnDataLoss",
    "includeHeaders",
    "isolation",
    "kafkaConsumer.pollTimeoutMs",
    "maxOffsetsPerTrigger",
    "maxRecordsPerPartition",
    "maxTriggerDelay",
    "minOffsetsPerTrigger",
    "minPartitions",
)
WITHOUT_EFFECT: Final = (
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
    "groupIdPrefix",
    "kafka.group.id",
    "kafkaConsumer.cache.evictorThreadRunInterval",
    "kafkaConsumer.cache.timeout",
)
"""What only Spark's own source has a use for: this one is in no group, and retries by itself."""
_OURS_TO_SET: Final = ("auto.offset.reset", "enable.auto.commit", "group.instance.id")
_ISOLATIONS: Final = ("read_committed", "read_uncommitted")
_UNITS_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


@dataclass(frozen=True, slots=True)
class Topics:
    """Topics by name."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Topics whose whole name a regular expression matches."""

    regex: str


@dataclass(frozen=True, slots=True)
class Assigned:
    """Single partitions."""

    partitions: tuple[TopicPartition, ...]


Selection: TypeAlias = Topics | Pattern | Assigned


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What is to be read, and how."""

    client: Mapping[str, str]
    selection: Selection
    is_committed_only: bool
    starting: Bound | None
    ending: Bound | None
    has_latest_for_missing_times: bool
    fails_on_data_loss: bool
    has_headers: bool
    rows_max: int | None
    rows_min: int | None
    delay_max_ms: int
    tasks_min: int | None
    task_rows_max: int | None
    patience_ms: int

    @classmethod
    def read(cls, given: Mapping[str, str]) -> SourceOptions:
        """Read options; raises ``OptionError``, which names what to write instead."""
        options = Options(
            given, READ_OPTIONS, "format('fencepost')", CONSUMER_NAMES, WITHOUT_EFFECT
        )
        for name in _OURS_TO_SET:
            if name in options.client:
                raise options.error(
                    f"kafka.{name} cannot be set: positions are kept in Spark's checkpoint; use "
                    "startingOffsets to say where to begin"
                )
        isolation = options.client.pop("isolation.level", _ISOLATIONS[0])
        isolation = options.choice("isolation", _ISOLATIONS, isolation)
        by_time = "startingOffsetsByTimestampStrategy"
        found = cls(
            client=options.client,
            selection=_selection(options),
            is_committed_only=isolation == "read_committed",
            starting=_bound(options, "starting", LATEST),
            ending=_bound(options, "ending", EARLIEST),
            has_latest_for_missing_times=options.choice(by_time, ("error", "latest"), "error")
            == "latest",
            fails_on_data_loss=options.flag("failOnDataLoss", default=True),
            has_headers=options.flag("includeHeaders", default=False),
            rows_max=options.whole("maxOffsetsPerTrigger", at_least=1),
            rows_min=options.whole("minOffsetsPerTrigger", at_least=1),
            delay_max_ms=_delay_ms(options),
            tasks_min=options.whole("minPartitions", at_least=1),
            task_rows_max=options.whole("maxRecordsPerPartition", at_least=1),
            patience_ms=options.whole("kafkaConsumer.pollTimeoutMs", 120_000, at_least=1)
            or 120_000,
        )
        if found.rows_min and found.rows_max and found.rows_min > found.rows_max:
            raise options.error("minOffsetsPerTrigger is larger than maxOffsetsPerTrigger")
        return found


def _selection(options: Options) -> Selection:
    given = [name for name in ("subscribe", "subscribePattern", "assign") if name in options]
    if len(given) != 1:
        raise options.error(
            "one of subscribe, subscribePattern and assign says what to read: "
            f"{' and '.join(given) if given else 'none'} was given"
        )
    text = options.required(given[0], "orders")
    if "assign" in given:
        return Assigned(tuple(_read(options, "assign", read_assignment)))
    if "subscribePattern" in given:
        try:
            re.compile(text)
        except re.error as error:
            raise options.error(f"subscribePattern {text!r} is no pattern: {error}") from None
        return Pattern(text)
    return Topics(tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip())))


def _bound(options: Options, side: str, refused: int) -> Bound | None:
    """Where to begin or to end: a time for all, times, or offsets; the first one counts."""
    if f"{side}Timestamp" in options:
        return AtTime(options.whole(f"{side}Timestamp") or 0)
    by_time = f"{side}OffsetsByTimestamp"
    if by_time in options:
        return AtTimes(_read(options, by_time, read_partitions))
    name = f"{side}Offsets"
    if name not in options:
        return None
    bound = _read(options, name, read_bound)
    if side == "ending":
        places = {bound.place} if isinstance(bound, AtPlace) else set()
        places |= set(bound.offsets.values()) if isinstance(bound, AtOffsets) else set()
        if refused in places:
            raise options.error("endingOffsets cannot be earliest: nothing would be read")
    return bound


def _read(options: Options, name: str, read: Callable[[str], T]) -> T:
    try:
        return read(options.text(name) or "")
    except ValueError as error:
        raise options.error(f"{name}: {error}") from None


def _delay_ms(options: Options) -> int:
    text: Any = options.text("maxTriggerDelay", "15m")
    match = re.fullmatch(r"(\d+)\s*([a-z]+)", text.strip().lower())
    if match is None or match[2] not in _UNITS_MS:
        raise options.error(f"maxTriggerDelay is {text!r}: write 30s, 15m or 1h")
    return int(match[1]) * _UNITS_MS[match[2]]
