"""What all parts of a proxy share."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fencepost_broker.apis.served import Served
from fencepost_broker.faults.rules import FaultRules
from fencepost_broker.network.dispatcher import Watcher
from fencepost_broker.network.recorder import Recording
from fencepost_broker.observability.logging import Logger
from fencepost_broker.observability.metrics import Metrics

BUFFER_BYTES: Final = 1 << 18


@dataclass
class Context:
    """What all parts of a proxy share."""

    log: Logger
    apis: Mapping[int, Served]
    """The APIs that rules may be for, by key."""
    rules: FaultRules
    change: Callable[[int, Any], bool]
    """Changes what clients must not see in an answer; returns whether there was any."""
    to_clients: ssl.SSLContext | None = None
    to_brokers: ssl.SSLContext | None = None
    recording: Recording | None = None
    metrics: Metrics = field(default_factory=Metrics)
    buffer: memoryview = field(default_factory=lambda: memoryview(bytearray(BUFFER_BYTES)))
    """What all connections receive into; it is empty after each receive."""
    topic_names: dict[bytes, str] = field(default_factory=dict)
    """Names of topics by their ids, as answers to Metadata have told them."""
    watcher: Watcher[Any] | None = None
    """Sees clients' requests and answers; with a watcher, the proxy reads all of them."""
