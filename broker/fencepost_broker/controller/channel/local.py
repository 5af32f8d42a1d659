"""A controller in this process: decides, writes to the metadata log, applies.

One decision is one batch of the log. Its changes are published record by record, before the answer
is sent, so that a client sees the effect of what it asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.config import Settings
from fencepost_broker.controller.bootstrap import first_records
from fencepost_broker.controller.channel.standstill import StandstillClock
from fencepost_broker.controller.machine import Controller, StoodStill
from fencepost_broker.controller.ports import ControllerCommand, ControllerSettings, TokenSettings
from fencepost_broker.controller.unwritten_decision import withdraw
from fencepost_broker.metadata.decision import Decision
from fencepost_broker.metadata.image.changes import Changes
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.log.metadata_log import MetadataLog
from fencepost_broker.metadata.publishing import MetadataPublisher
from fencepost_broker.storage.log import StorageError

if TYPE_CHECKING:
    from fencepost_broker.controller.ports import ConfigRules
    from fencepost_broker.ports import Chance


class Observer:
    """How far a broker has read the metadata log, by its fetches."""

    __slots__ = ("caught_up_ms", "directory_id", "end_offset", "fetched_ms")

    def __init__(self) -> None:
        self.end_offset = -1
        self.fetched_ms = -1
        self.caught_up_ms = -1
        self.directory_id = ZERO_UUID

    def fetched(self, offset: int, end_offset: int, now_ms: int, directory_id: bytes) -> None:
        """Note a fetch at an offset: the broker has everything before it."""
        self.end_offset, self.fetched_ms, self.directory_id = offset, now_ms, directory_id
        if offset >= end_offset:
            self.caught_up_ms = now_ms


class WaitingFetch(Protocol):
    """A fetch that waits for the next decision."""

    def answer(self) -> None:
        """Answer it: the log has more records."""


class LocalController:
    """The controller's machine and the metadata log that it writes."""

    def __init__(
        self,
        machine: Controller,
        log: MetadataLog,
        now_ms: Callable[[], int],
        publisher: MetadataPublisher,
        stood_still: Callable[[int], None],
    ) -> None:
        """``stood_still`` is called with the time for which this process did not run."""
        self.machine = machine
        self.log = log
        self._now_ms = now_ms
        self._publisher = publisher
        self._stood_still = stood_still
        self._standstill = StandstillClock(machine.session_ms)
        self.is_serving = False
        """Whether clients wait for answers: a decision that cannot be written is then an error
        response."""
        self.waiting: dict[WaitingFetch, None] = {}
        """Fetches of brokers that wait for more records."""
        self.observers: dict[int, Observer] = {}
        """Brokers in other processes that follow the log, by id."""

    # -- starting ------------------------------------------------------------------------------

    def replay(self) -> None:
        """Apply the records of the log."""
        for record, offset in self.log.replay(self._now_ms()):
            if record is None:
                self.machine.image.skip(offset)
            else:
                self._publisher.on_changes(self.machine.replay(record.message, offset))

    def activate(self, levels: Mapping[str, int], producer_ids_from: str | None) -> None:
        """Begin to decide; a new cluster gets these feature levels.

        ``producer_ids_from`` is a file with ZooKeeper's last block of producer ids.
        """
        first = first_records(levels, self.machine.min_insync_replicas)
        self.commit(self.machine.activate(self._now_ms(), first))
        if producer_ids_from is not None:
            self._import_producer_ids(producer_ids_from)

    def _import_producer_ids(self, path: str) -> None:
        from fencepost_broker.controller.producer_id_import import read_block
        from fencepost_broker.controller.producer_ids import import_block

        self.commit(Decision(None, import_block(self.machine.image, read_block(path))))

    # -- deciding ------------------------------------------------------------------------------

    def command(self, message: ControllerCommand) -> Any:
        """Decide a request and apply the decision.

        A decision that cannot be written is withdrawn, and the answer has the error.
        """
        decision = self.machine.handle(self._now_ms(), message)
        try:
            return self.commit(decision)
        except StorageError as error:
            if not self.is_serving:
                raise  # the start of the process must fail
            return withdraw(decision.answer, ErrorCode.KAFKA_STORAGE_ERROR, str(error))

    def ask(self, message: Message, then: Callable[[Any], None]) -> None:
        """Decide as ``command`` does; ``then`` gets the answer at once."""
        then(self.command(message))

    def commit(self, decision: Decision[Any]) -> Any:
        """Write a decision, and apply it."""
        if decision.records:
            offset = self.log.append(decision.records, self._now_ms())
            self._publisher.on_decision(self._carry_out(decision.records, offset), decision)
        for soft in decision.soft:
            self.machine.apply_soft(soft)
        if decision.records:
            if self.machine.awaits_heartbeats:
                self._standstill.begin(self._now_ms())
            for fetch in list(self.waiting):
                fetch.answer()
        return decision.answer

    def _carry_out(self, records: Iterable[Any], offset: int) -> Changes:
        changes: list[Any] = []
        for at, record in enumerate(records, offset):
            change = self.machine.replay(record.message, at)
            self._publisher.on_changes(change)
            changes += change
        return tuple(changes)

    # -- time ----------------------------------------------------------------------------------

    def deadline_ms(self) -> int | None:
        """Return when ``expire`` should be called."""
        return self._standstill.deadline_ms(self.machine.deadline())

    def expire(self, now_ms: int) -> None:
        """Decide what is due by time, but only after heartbeats that wait in sockets were read."""
        check = self._standstill.check(now_ms, is_watched=self.machine.awaits_heartbeats)
        if check.late_ms:
            self.machine.apply_soft(StoodStill(now_ms, check.late_ms))
            self._stood_still(check.late_ms)
        if check.is_postponed:
            return
        while (due_ms := self.machine.deadline()) is not None and due_ms <= now_ms:
            self.commit(self.machine.expire(now_ms))

    def jumped(self, by_ms: int) -> None:
        """Let the brokers' sessions last as long as before, now that the clock was set."""
        self.machine.jumped(by_ms)
        self._standstill.jumped(by_ms)

    def release_waiting(self) -> None:
        """Answer waiting fetches: the process stops."""
        for fetch in list(self.waiting):
            fetch.answer()

    def maintain(self, now_ms: int, settings: Settings) -> None:
        """Write a snapshot if it is due."""
        self.log.write_snapshot_if_due(self.machine.image, now_ms, settings)


