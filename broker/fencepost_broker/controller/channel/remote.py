"""The controller at the other end of a wire: it is asked, and its log is followed.

What it decided arrives by the log, before or behind the answer. Whoever asks hears the answer, or
``None`` when the connection broke while the controller may have been deciding: only who asks knows
whether the same may be asked twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from fencepost_protocol.apis import Message

from fencepost_broker.config import Settings
from fencepost_broker.controller.channel.pending_requests import PendingRequest
from fencepost_broker.metadata.image import MetadataImage
from fencepost_broker.metadata.log import MetadataLog
from fencepost_broker.metadata.publishing import MetadataPublisher


class Wire(Protocol):
    """The connection to the controller, made anew when it breaks."""

    def ask(self, message: Message, then: Callable[[Any], None]) -> None:
        """Send a request as soon as there is a connection."""

    def ask_within(
        self, limit_ms: int, message: Message, then: Callable[[Any], None]
    ) -> PendingRequest:
        """Send a request, again and again until it is answered or its time is over."""


class RemoteController:
    """Stands where a ``LocalController`` stands in a process that has one."""

    is_serving = False

    def __init__(
        self,
        image: MetadataImage,
        log: MetadataLog,
        now_ms: Callable[[], int],
        publisher: MetadataPublisher,
        wire: Wire,
    ) -> None:
        self.image = image
        self.log = log
        self._now_ms = now_ms
        self._publisher = publisher
        self._wire = wire

    def replay(self) -> None:
        """Apply what there is of the log here."""
        for record, offset in self.log.replay(self._now_ms()):
            if record is None:
                self.image.skip(offset)
            else:
                self._publisher.on_changes(self.image.apply(record.message, offset))

    def command(self, message: Message) -> Any:
        """Nobody here decides: whoever comes here should have asked."""
        raise AssertionError(f"{message.NAME} is for the controller, which is another process")

    def ask(self, message: Message, then: Callable[[Any], None]) -> None:
        """Have the controller decide."""
        self._wire.ask(message, then)

    def ask_within(
        self, limit_ms: int, message: Message, then: Callable[[Any], None]
    ) -> PendingRequest:
        """Have it decide what may be asked twice; ``then`` hears ``None`` when time is over."""
        return self._wire.ask_within(limit_ms, message, then)

    def deadline_ms(self) -> int | None:
        """Time makes nothing be decided here."""
        return None

    def expire(self, now_ms: int) -> None:
        """Nothing is due."""

    def release_waiting(self) -> None:
        """Nobody waits."""

    def maintain(self, now_ms: int, settings: Settings) -> None:
        """Write a snapshot of what was read when it is time, so that a start is quick."""
        self.log.write_snapshot_if_due(self.image, now_ms, settings)
