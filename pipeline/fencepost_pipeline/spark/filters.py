"""Filters of a query, which limit the partitions and offsets that are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeAlias

from fencepost_client.types import TopicPartition
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from fencepost_pipeline.spark.offset_ranges import OffsetRange

_NEVER_NULL: Final = {"topic", "partition", "offset", "timestamp", "timestampType"}
_COMPARISONS: Final[dict[type[Filter], Callable[[Any, Any], bool]]] = {
    EqualTo: lambda mine, given: bool(mine == given),
    EqualNullSafe: lambda mine, given: bool(mine == given),
    GreaterThan: lambda mine, given: bool(mine > given),
    GreaterThanOrEqual: lambda mine, given: bool(mine >= given),
    LessThan: lambda mine, given: bool(mine < given),
    LessThanOrEqual: lambda mine, given: bool(mine <= given),
    In: lambda mine, given: mine in given,
}
_KINDS: Final[dict[str, type]] = {"topic": str, "partition": int, "offset": int}
_FOREVER: Final = 1 << 63

Test: TypeAlias = Callable[[TopicPartition], bool]


@dataclass(slots=True)
class Narrowing:
    """The partitions, offsets and times that a query can have records of."""

    tests: list[Test] = field(default_factory=list)
    offset_from: int = 0
    offset_until: int = _FOREVER
    time_from_ms: int | None = None

    def push(self, filters: Iterable[Filter]) -> list[Filter]:
        """Take filters; gives those that Spark has to look at all the same."""
        return [each for each in filters if not self._take(each)]

    def _take(self, filter_: Filter) -> bool:
        """Use a filter as far as it goes; whether nothing of it is left to do."""
        attribute: tuple[str, ...] = getattr(filter_, "attribute", ())
        if len(attribute) != 1:
            return False
        column = attribute[0]
        if isinstance(filter_, IsNotNull):
            return column in _NEVER_NULL
        compare = _COMPARISONS.get(type(filter_))
        value = getattr(filter_, "value", None)
        if compare is None:
            return False
        if column == "timestamp":
            self._take_time(filter_, value)
            return False
        if not _is_of_kind(column, value):
            return False
        if column == "offset":
            return self._take_offset(filter_, value)
        at = 0 if column == "topic" else 1
        self.tests.append(lambda where: compare(where[at], value))
        return True

    def _take_offset(self, filter_: Filter, value: Any) -> bool:
        """A range of offsets; of several single ones only the outermost are gone by."""
        least, most = 0, _FOREVER
        match filter_:
            case EqualTo() | EqualNullSafe():
                least, most = value, value + 1
            case GreaterThan():
                least = value + 1
            case GreaterThanOrEqual():
                least = value
            case LessThan():
                most = value
            case LessThanOrEqual():
                most = value + 1
            case In():
                least, most = min(value, default=0), max(value, default=-1) + 1
        self.offset_from = max(self.offset_from, least)
        self.offset_until = min(self.offset_until, most)
        return not isinstance(filter_, In)

    def _take_time(self, filter_: Filter, value: Any) -> None:
        """Records before the first one of a time are older; after it they may be, too.

        So only the beginning can be narrowed, and Spark has to look at each record that is left.
        """
        if not isinstance(value, datetime) or value.tzinfo is None:
            return
        if isinstance(filter_, EqualTo | EqualNullSafe | GreaterThan | GreaterThanOrEqual):
            time_ms = int(value.timestamp() // 0.001) - 1
            self.time_from_ms = max(time_ms, self.time_from_ms or time_ms)

    def allows(self, where: TopicPartition) -> bool:
        """Whether there can be anything of this partition."""
        return all(test(where) for test in self.tests)

    def narrow(self, whole: OffsetRange) -> OffsetRange:
        """What is left of a range of offsets."""
        return OffsetRange(
            whole.where, max(whole.start, self.offset_from), min(whole.end, self.offset_until)
        )


def _is_of_kind(column: str, value: Any) -> bool:
    kind = _KINDS.get(column)
    if kind is None:
        return False
    values = value if isinstance(value, tuple | list) else (value,)
    return all(isinstance(each, kind) and not isinstance(each, bool) for each in values)
