"""The share partitions that this broker leads: their loading, their writes, and their time.

A share partition is loaded by its first fetch. The share coordinator is asked for its state, and is
given each change; see ``Persister``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.metadata.image.changes import (
    Changes,
    ConfigChanged,
    PartitionChanged,
    TopicDeleted,
)
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.metadata.publishing import MetadataPublisher
from fencepost_broker.replication.partition import Partition

if TYPE_CHECKING:
    from fencepost_broker.replication.share.group_settings import ShareGroupSettings
    from fencepost_broker.replication.share.share_partition import (
        Acknowledgement,
        Acquired,
        AcquireLimits,
        FetchedBatch,
        SharePartition,
        StateBatch,
        StateWrite,
    )

_GROUPS_KNOWN_MAX: Final = 1000
UNSET: Final = -1
"""The start offset of a share partition that has none yet."""
_AGAIN: Final = (
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NETWORK_EXCEPTION,
)
_FENCED: Final = (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.FENCED_STATE_EPOCH)
_GONE: Final = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
Then = Callable[[ErrorCode], None]


class SharePartitionKey(NamedTuple):
    """The name of a share partition."""

    group_id: str
    topic_id: bytes
    number: int


class ReadState(NamedTuple):
    """The state that the share coordinator has of a share partition."""

    state_epoch: int
    start_offset: int
    batches: Sequence[StateBatch]


class Persister(Protocol):
    """The share coordinator; ``then`` is called at once or later."""

    def read(
        self,
        key: SharePartitionKey,
        leader_epoch: int,
        then: Callable[[ReadState | ErrorCode], None],
    ) -> None:
        """Return the state of a share partition, or the error."""

    def write(
        self, key: SharePartitionKey, state_epoch: int, leader_epoch: int, write: StateWrite,
        then: Then,
    ) -> None:  # fmt: skip
        """Write changes of the state of a share partition."""


class LedSharePartition:
    """A share partition, and what waits for it."""

    __slots__ = (
        "error",
        "is_used",
        "key",
        "partition",
        "settings",
        "state",
        "state_epoch",
        "waiting",
    )

    def __init__(
        self, key: SharePartitionKey, partition: Partition, settings: ShareGroupSettings
    ) -> None:
        self.key = key
        self.partition = partition
        self.settings = settings
        self.state: SharePartition | None = None
        """``None`` until it is loaded."""
        self.state_epoch = 0
        self.error = ErrorCode.NONE
        """Why it is no longer used."""
        self.waiting: list[Then] = []
        """Called after the next write."""
        self.is_used = True
        """Whether the group has a session here; if not, it is forgotten after the last write."""


class SharePartitions(MetadataPublisher):
    """All share partitions that this broker leads."""

    def __init__(
        self,
        make_persister: Callable[[], Persister],
        settings_of: Callable[[str], ShareGroupSettings],
        now_ms: Callable[[], int],
    ) -> None:
        """``make_persister`` is called before the first share partition is loaded."""
        self._make_persister = make_persister
        self._persister: Persister | None = None
        self._settings_of = lru_cache(_GROUPS_KNOWN_MAX)(settings_of)
        self._now_ms = now_ms
        self._led: dict[SharePartitionKey, LedSharePartition] = {}
        self._deadline_ms: int | None = None
        """No lock ends before."""

    def __len__(self) -> int:
        return len(self._led)

    def get(self, key: SharePartitionKey) -> LedSharePartition | None:
        """Return a share partition that was loaded, or is being loaded."""
        return self._led.get(key)

    def load(self, key: SharePartitionKey, partition: Partition) -> LedSharePartition:
        """Return a share partition; load it if necessary."""
        led = self._led.get(key)
        if led is None:
            led = LedSharePartition(key, partition, self._settings_of(key.group_id))
            self._led[key] = led
            if self._persister is None:
                self._persister = self._make_persister()
            self._persister.read(key, partition.leader_epoch, partial(self._loaded, led))
        led.is_used = True
        return led

    def _loaded(self, led: LedSharePartition, read: ReadState | ErrorCode) -> None:
        from fencepost_broker.replication.share.group_settings import start_offset
        from fencepost_broker.replication.share.share_partition import SharePartition

        if led.error:
            return
        if isinstance(read, ErrorCode):
            self._drop(led, told_of(read))
            return
        led.state_epoch = read.state_epoch
        start = read.start_offset
        if start == UNSET:
            start = start_offset(led.settings, led.partition.log, self._now_ms())
        led.state = SharePartition(start, read.batches, led.settings.limits)
        led.partition.moved()

    def lock_ms(self, group_id: str) -> int:
        """Return how long a group's locks last."""
        return self._settings_of(group_id).limits.lock_ms

    # -- records -------------------------------------------------------------------------------

    def acquire(
        self, led: LedSharePartition, member: str, offset: int, fetched: Iterable[FetchedBatch],
        wanted: AcquireLimits,
    ) -> list[Acquired]:  # fmt: skip
        """Give a member records that were read from an offset on."""
        assert led.state is not None
        acquired = led.state.acquire(member, self._now_ms(), offset, fetched, wanted)
        self._changed(led)
        return acquired

    def acknowledge(
        self,
        led: LedSharePartition,
        member: str,
        acknowledgements: Sequence[Acknowledgement],
        then: Then,
    ) -> None:
        """Carry out what a member says about records; ``then`` is called once it is written."""
        assert led.state is not None
        error = led.state.acknowledge(member, self._now_ms(), acknowledgements)
        if error:
            then(error)
            return
        led.waiting.append(then)
        self._changed(led)

    def release(self, key: SharePartitionKey, member: str) -> None:
        """Release the records of a member whose session has ended."""
        led = self._led.get(key)
        if led is not None and led.state is not None and led.state.release(member):
            self._changed(led)
            led.partition.moved()

    def group_is_gone(self, group_id: str) -> None:
        """Forget the share partitions of a group without sessions, once all is written.

        Offsets of a group without members can be changed, so the next member loads its state.
        """
        for led in list(self._led.values()):
            if led.key.group_id == group_id:
                led.is_used = False
                self._forget_if_idle(led)

    def _forget_if_idle(self, led: LedSharePartition) -> None:
        if not (led.is_used or led.waiting or (led.state is not None and led.state.is_writing)):
            self._drop(led, ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def _changed(self, led: LedSharePartition) -> None:
        """Write what has changed, and note when the next lock ends."""
        state = led.state
        assert state is not None
        self._note_deadline(state.deadline_ms())
        write = state.take_write()
        if write is not None:
            told, led.waiting = led.waiting, []
            assert self._persister is not None
            then = partial(self._written, led, write, told)
            leader_epoch = led.partition.leader_epoch
            self._persister.write(led.key, led.state_epoch, leader_epoch, write, then)
        elif not state.is_writing:
            _tell(led, ErrorCode.NONE)  # what they asked for needs no write

    def _note_deadline(self, deadline_ms: int | None) -> None:
        if deadline_ms is not None and (
            self._deadline_ms is None or deadline_ms < self._deadline_ms
        ):
            self._deadline_ms = deadline_ms

    def _written(
        self, led: LedSharePartition, write: StateWrite, told: list[Then], error: ErrorCode
    ) -> None:
        code = told_of(error)
        assert led.state is not None
        led.state.written(write, is_done=not error)
        for then in told:
            then(led.error or code)
        if led.error:
            return
        if error in _FENCED or error in _GONE:
            self._drop(led, code)
            return
        if not error or led.waiting:
            self._changed(led)
        else:
            # The outcomes are dropped: locks that had ended by then are in force, and end now.
            self._note_deadline(led.state.deadline_ms())
        self._forget_if_idle(led)
        led.partition.moved()

    # -- time ----------------------------------------------------------------------------------

    def deadline_ms(self) -> int | None:
        """Return when ``expire`` should be called."""
        return self._deadline_ms

    def expire(self, now_ms: int) -> None:
        """Release the records whose locks have ended."""
        if self._deadline_ms is None or now_ms < self._deadline_ms:
            return
        self._deadline_ms = None
        for led in list(self._led.values()):
            if led.state is not None:
                if led.state.expire(now_ms):
                    led.partition.moved()
                self._changed(led)

    def jumped(self, by_ms: int) -> None:
        """Move the ends of locks: the clock was set."""
        for led in self._led.values():
            if led.state is not None:
                led.state.jumped(by_ms)
        if self._deadline_ms is not None:
            self._deadline_ms += by_ms

    # -- metadata ------------------------------------------------------------------------------

    def on_changes(self, changes: Changes) -> None:
        """Forget share partitions that this broker no longer leads; apply changed settings."""
        for change in changes:
            if isinstance(change, TopicDeleted):
                self._forget(change.topic_id, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            elif isinstance(change, PartitionChanged):
                number = change.after.partition_id
                self._forget(change.topic_id, number, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            elif isinstance(change, ConfigChanged) and change.resource_type == ResourceType.GROUP:
                self._configure(change.resource_name)

    def use(self, settings: Any) -> None:
        """Apply changed settings of the broker."""
        del settings
        self._configure(None)

    def _configure(self, group_id: str | None) -> None:
        self._settings_of.cache_clear()
        for led in self._led.values():
            if group_id in (None, led.key.group_id):
                led.settings = self._settings_of(led.key.group_id)
                if led.state is not None:
                    led.state.limits = led.settings.limits

    def _forget(self, topic_id: bytes, number: int | None, why: ErrorCode) -> None:
        for led in list(self._led.values()):
            if led.key.topic_id != topic_id or number not in (None, led.key.number):
                continue
            if number is None or not led.partition.leads:
                self._drop(led, why)

    def _drop(self, led: LedSharePartition, why: ErrorCode) -> None:
        led.error = why
        if self._led.get(led.key) is led:
            del self._led[led.key]
        _tell(led, why)
        led.partition.moved()


def _tell(led: LedSharePartition, code: ErrorCode) -> None:
    waiting, led.waiting = led.waiting, []
    for then in waiting:
        then(code)


def told_of(error: ErrorCode) -> ErrorCode:
    """Return the member's error for an error of the share coordinator."""
    if error in _AGAIN:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if error in _FENCED:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if not error or error in _GONE:
        return error
    return ErrorCode.UNKNOWN_SERVER_ERROR
