"""A controller in a process of its own: decides, keeps the metadata log, has no topics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from fencepost_broker.apis.context import ControllerContext
from fencepost_broker.apis.controller.registry import SERVED_BY_CONTROLLER
from fencepost_broker.config import Settings
from fencepost_broker.controller.allocation_rate import AllocationRate
from fencepost_broker.controller.channel.local import LocalController, make_machine
from fencepost_broker.controller.machine import HeartbeatReceived
from fencepost_broker.metadata.decision import Decision
from fencepost_broker.observability.log_levels import LogLevels
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.ports import Address, Chance, Clock
from fencepost_broker.server.shared_server import SharedServer
from fencepost_broker.storage.flush_scheduler import Worker
from fencepost_broker.storage.log import Disk


def controller_context(
    server: SharedServer, controller: LocalController, clock: Clock, metrics: Metrics
) -> ControllerContext:
    """Return the context of handlers at the controller's listener, in any process."""
    return ControllerContext(
        server.identity,
        clock,
        server.config,
        server.image,
        controller,
        server.access,
        metrics,
        server.log_levels,
        {api.key.value: api.versions for api in SERVED_BY_CONTROLLER},
        server.controller_addresses,
        AllocationRate(),
    )


class ControllerServer(SharedServer):
    """The controller of a cluster."""

    def __init__(
        self,
        settings: Settings,
        disk: Disk,
        clock: Clock,
        chance: Chance,
        worker: Worker | None = None,
        log_levels: LogLevels | None = None,
    ) -> None:
        super().__init__(settings, disk, clock, chance, worker, log_levels)
        cluster_id = self.identity.cluster_id
        machine = make_machine(self.image, self.rules, chance, settings, cluster_id)
        self.controller = LocalController(
            machine, self.metadata_log, clock.now_ms, self.publishers, self.events.stood_still
        )
        self.context = controller_context(self, self.controller, clock, self.metrics)

    def start(self, addresses: Iterable[Address]) -> None:
        """Replay the metadata log, and begin to decide."""
        self.addresses += addresses
        self.controller.replay()
        self.config.refresh()
        self.publishers.add(self.config, self._told)
        imported = self.config.settings.producer_id_block_import
        self.controller.activate(self.first_levels(), imported)
        self.controller.is_serving = True

    def release_waiting(self) -> None:
        """Answer waiting requests: the controller stops."""
        self.controller.release_waiting()
        self.ready.drain()

    def stop(self) -> bool:
        """Close all logs; returns whether the stop was clean."""
        return self.log_manager.close(self._clock.now_ms(), self.log_manager.previous_broker_epoch)

    def copied(self, copy: Callable[[], Disk]) -> None:
        """Let ``copy`` copy the disk, and complete the copy as a clean stop does; all goes on."""
        self.ready.drain()
        self.log_manager.copied(copy, self.log_manager.previous_broker_epoch)

    def brokers_ended(self, starting: Collection[int]) -> None:
        """Take note that no broker runs any more, and that these start again.

        They can register at once, and the others are fenced, as if their sessions were over.
        """
        now_ms = self._clock.now_ms()
        over_ms = now_ms - self.controller.machine.session_ms
        soft = tuple(
            HeartbeatReceived(each, None if each in starting else over_ms)
            for each in self.image.cluster.brokers
        )
        self.controller.commit(Decision(None, soft=soft))
        self.expire(now_ms)

    # -- time ----------------------------------------------------------------------------------

    def deadline_ms(self) -> int | None:
        """Return when ``expire`` should be called."""
        return self.controller.deadline_ms()

    def expire(self, now_ms: int) -> None:
        """Fence brokers whose sessions are over."""
        self.controller.expire(now_ms)

    def jumped(self, by_ms: int) -> None:
        """Move the ends of durations: the clock was set."""
        self.controller.jumped(by_ms)
        self.log_manager.jumped(by_ms)

    def maintain(self, now_ms: int) -> int:
        """Do a part of the log's maintenance; returns when to call again."""
        self.flushes.look(self.log_manager.logs.values())
        self.controller.maintain(now_ms, self.config.settings)
        return self.log_manager.maintain(now_ms)

    def catch_up(self, now_ms: int) -> None:
        """Do all maintenance: the clock was moved by hand."""
        self.controller.maintain(now_ms, self.config.settings)
        self.flushes.ask(self.log_manager.logs_to_flush(now_ms))
        while self.log_manager.maintain(now_ms) <= now_ms:
            pass
