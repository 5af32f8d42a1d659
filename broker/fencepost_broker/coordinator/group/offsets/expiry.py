"""Expiry of offsets, and of empty groups without offsets.

An offset's retention time starts at its commit, or when its group becomes empty. An offset does not
expire while a member is subscribed to its topic or a transaction may replace it. OffsetCommit
versions 2 to 4 may set an expiry time, which applies instead.
"""

from __future__ import annotations

from typing import Final

from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.model import Group
from fencepost_broker.coordinator.group.offsets.records import offset_tombstone
from fencepost_broker.coordinator.group.offsets.store import CommittedOffset
from fencepost_broker.coordinator.group.soft import SetTimer, Timer, TimerKey
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.metadata.decision import Decision

RETENTION_KEY: Final = TimerKey(Timer.RETENTION)
RECORDS_AT_ONCE: Final = 1000
"""The number of tombstones after which other work has its turn; the check then continues."""


def look_for_old_offsets(ctx: Context, now_ms: int) -> Decision[None]:
    """Delete expired offsets, and empty groups that have no offsets left."""
    records: list[LogRecord] = []
    for group in ctx.groups.values():
        if len(records) >= RECORDS_AT_ONCE:
            return Decision(None, tuple(records), soft=(SetTimer(RETENTION_KEY, now_ms),))
        records += _expired_of(ctx, now_ms, group)
    next_ms = now_ms + ctx.settings.offsets_retention_check_interval_ms
    return Decision(None, tuple(records), soft=(SetTimer(RETENTION_KEY, next_ms),))


def _expired_of(ctx: Context, now_ms: int, group: Group) -> list[LogRecord]:
    records = []
    left = ctx.offsets.has_open_transaction(group.group_id)
    for topic, by_partition in ctx.offsets.committed(group.group_id).items():
        if group.is_subscribed(topic):
            left = True
            continue
        for number, offset in by_partition.items():
            if _is_expired(ctx, now_ms, group, offset) and not ctx.offsets.is_pending(
                group.group_id, topic, number
            ):
                records.append(offset_tombstone(group.group_id, topic, number))
            else:
                left = True
    if not left and group.is_empty and group.EXPIRES:
        records += group.tombstones()
    return records


def _is_expired(ctx: Context, now_ms: int, group: Group, offset: CommittedOffset) -> bool:
    start_ms = group.retention_start_ms(offset)
    if start_ms is None:
        return False
    if offset.expire_timestamp_ms != -1:
        return now_ms >= offset.expire_timestamp_ms
    return now_ms - start_ms >= ctx.settings.offsets_retention_ms
