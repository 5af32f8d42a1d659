"""The share coordinator of one partition of ``__share_group_state``.

A share partition (a partition of a topic, for a share group) belongs to the partition of the key
``group:topicId:partition``. Its state is a snapshot and the updates since, which are merged by
offset. It begins with an initialisation by the group coordinator; the partition's leader reads it
when it begins to lead, and writes what changes.

Epochs fence: a request with an older state epoch, or an older leader epoch, than the greatest seen
is refused. As in Kafka, a read stores a greater leader epoch, and a write does not.

The log does not grow forever: see ``upkeep``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from fencepost_protocol.generated import delete_share_group_state as deleting
from fencepost_protocol.generated import initialize_share_group_state as initializing
from fencepost_protocol.generated import read_share_group_state as reading
from fencepost_protocol.generated import read_share_group_state_summary as summing
from fencepost_protocol.generated import share_snapshot, share_update
from fencepost_protocol.generated import write_share_group_state as writing
from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.coordinator.group.commands import TopicsDeleted
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.coordinator.share.messages import AskShare, ShareKey, failed
from fencepost_broker.coordinator.share.state import (
    UNKNOWN,
    Batches,
    ShareState,
    batches_of,
    combined,
)
from fencepost_broker.coordinator.share.upkeep import (
    SNAPSHOTS_AT_ONCE,
    DeleteRecords,
    UpkeepTimes,
    cold,
)
from fencepost_broker.metadata.decision import Decision

_NEGATIVE: Final = "a partition's number is not negative"
_UNINITIALIZED: Final = "this share partition has not been initialized"


class Topics(Protocol):
    """The topics of the current metadata image."""

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of the topic with this id; ``None`` if it does not exist."""

    def partition_count(self, name: str) -> int:
        """Return a topic's number of partitions; 0 if the topic does not exist."""


@dataclass(frozen=True, slots=True)
class ShareCoordinatorSettings:
    """Settings of the share coordinator; the defaults are Kafka's."""

    snapshot_update_records_per_snapshot: int = 500
    cold_partition_snapshot_interval_ms: int = 300_000
    state_topic_prune_interval_ms: int = 300_000


