"""Who hears of changes of the metadata: each part of the process is a publisher, as in Kafka.

A record of the metadata log is applied to the image first, then each publisher hears what it
changed, in the order in which they were added. When all records of a decision are applied, each
hears of the whole.
"""

from __future__ import annotations

from typing import Any

from fencepost_broker.metadata.decision import Decision
from fencepost_broker.metadata.image.changes import Changes


class MetadataPublisher:
    """Hears of changes; a part overrides what it needs."""

    def on_changes(self, changes: Changes) -> None:
        """Carry out what one record changed."""

    def on_decision(self, changes: Changes, decision: Decision[Any] | None) -> None:
        """Hear of all changes of a decision; ``None`` if another process made the decision."""


class MetadataPublishers(MetadataPublisher):
    """All publishers of a process."""

    def __init__(self, *publishers: MetadataPublisher) -> None:
        self._publishers = list(publishers)

    def add(self, *publishers: MetadataPublisher) -> None:
        """Let these hear of all changes from now on."""
        self._publishers += publishers

    def on_changes(self, changes: Changes) -> None:
        """Tell each publisher what one record changed."""
        for publisher in self._publishers:
            publisher.on_changes(changes)

    def on_decision(self, changes: Changes, decision: Decision[Any] | None) -> None:
        """Tell each publisher that a decision is carried out."""
        for publisher in self._publishers:
            publisher.on_decision(changes, decision)
