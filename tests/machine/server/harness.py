"""A broker with a clock of the test: no socket, no loop."""

from __future__ import annotations

import random
from collections.abc import Callable

from fencepost_broker.config import load
from fencepost_broker.ports import Address
from fencepost_broker.server.broker_server import BrokerServer
from fencepost_broker.storage.log import Disk
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)


class Never:
    """A timer that never runs out."""

    def cancel(self) -> None:
        pass


class Clock:
    """Time that moves when the test says so."""

    now = 1_700_000_000_000
    runs = False

    def now_ms(self) -> int:
        return self.now

    def __init__(self) -> None:
        self.asked: list[tuple[int, Callable[[], None]]] = []

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Never:
        self.asked.append((delay_ms, call))
        return Never()


def started(
    disk: Disk, seed: int = 1, clock: Clock | None = None, **overrides: str
) -> BrokerServer:
    settings = load(overrides={name.replace("_", "."): value for name, value in overrides.items()})
    node = BrokerServer(settings, disk, clock or Clock(), random.Random(seed))
    node.start([Address("PLAINTEXT", "127.0.0.1", 9092)])
    return node


def create(node: BrokerServer, name: str, partitions: int = 1, **configs: str) -> ErrorCode:
    given = [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()]
    request = CreateTopicsRequest(topics=[CreatableTopic(name, partitions, -1, configs=given)])
    return ErrorCode(node.controller.command(request).topics[0].error_code)
