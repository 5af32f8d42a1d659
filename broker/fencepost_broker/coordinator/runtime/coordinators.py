"""The coordinators of this broker, created when the first one is needed.

Most brokers in tests coordinate nothing and start faster without them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from fencepost_broker.metadata.image.changes import PartitionChanged, TopicCreated, TopicDeleted
from fencepost_broker.metadata.publishing import MetadataPublisher

if TYPE_CHECKING:
    from typing import Any

    from fencepost_broker.config import Settings
    from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
    from fencepost_broker.coordinator.runtime.peer_brokers import PeerBrokers
    from fencepost_broker.coordinator.runtime.steps import OnStep
    from fencepost_broker.coordinator.runtime.transaction_listener import TransactionListener
    from fencepost_broker.coordinator.transaction.producer_id_manager import ProducerIdSource
    from fencepost_broker.metadata.decision import Decision
    from fencepost_broker.metadata.image.changes import Changes
    from fencepost_broker.replication.partition import Partition
    from fencepost_broker.storage.log.results import LogEvent


class Coordinators(MetadataPublisher):
    """The lazily created runtime, the source of producer ids, and the peer brokers."""

    def __init__(
        self,
        make: Callable[[], CoordinatorRuntime],
        producer_ids: ProducerIdSource,
        peers: PeerBrokers,
        on_step: OnStep | None = None,
    ) -> None:
        self._make = make
        self._made: CoordinatorRuntime | None = None
        self._is_started = False
        self.producer_ids = producer_ids
        self.peers = peers
        self.on_step = on_step
        """Called with the name of each step of a transaction in a log (``steps``)."""
        self._listener: TransactionListener | None = None

    @cached_property
    def runtime(self) -> CoordinatorRuntime:
        """The runtime; the first access creates it."""
        if self._made is None:
            self._made = self._make()
            self._made.listener = self._listener
            if self._is_started:
                self._made.start()
        return self._made

    @property
    def made(self) -> CoordinatorRuntime | None:
        """The runtime, if it was created."""
        return self._made

    @property
    def listener(self) -> TransactionListener | None:
        """The listener while a client watches transactions, or ``None``."""
        return self._listener

    @listener.setter
    def listener(self, listener: TransactionListener | None) -> None:
        self._listener = listener
        if self._made is not None:
            self._made.listener = listener

    def tell_steps(self, on_step: OnStep) -> None:
        """Call this from now on with each step; coordinators that are loaded are loaded anew."""
        self.on_step = on_step
        if self._made is not None:
            self._made.tell_steps(on_step)

    def start(self) -> None:
        """Load the existing coordinators and begin to coordinate."""
        self._is_started = True
        if self._made is not None:
            self._made.start()

    def stop(self) -> None:
        """Answer all waiting requests and stop."""
        self._is_started = False
        self.producer_ids.stop()
        if self._made is not None:
            self._made.stop()

    # -- metadata ------------------------------------------------------------------------------

    def begin_to_lead(self, partition: Partition) -> None:
        """Start a coordinator for a partition of a coordinator's topic that this broker leads."""
        self.runtime.begin_to_lead(partition)

    def stop_leading(self, topic: str, number: int) -> None:
        """Unload a coordinator: another broker leads the partition, or it was deleted."""
        if self._made is not None:
            self._made.stop_leading(topic, number)

    def on_changes(self, changes: Changes) -> None:
        """Stop waiting for brokers that are fenced."""
        self.peers.changed(changes)

    def on_decision(self, changes: Changes, decision: Decision[Any] | None) -> None:
        """Tell the coordinators about changed, new and deleted topics."""
        del decision
        if self._made is None:
            return
        created = [each.name for each in changes if isinstance(each, TopicCreated)]
        deleted = {each.topic_id: each.name for each in changes if isinstance(each, TopicDeleted)}
        changed = dict.fromkeys(each.name for each in changes if isinstance(each, PartitionChanged))
        if changed or deleted:
            self._made.topics_changed(list(changed), deleted, new=bool(created))

    def use(self, settings: Settings) -> None:
        """Apply changed settings."""
        if self._made is not None:
            self._made.use(settings)

    # -- time ----------------------------------------------------------------------------------

    def deadline_ms(self) -> int | None:
        """Return the earliest deadline of all machines."""
        return None if self._made is None else self._made.expiries.deadline_ms()

    def expire(self, now_ms: int) -> None:
        """Carry out everything that is due."""
        if self._made is not None:
            self._made.expiries.expire(now_ms)

    def jumped(self, by_ms: int) -> None:
        """Move the ends of durations: the clock was set."""
        if self._made is not None:
            self._made.expiries.jumped(by_ms)

    def take_events(self) -> list[LogEvent]:
        """Return and clear the events for the log."""
        return [] if self._made is None else self._made.take_events()