def _token_settings(settings: Settings) -> TokenSettings | None:
    key = settings.delegation_token_secret_key
    if key is None:
        return None
    return TokenSettings(
        key,
        settings.delegation_token_max_lifetime_ms,
        settings.delegation_token_expiry_time_ms,
        settings.delegation_token_expiry_check_interval_ms,
    )


def make_machine(
    image: MetadataImage, rules: ConfigRules, chance: Chance, settings: Settings, cluster_id: str
) -> Controller:
    """Return the controller's machine, with these settings."""
    return Controller(
        image,
        rules,
        chance,
        ControllerSettings(
            node_id=settings.node_id,
            cluster_id=cluster_id,
            num_partitions=settings.num_partitions,
            default_replication_factor=settings.default_replication_factor,
            min_insync_replicas=settings.min_insync_replicas,
            unclean_leader_election_enable=settings.unclean_leader_election_enable,
            unclean_leader_election_interval_ms=settings.unclean_leader_election_interval_ms,
            broker_session_timeout_ms=settings.broker_session_timeout_ms,
            leader_imbalance_check_interval_ms=settings.leader_imbalance_check_interval_seconds
            * 1000
            if settings.auto_leader_rebalance_enable
            else None,
            producer_id_brokers=frozenset(map(int, settings.controller_producer_ids_brokers)),
            mutation_window_ms=settings.controller_quota_window_num
            * settings.controller_quota_window_size_seconds
            * 1000,
            tokens=_token_settings(settings),
        ),
    )
