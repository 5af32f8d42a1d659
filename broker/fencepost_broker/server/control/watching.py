"""What is told about the requests and transactions of a broker while a receiver wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_broker.server.control.events import EventHub
from fencepost_broker.server.control.sampling import SampledRequests
from fencepost_broker.server.control.seen import RequestsSeen
from fencepost_broker.server.control.steps import TransactionSteps

if TYPE_CHECKING:
    from fencepost_broker.faults.compiled import States
    from fencepost_broker.server.process import BrokerProcess


class WatchedBroker:
    """The one sample of a broker's requests, and all that is made of it."""

    def __init__(self, process: BrokerProcess) -> None:
        self.process = process
        self.node_id = process.server.identity.node_id
        self.events = EventHub()
        self.sample = SampledRequests(process.socket_server, self.events, process.socket_server)
        self.requests = RequestsSeen(
            self.sample, self.events, process.logs.area("server"), lambda _: self.node_id
        )
        is_broker = "broker" in process.settings.process_roles
        self.steps = TransactionSteps(
            self.sample,
            self.events,
            self.states,
            lambda _: self.node_id,
            lambda: process.broker.coordinators if is_broker else None,
        )

    def states(self) -> States:
        """Return what the broker knows of names."""
        return self.process.fault_rules.states
