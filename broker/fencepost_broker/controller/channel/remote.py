"""A controller in another process: it gets requests, and its log is followed.

Its decisions arrive by the log, before or after the answer. The callback of a request gets the
answer, or ``None`` if the connection was lost when the controller might have decided: only the
sender knows whether the request may be repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from fencepost_protocol.apis import Message

from fencepost_broker.config import Settings
from fencepost_broker.controller.channel.pending_requests import PendingRequest
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.log.metadata_log import MetadataLog
from fencepost_broker.metadata.publishing import MetadataPublisher

if TYPE_CHECKING:
    from fencepost_broker.controller.ports import ControllerCommand


class Wire(Protocol):
    """The connection to the controller, opened again when it is lost."""

    def ask(self, message: Message, then: Callable[[Any], None]) -> None:
        """Send a request as soon as there is a connection."""

    def ask_within(
        self, limit_ms: int, message: Message, then: Callable[[Any], None]
    ) -> PendingRequest:
        """Send a request, repeatedly until it is answered or its time is over."""

    def is_current(self) -> bool:
        """Whether this broker can still be the leader that its metadata say it is."""


class RemoteController:
    """Has the interface of ``LocalController``, for a controller in another process."""

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

    def is_current(self) -> bool:
        """Whether this broker can still be the leader that its metadata say it is."""
        return self._wire.is_current()

    def replay(self) -> None:
        """Apply the records that the local copy of the log has."""
        for record, offset in self.log.replay(self._now_ms()):
            if record is None:
                self.image.skip(offset)
            else:
                self._publisher.on_changes(self.image.apply(record.message, offset))

    def command(self, message: ControllerCommand) -> Any:
        """Never called: requests go to the other process."""
        name = type(message).__name__
        raise AssertionError(f"{name} is for the controller, which is another process")

    def ask(self, message: Message, then: Callable[[Any], None]) -> None:
        """Let the controller decide; ``then`` gets the answer."""
        self._wire.ask(message, then)

    def ask_within(
        self, limit_ms: int, message: Message, then: Callable[[Any], None]
    ) -> PendingRequest:
        """Let it decide a repeatable request; ``then`` gets ``None`` after the time limit."""
        return self._wire.ask_within(limit_ms, message, then)

    def deadline_ms(self) -> int | None:
        """Nothing is decided by time here."""
        return None

    def expire(self, now_ms: int) -> None:
        """Nothing is due here."""

    def jumped(self, by_ms: int) -> None:
        """Nothing is due here."""

    def release_waiting(self) -> None:
        """No fetches wait here."""

    def maintain(self, now_ms: int, settings: Settings) -> None:
        """Write a snapshot of what was read if it is due, so that the next start is fast."""
        self.log.write_snapshot_if_due(self.image, now_ms, settings)