class ShareCoordinator:
    """The share partitions of one partition of ``__share_group_state``."""

    def __init__(self, topics: Topics, settings: ShareCoordinatorSettings | None = None) -> None:
        self._topics = topics
        self._settings = settings or ShareCoordinatorSettings()
        self._states: dict[ShareKey, ShareState] = {}
        self._end_offset = 0
        self._pruned_to = 0
        self._upkeep: UpkeepTimes | None = None

    # -- the contract of machines ----------------------------------------------------------------

    def handle(self, now_ms: int, command: AskShare | TopicsDeleted) -> Decision[Any]:
        """Return the decision on one share partition of a request; the state does not change."""
        if isinstance(command, TopicsDeleted):
            gone = [key for key in self._states if key[1] in command.names]
            return Decision(answer=True, records=tuple(_tombstone(key) for key in gone))
        if command.part.partition < 0:
            return _refused(command, ErrorCode.INVALID_REQUEST, _NEGATIVE)
        return _DECIDERS[type(command.part)](self, now_ms, command)

    def replay(self, record: LogRecord, offset: int = -1, producer_id: int = -1) -> None:
        """Apply a record of the log."""
        del producer_id
        self._end_offset = offset + 1
        given, value = record.key, record.value
        assert isinstance(given, share_snapshot.ShareSnapshotKey | share_update.ShareUpdateKey)
        key = ShareKey((given.group_id, given.topic_id, given.partition))
        before = self._states.get(key)
        if isinstance(value, share_snapshot.ShareSnapshotValue):
            self._states[key] = _restored(before, value, offset)
        elif isinstance(value, share_update.ShareUpdateValue):
            self._states[key] = _updated(before, value)
        elif isinstance(given, share_snapshot.ShareSnapshotKey):
            self._states.pop(key, None)

    def apply_soft(self, soft: UpkeepTimes | DeleteRecords) -> None:
        """Set when the log is looked after next, or note up to where it has been pruned."""
        if isinstance(soft, UpkeepTimes):
            self._upkeep = soft
        else:
            self._pruned_to = soft.before_offset

    def deadline(self) -> int | None:
        """Return when the log is looked after next; ``None`` while it is empty."""
        return min(self._upkeep) if self._upkeep is not None and self._end_offset else None

    def not_due_before(self) -> int | None:
        """Return ``deadline``."""
        return self.deadline()

    def expire(self, now_ms: int) -> Decision[None]:
        """Write snapshots of share partitions that rest, or delete records before all snapshots."""
        times, settings = self._upkeep, self._settings
        assert times is not None
        if times.snapshots_ms <= now_ms:
            interval_ms = settings.cold_partition_snapshot_interval_ms
            found = cold(self._states, now_ms, interval_ms)
            now = found[:SNAPSHOTS_AT_ONCE]
            records = tuple(_snapshot_again(now_ms, key, state) for key, state in now)
            if len(found) <= SNAPSHOTS_AT_ONCE:
                times = times._replace(snapshots_ms=now_ms + interval_ms)
            return Decision(records=records, soft=(times,))
        times = times._replace(deletion_ms=now_ms + settings.state_topic_prune_interval_ms)
        needed = min(
            (state.snapshot_offset for state in self._states.values()), default=self._end_offset
        )
        if needed <= self._pruned_to:
            return Decision(soft=(times,))
        effect = DeleteRecords(needed)
        return Decision(effects=(effect,), soft=(times, effect))

    def jumped(self, by_ms: int) -> None:
        """Move the times of upkeep: the clock was set."""
        if self._upkeep is not None:
            self._upkeep = UpkeepTimes(*(each + by_ms for each in self._upkeep))

    def put_off(self) -> None:
        """Write the snapshots an interval later: the log refused them."""
        assert self._upkeep is not None
        later_ms = self._upkeep.snapshots_ms + self._settings.cold_partition_snapshot_interval_ms
        self._upkeep = self._upkeep._replace(snapshots_ms=later_ms)

    def take_up(self) -> None:
        """Do nothing: what was put off has a new time."""

    def activate(self, now_ms: int) -> Decision[None]:
        """Delete the state of topics that were deleted while the coordinator was not loaded."""
        gone = [key for key in self._states if self._topics.topic_name(key[1]) is None]
        times = UpkeepTimes(
            now_ms + self._settings.cold_partition_snapshot_interval_ms,
            now_ms + self._settings.state_topic_prune_interval_ms,
        )
        return Decision(records=tuple(_tombstone(key) for key in gone), soft=(times,))

    def unload(self) -> Decision[None]:
        """Return the last decision: no request waits here."""
        return Decision()

    @property
    def state(self) -> dict[ShareKey, ShareState]:
        """The machine's state, for reading only."""
        return self._states

    # -- decisions -------------------------------------------------------------------------------

    def initialize(self, now_ms: int, ask: AskShare) -> Decision[Any]:
        """Begin or reset the state of a share partition."""
        part = ask.part
        before = self._states.get(ask.key)
        if before is not None and UNKNOWN != part.state_epoch < before.state_epoch_seen:
            return _refused(ask, ErrorCode.FENCED_STATE_EPOCH)
        if not self._exists(ask.key):
            return _refused(ask, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        state = ShareState(
            0 if before is None else before.snapshot_epoch + 1,
            part.state_epoch,
            0,
            part.start_offset,
            UNKNOWN if part.start_offset == UNKNOWN else 0,
            (),
            0,
            0,
            0,
            -1,
            now_ms,
            now_ms,
        )
        return Decision(initializing.PartitionResult(part.partition), (_snapshot(ask.key, state),))

    def read(self, now_ms: int, ask: AskShare) -> Decision[Any]:
        """Return the state to the partition's leader, and store its leader epoch."""
        part = ask.part
        state = self._states.get(ask.key)
        refusal = self._refusal(ask, state)
        if state is None or refusal is not None:
            return _refused(ask, *(refusal or _NOT_INITIALIZED))
        records: tuple[LogRecord, ...] = ()
        if part.leader_epoch > state.leader_epoch_seen:
            taken = replace(state, leader_epoch=part.leader_epoch)
            records = (self._record(now_ms, ask.key, taken, state.start_offset, ()),)
        rows = [reading.StateBatch(*each) for each in state.batches]
        result = reading.PartitionResult(
            part.partition, 0, None, state.state_epoch, state.start_offset, rows
        )
        return Decision(result, records)

    def write(self, now_ms: int, ask: AskShare) -> Decision[Any]:
        """Store what has changed."""
        part = ask.part
        state = self._states.get(ask.key)
        refusal = self._refusal(ask, state)
        if state is None or refusal is not None:
            return _refused(ask, *(refusal or _NOT_INITIALIZED))
        after = replace(state, delivery_complete_count=part.delivery_complete_count)
        batches = combined(batches_of(part.state_batches), part.start_offset)
        record = self._record(now_ms, ask.key, after, part.start_offset, batches)
        return Decision(writing.PartitionResult(part.partition), (record,))

    def delete(self, now_ms: int, ask: AskShare) -> Decision[Any]:
        """Delete the state; there may be none."""
        del now_ms
        if not self._exists(ask.key):
            return _refused(ask, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        records = (_tombstone(ask.key),) if ask.key in self._states else ()
        return Decision(deleting.PartitionResult(ask.part.partition), records)

    def summarize(self, now_ms: int, ask: AskShare) -> Decision[Any]:
        """Return the epochs, the start offset and the progress."""
        del now_ms
        if not self._exists(ask.key):
            return _refused(ask, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        state = self._states.get(ask.key)
        if state is None:
            return Decision(summing.PartitionResult(ask.part.partition, start_offset=UNKNOWN))
        return Decision(
            summing.PartitionResult(
                ask.part.partition,
                0,
                None,
                state.state_epoch,
                state.leader_epoch,
                state.start_offset,
                state.delivery_complete_count,
            )
        )

    def _refusal(self, ask: AskShare, state: ShareState | None) -> tuple[ErrorCode, str] | None:
        """Return the error for a read or a write."""
        part = ask.part
        if state is None:
            return _NOT_INITIALIZED
        if UNKNOWN != part.leader_epoch < state.leader_epoch_seen:
            return ErrorCode.FENCED_LEADER_EPOCH, "a later leader has read the state"
        state_epoch = getattr(part, "state_epoch", UNKNOWN)
        if UNKNOWN != state_epoch < state.state_epoch_seen:
            return ErrorCode.FENCED_STATE_EPOCH, "the state was initialized again"
        if not self._exists(ask.key):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "there is no such partition"
        return None

    def _exists(self, key: ShareKey) -> bool:
        name = self._topics.topic_name(key[1])
        return name is not None and key[2] < self._topics.partition_count(name)

    def _record(
        self, now_ms: int, key: ShareKey, state: ShareState, start_offset: int, changed: Batches
    ) -> LogRecord:
        """Return an update, or a snapshot if there are enough updates since the last one."""
        if state.updates < self._settings.snapshot_update_records_per_snapshot:
            rows = [share_update.StateBatch(*each) for each in changed]
            value = share_update.ShareUpdateValue(
                state.snapshot_epoch,
                state.leader_epoch,
                start_offset,
                state.delivery_complete_count,
                rows,
            )
            return LogRecord(share_update.ShareUpdateKey(*key), value)
        start = state.start_offset if start_offset == UNKNOWN else start_offset
        whole = replace(
            state,
            snapshot_epoch=state.snapshot_epoch + 1,
            start_offset=start,
            batches=combined((*state.batches, *changed), start),
            created_ms=now_ms,
            written_ms=now_ms,
        )
        return _snapshot(key, whole)


_NOT_INITIALIZED: Final = (ErrorCode.INVALID_REQUEST, _UNINITIALIZED)


def _refused(ask: AskShare, code: ErrorCode, text: str | None = None) -> Decision[Any]:
    return Decision(failed(ask, code, text))


def _snapshot_again(now_ms: int, key: ShareKey, state: ShareState) -> LogRecord:
    return _snapshot(
        key, replace(state, snapshot_epoch=state.snapshot_epoch + 1, written_ms=now_ms)
    )


def _snapshot(key: ShareKey, state: ShareState) -> LogRecord:
    value = share_snapshot.ShareSnapshotValue(
        state.snapshot_epoch,
        state.state_epoch,
        state.leader_epoch,
        state.start_offset,
        state.delivery_complete_count,
        state.created_ms,
        state.written_ms,
        [share_snapshot.StateBatch(*each) for each in state.batches],
    )
    return LogRecord(share_snapshot.ShareSnapshotKey(*key), value)


def _tombstone(key: ShareKey) -> LogRecord:
    return LogRecord(share_snapshot.ShareSnapshotKey(*key), None)


def _restored(
    before: ShareState | None, value: share_snapshot.ShareSnapshotValue, offset: int
) -> ShareState:
    return ShareState(
        value.snapshot_epoch,
        value.state_epoch,
        value.leader_epoch,
        value.start_offset,
        value.delivery_complete_count,
        batches_of(value.state_batches),
        0,
        max(value.state_epoch, UNKNOWN if before is None else before.state_epoch_seen),
        max(value.leader_epoch, UNKNOWN if before is None else before.leader_epoch_seen),
        offset,
        value.create_timestamp,
        value.write_timestamp,
    )


def _updated(before: ShareState | None, value: share_update.ShareUpdateValue) -> ShareState:
    changed = batches_of(value.state_batches)
    if before is None:  # its snapshot is no longer in the log
        before = ShareState(
            value.snapshot_epoch, 0, 0, UNKNOWN, UNKNOWN, (), -1, UNKNOWN, UNKNOWN, 0, 0, 0
        )
    start = before.start_offset if value.start_offset == UNKNOWN else value.start_offset
    epoch = before.leader_epoch if value.leader_epoch == UNKNOWN else value.leader_epoch
    return replace(
        before,
        leader_epoch=epoch,
        start_offset=start,
        delivery_complete_count=value.delivery_complete_count,
        batches=combined((*before.batches, *changed), start),
        updates=before.updates + 1,
        leader_epoch_seen=max(epoch, before.leader_epoch_seen),
    )


_Decider = Callable[[ShareCoordinator, int, AskShare], Decision[Any]]

_DECIDERS: Final[dict[type, _Decider]] = {
    initializing.PartitionData: ShareCoordinator.initialize,
    reading.PartitionData: ShareCoordinator.read,
    writing.PartitionData: ShareCoordinator.write,
    deleting.PartitionData: ShareCoordinator.delete,
    summing.PartitionData: ShareCoordinator.summarize,
}
