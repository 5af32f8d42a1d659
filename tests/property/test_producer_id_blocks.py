"""Blocks of producer ids (KIP-730): no id is given twice, whatever gets lost and whoever restarts.

The controller's own node with its log, and brokers' sources, with a wire between them that loses
requests and answers and repeats requests. Brokers and the controller restart at any time; the log
may be only a snapshot by then.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from fencepost_broker.config import Settings
from fencepost_broker.controller.bootstrap import registration
from fencepost_broker.coordinator.transaction.producer_id_manager import Answered, ProducerIdSource
from fencepost_broker.metadata.image.model import Endpoint
from fencepost_broker.metadata.log.snapshot import snapshot_records
from fencepost_broker.server.controller_server import ControllerServer
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.machine.server.harness import Clock
from tests.support.broker import memory_disk

BROKERS = (1, 2, 3)
SETTINGS = Settings().with_overrides(
    {
        "process.roles": "controller",
        "controller.listener.names": "CONTROLLER",
        "listeners": "CONTROLLER://127.0.0.1:0",
        "node.id": 100,
    }
)
which = st.sampled_from(BROKERS)


class Broker:
    """A broker's source of ids, and what it has asked and not heard."""

    def __init__(self, broker_id: int, epoch: int) -> None:
        self.broker_id = broker_id
        self.epoch = epoch
        self.asked: list[Answered] = []
        self.timers: list[Callable[[], None]] = []
        self.refused: list[ErrorCode] = []
        self.source = ProducerIdSource(
            self.asked.append, lambda _, call: self.timers.append(call), self.refused.append
        )
        self.source.begin()


class Blocks(RuleBasedStateMachine):
    """What may happen."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = memory_disk()
        self.clock: Any = Clock()
        self.chance = random.Random(1)
        self.given: set[int] = set()
        self.brokers: dict[int, Broker] = {}
        self.node = self.begin()

    def begin(self) -> ControllerServer:
        node = ControllerServer(SETTINGS, self.disk, self.clock, self.chance)
        node.start([])
        return node

    @initialize()
    def all_register(self) -> None:
        for broker_id in BROKERS:
            self.restart_broker(broker_id)

    @rule(broker_id=which)
    def restart_broker(self, broker_id: int) -> None:
        """Another incarnation: what is left of its block is lost, what it had asked is, too."""
        self.clock.now += 60_000
        endpoint = Endpoint("PLAINTEXT", "here", 1)
        directory = bytes([broker_id]) * 16
        incarnation = self.chance.randbytes(16)
        cluster_id = self.node.identity.cluster_id
        asked = registration(broker_id, cluster_id, incarnation, [endpoint], [directory])
        answer = self.node.controller.command(asked)
        assert not answer.error_code
        self.brokers[broker_id] = Broker(broker_id, answer.broker_epoch)

    @rule(is_snapshot=st.booleans())
    def restart_controller(self, is_snapshot: bool) -> None:
        if is_snapshot:
            self.node.metadata_log.write_snapshot(snapshot_records(self.node.image), self.clock.now)
        self.node.stop()
        self.node = self.begin()

    @rule(broker_id=which, times=st.integers(0, 2), is_heard=st.booleans())
    def pass_on(self, broker_id: int, times: int, is_heard: bool) -> None:
        """A request arrives so often; the last answer arrives, or none."""
        broker = self.brokers[broker_id]
        if not broker.asked:
            return
        then = broker.asked.pop(0)
        answer: AllocateProducerIdsResponse | None = None
        for _ in range(times):
            request = AllocateProducerIdsRequest(broker_id, broker.epoch)
            answer = self.node.controller.command(request)
            assert not answer.error_code
        then(answer if is_heard else None)

    @rule(broker_id=which)
    def time_passes(self, broker_id: int) -> None:
        calls, self.brokers[broker_id].timers = self.brokers[broker_id].timers, []
        for call in calls:
            call()

    @rule(broker_id=which, count=st.sampled_from([1, 95, 1000]))
    def take(self, broker_id: int, count: int) -> None:
        for _ in range(count):
            error, producer_id = self.brokers[broker_id].source.take()
            if error:
                assert error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
                return
            assert producer_id not in self.given
            self.given.add(producer_id)


TestBlocks = Blocks.TestCase
