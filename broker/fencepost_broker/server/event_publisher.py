"""Publisher of metadata changes to the log."""

from __future__ import annotations

from typing import Any

from fencepost_broker.metadata.decision import Decision
from fencepost_broker.metadata.dynamic_config import DynamicConfig
from fencepost_broker.metadata.image.changes import Changes
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.publishing import MetadataPublisher
from fencepost_broker.observability.cluster_events import ClusterEvents
from fencepost_broker.observability.log_levels import LEVELS, LogLevels
from fencepost_broker.storage.log.results import LogEvent


class EventPublisher(MetadataPublisher):
    """Collects events of the cluster and, at level debug, each record of the metadata."""

    def __init__(
        self,
        node_id: int,
        image: MetadataImage,
        config: DynamicConfig,
        events: ClusterEvents,
        log_levels: LogLevels,
    ) -> None:
        self._node_id = node_id
        self._image = image
        self._config = config
        self._events = events
        self._log_levels = log_levels
        self._records: list[LogEvent] = []

    def on_decision(self, changes: Changes, decision: Decision[Any] | None) -> None:
        """Note a decision, of this process's controller or another one."""
        if decision is None:
            self._events.read(changes)
            return
        if any(broker_id != self._node_id for broker_id in self._image.cluster.brokers):
            session_ms = self._config.settings.broker_session_timeout_ms
            self._events.decided(changes, session_ms, is_by_time=decision.answer is None)
        if self._log_levels.at_least("controller") <= LEVELS["debug"]:
            self._records += (
                LogEvent("record", "", str(each.message), area="controller", is_detail=True)
                for each in decision.records
            )

    def take(self) -> list[LogEvent]:
        """Return the new events."""
        records, self._records = self._records, []
        return records + self._events.take()
