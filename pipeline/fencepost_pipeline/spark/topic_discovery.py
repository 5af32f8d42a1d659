"""Looks up what to read: topics, partitions and their offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from fencepost_client.admin.partitions import ListedOffset
from fencepost_client.admin.topics import TopicDescription
from fencepost_client.blocking import Admin
from fencepost_client.config.kafka_names import ADMIN_NAMES
from fencepost_client.errors import KafkaError, UnknownTopicOrPartitionError
from fencepost_client.types import TopicPartition
from fencepost_protocol.primitives import uuid_text

from fencepost_pipeline.spark.offsets import (
    EARLIEST,
    LATEST,
    AtOffsets,
    AtPlace,
    AtTime,
    AtTimes,
    Bound,
    Offsets,
)
from fencepost_pipeline.spark.options import OptionError
from fencepost_pipeline.spark.source_options import Pattern, Selection, SourceOptions, Topics

_NO_ID: Final = bytes(16)


@dataclass(frozen=True, slots=True)
class Found:
    """The partitions that exist, and what is missing."""

    partitions: list[TopicPartition]
    ids: dict[str, str]
    missing: list[str] = field(default_factory=list)

    def require_all(self) -> Self:
        """Raise an error if a topic or partition that an option names is missing."""
        if self.missing:
            raise OptionError(
                f"there is no topic or partition {', '.join(self.missing)}: create it first, or "
                "correct the name in subscribe or assign"
            )
        return self


class Cluster:
    """The cluster that a source reads from; connected while it is open."""

    def __init__(self, options: SourceOptions) -> None:
        known = {name: value for name, value in options.client.items() if name in ADMIN_NAMES}
        self._options = options
        self._admin = Admin.from_config(known)

    def __enter__(self) -> Self:
        self._admin.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._admin.close()

    def look(self, selection: Selection) -> Found:
        """Look up the selected partitions."""
        if isinstance(selection, Pattern):
            names = [
                name for name in self._admin.list_topics() if re.fullmatch(selection.regex, name)
            ]
            return self._describe(names)
        if isinstance(selection, Topics):
            return self._describe(selection.names)
        found = self._describe(dict.fromkeys(where.topic for where in selection.partitions))
        there = set(found.partitions)
        lost = [
            f"{topic}-{partition}"
            for topic, partition in selection.partitions
            if (topic, partition) not in there and topic not in found.missing
        ]
        wanted = [where for where in selection.partitions if where in there]
        return Found(wanted, found.ids, found.missing + lost)

    def _describe(self, names: Iterable[str]) -> Found:
        names = list(names)
        if not names:
            return Found([], {})
        missing: list[str] = []
        try:
            outcomes: Mapping[str, object] = self._admin.describe_topics(names)
        except KafkaError as error:
            outcomes = error.outcomes
            if not outcomes:
                raise
        found = Found([], {}, missing)
        for name, topic in outcomes.items():
            if isinstance(topic, UnknownTopicOrPartitionError):
                missing.append(name)
            elif isinstance(topic, KafkaError):
                raise topic
            else:
                assert isinstance(topic, TopicDescription)
                found.partitions.extend(TopicPartition(name, p.partition) for p in topic.partitions)
                if topic.topic_id != _NO_ID:
                    found.ids[name] = uuid_text(topic.topic_id)
        return found

    # -- offsets -------------------------------------------------------------------------------

    def first_offsets(self, partitions: Iterable[TopicPartition]) -> Offsets:
        """The first offset of each partition."""
        return self._list(dict.fromkeys(partitions, EARLIEST))

    def end_offsets(
        self, partitions: Iterable[TopicPartition], *, with_open: bool = False
    ) -> Offsets:
        """Where partitions end for this reader; ``with_open``: after open transactions, too."""
        committed = self._options.is_committed_only and not with_open
        return self._list(dict.fromkeys(partitions, LATEST), committed)

    def ends_of_what_is_there(self, partitions: Iterable[TopicPartition]) -> Offsets:
        """As `end_offsets`, without partitions whose topic went since they were looked up."""
        try:
            return self.end_offsets(partitions)
        except UnknownTopicOrPartitionError as error:
            outcomes = error.outcomes
        ends: Offsets = {}
        for where, outcome in outcomes.items():
            if isinstance(outcome, ListedOffset):
                ends[where] = outcome.offset
            elif not isinstance(outcome, UnknownTopicOrPartitionError):
                assert isinstance(outcome, KafkaError)
                raise outcome
        return ends

    def offsets_at(self, times_ms: Mapping[TopicPartition, int]) -> Offsets:
        """The first record of a time or later; where there is none, the partition's end."""
        ends = self.end_offsets(times_ms)
        found = self._list(times_ms, self._options.is_committed_only)
        return {where: ends[where] if at < 0 else at for where, at in found.items()}

    def resolve(self, bound: Bound, partitions: list[TopicPartition], name: str) -> Offsets:
        """The offsets that a bound stands for; ``name`` is its option."""
        match bound:
            case AtPlace(place=place):
                wanted = dict.fromkeys(partitions, place)
            case AtOffsets(offsets=offsets):
                wanted = _for_all(offsets, partitions, name)
            case AtTime(time_ms=time_ms):
                return self._resolve_times(dict.fromkeys(partitions, time_ms), name)
            case AtTimes(times_ms=times_ms):
                return self._resolve_times(_for_all(times_ms, partitions, name), name)
        firsts = [where for where, at in wanted.items() if at == EARLIEST]
        lasts = [where for where, at in wanted.items() if at == LATEST]
        return wanted | self.first_offsets(firsts) | self.end_offsets(lasts)

    def _resolve_times(self, times_ms: Offsets, name: str) -> Offsets:
        is_forgiving = name.startswith("ending") or self._options.has_latest_for_missing_times
        ends = self.end_offsets(times_ms)
        found = self._list(times_ms, self._options.is_committed_only)
        late = [where for where, at in found.items() if at < 0]
        if late and not is_forgiving:
            where = late[0]
            raise OptionError(
                f"{name}: {where.topic}-{where.partition} has no record of {times_ms[where]} ms or "
                "later; set startingOffsetsByTimestampStrategy to latest to begin at its end"
            )
        return found | {where: ends[where] for where in late}

    def _list(self, times: Mapping[TopicPartition, int], committed: bool = False) -> Offsets:
        if not times:
            return {}
        found = self._admin.list_offsets(times, read_committed=committed)
        return {where: listed.offset for where, listed in found.items()}


def _for_all(given: Offsets, partitions: list[TopicPartition], name: str) -> Offsets:
    """Each partition needs a number: what is forgotten would begin somewhere in silence."""
    wanted = set(partitions)
    for what, odd in (("has none for", wanted - set(given)), ("has one for", set(given) - wanted)):
        if odd:
            where = min(odd)
            why = "which is read" if what == "has none for" else "which is not read"
            raise OptionError(f"{name} {what} {where.topic}-{where.partition}, {why}")
    return dict(given)
