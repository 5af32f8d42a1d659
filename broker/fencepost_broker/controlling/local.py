"""The controller in this process: it decides, the metadata log has it, then it is carried out.

One decision is one batch of the log. What it changed is handed on record by record, before the
answer leaves, so whoever asked finds it done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode

from fencepost_broker.controller.bootstrap import first_records
from fencepost_broker.controller.image import Changes
from fencepost_broker.controller.machine import Controller
from fencepost_broker.controller.withdrawal import withdraw
from fencepost_broker.log import StorageError
from fencepost_broker.machine import Decision
from fencepost_broker.metadata_log import MetadataLog
from fencepost_broker.settings import Settings


class Host(Protocol):
    """Who carries out what is decided."""

    def now_ms(self) -> int:
        """State time."""

    def carry_out(self, changes: Changes) -> None:
        """Do what one record changed."""

    def decided(self, decision: Decision[Any], changes: Changes) -> None:
        """All records of a decision are in the log, and carried out."""


class LocalController:
    """The controller's machine and the log that it writes."""

    def __init__(self, machine: Controller, log: MetadataLog, host: Host) -> None:
        self.machine = machine
        self.log = log
        self._host = host
        self.is_serving = False
        """Somebody waits for answers: a decision that cannot be written is an answer then."""
        self.on_appended: Callable[[], None] = lambda: None
        """Called when there is more in the log."""

    # -- starting ------------------------------------------------------------------------------

    def replay(self) -> Iterator[Changes]:
        """Take in what the log has, and tell what each record changed."""
        for record, offset in self.log.replay(self._host.now_ms()):
            if record is None:
                self.machine.image.skip(offset)
            else:
                yield self.machine.replay(record.message, offset)

    def activate(self, levels: Mapping[str, int]) -> None:
        """Begin to decide; a new cluster begins with these levels of features."""
        self.commit(self.machine.activate(self._host.now_ms(), first_records(levels)))

    # -- deciding ------------------------------------------------------------------------------

    def command(self, message: Message) -> Any:
        """Decide, and have it carried out.

        If the decision cannot be written, it is withdrawn, and the answer says so.
        """
        decision = self.machine.handle(self._host.now_ms(), message)
        try:
            return self.commit(decision)
        except StorageError as error:
            if not self.is_serving:
                raise  # whoever starts the process has to know
            return withdraw(decision.answer, ErrorCode.KAFKA_STORAGE_ERROR, str(error))

    def ask(self, message: Message, then: Callable[[Any], None]) -> None:
        """As ``command``; ``then`` hears the answer at once."""
        then(self.command(message))

    def commit(self, decision: Decision[Any]) -> Any:
        """Write a decision down, and have it carried out."""
        if decision.records:
            offset = self.log.append(decision.records, self._host.now_ms())
            self._host.decided(decision, self._carry_out(decision.records, offset))
        for soft in decision.soft:
            self.machine.apply_soft(soft)
        if decision.records:
            self.on_appended()
        return decision.answer

    def _carry_out(self, records: Iterable[Any], offset: int) -> Changes:
        changes: list[Any] = []
        for at, record in enumerate(records, offset):
            change = self.machine.replay(record.message, at)
            self._host.carry_out(change)
            changes += change
        return tuple(changes)

    # -- time ----------------------------------------------------------------------------------

    def deadline_ms(self) -> int | None:
        """When the machine wants to be woken."""
        return self.machine.deadline()

    def expire(self, now_ms: int) -> None:
        """Decide what time alone makes be decided."""
        while (due_ms := self.machine.deadline()) is not None and due_ms <= now_ms:
            self.commit(self.machine.expire(now_ms))

    def maintain(self, now_ms: int, settings: Settings) -> None:
        """Write a snapshot when it is time."""
        self.log.write_snapshot_if_due(self.machine.image, now_ms, settings)
