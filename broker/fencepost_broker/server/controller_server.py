"""A controller in a process of its own: it decides, keeps the metadata log, and has no topics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fencepost_protocol.apis import Message

from fencepost_broker.apis.controller.registry import SERVED_BY_CONTROLLER
from fencepost_broker.config import Settings
from fencepost_broker.controller.allocation_rate import AllocationRate
from fencepost_broker.controller.channel.local import LocalController, make_machine
from fencepost_broker.metadata.changes import Changes, ConfigChanged
from fencepost_broker.metadata.decision import Decision
from fencepost_broker.metadata.model import ResourceType
from fencepost_broker.ports import Address, Chance, Clock
from fencepost_broker.server.shared_server import NodeCore
from fencepost_broker.storage.flush_scheduler import Worker
from fencepost_broker.storage.log import Disk


class ControllerNode(NodeCore):
    """The one controller of a cluster."""

    speaks_for_controller = True

    def __init__(
        self,
        settings: Settings,
        disk: Disk,
        clock: Clock,
        chance: Chance,
        worker: Worker | None = None,
    ) -> None:
        super().__init__(settings, disk, clock, chance, worker)
        machine = make_machine(self.image, self._rules, chance, settings, self.cluster_id)
        self.controller = LocalController(machine, self.metadata, self)
        self.allocation_rate = AllocationRate()
        self.versions = {api.key.value: api.versions for api in SERVED_BY_CONTROLLER}

    @property
    def decider(self) -> LocalController:
        """The controller itself."""
        return self.controller

    def start(self, addresses: Iterable[Address]) -> None:
        """Replay the metadata log, and begin to decide."""
        self.addresses = list(addresses)
        for _ in self.controller.replay():
            pass
        self.use_settings()
        imported = self.settings.producer_id_block_import
        self.controller.activate(self.first_levels(), imported)
        self.controller.is_serving = True

    def release_waiting(self) -> None:
        """Answer the requests that wait for something: the controller stops."""
        self.controller.release_waiting()

    # -- time ----------------------------------------------------------------------------------

    def deadline_ms(self) -> int | None:
        """When the machine wants to be woken."""
        return self.controller.deadline_ms()

    def expire(self, now_ms: int) -> None:
        """Fence brokers that were not heard of."""
        self.controller.expire(now_ms)

    def maintain(self, now_ms: int) -> int:
        """Do a piece of what the log needs; gives when to come again."""
        self.flushes.look(self.manager.logs.values())
        self.controller.maintain(now_ms, self.settings)
        return self.manager.maintain(now_ms)

    def catch_up(self, now_ms: int) -> None:
        """Do all of it, in one go: the clock was moved by hand."""
        self.controller.maintain(now_ms, self.settings)
        self.flushes.ask(self.manager.logs_to_flush(now_ms))
        while self.manager.maintain(now_ms) <= now_ms:
            pass

    # -- decisions -----------------------------------------------------------------------------

    def command(self, message: Message) -> Any:
        """Decide."""
        return self.controller.command(message)

    def carry_out(self, changes: Changes) -> None:
        """Go by settings that were changed for all; all else is for the brokers."""
        self.note_acls(changes)
        for change in changes:
            if isinstance(change, ConfigChanged) and change.resource_type == ResourceType.BROKER:
                self.use_settings()

    def decided(self, decision: Decision[Any], changes: Changes) -> None:
        """A decision is in the log."""
        session_ms = self.settings.broker_session_timeout_ms
        self.news.decided(changes, session_ms, is_by_time=decision.answer is None)
        self.tell_records(decision)
