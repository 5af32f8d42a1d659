"""The controller: it decides what becomes of the cluster, and nobody else does.

Commands are requests of the protocol, answers its responses: the generated messages. Neither
authorisation nor versions are looked at here. A decision's records go to the metadata log as one
batch, beginning at ``image.next_offset``; each is then given to ``replay`` with its offset, and
the answer leaves when they are committed. What is answered to a later command counts on that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.abort_transaction_record import AbortTransactionRecord
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsRequest
from fencepost_protocol.generated.alter_configs import AlterConfigsRequest
from fencepost_protocol.generated.broker_heartbeat import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)
from fencepost_protocol.generated.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from fencepost_protocol.generated.create_partitions import CreatePartitionsRequest
from fencepost_protocol.generated.create_topics import CreateTopicsRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest
from fencepost_protocol.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from fencepost_protocol.generated.unregister_broker import UnregisterBrokerRequest
from fencepost_protocol.generated.update_features import UpdateFeaturesRequest

from fencepost_broker.controller import brokers
from fencepost_broker.controller.changes import BrokerChanged
from fencepost_broker.controller.configs import alter_configs, incremental_alter_configs
from fencepost_broker.controller.context import Context
from fencepost_broker.controller.deletion import delete_topics
from fencepost_broker.controller.features import update_features
from fencepost_broker.controller.growth import create_partitions
from fencepost_broker.controller.image import Changes, Image
from fencepost_broker.controller.leadership import elect_leaders
from fencepost_broker.controller.ports import Chance, ConfigRules, ControllerSettings
from fencepost_broker.controller.producer_ids import allocate_producer_ids
from fencepost_broker.controller.topics import create_topics
from fencepost_broker.machine import Decision, MetadataRecord


class HeartbeatSeen(NamedTuple):
    """Soft state: a broker was heard of."""

    broker_id: int
    now_ms: int


class Controller:
    """The controller's machine, around the image of the cluster."""

    def __init__(
        self,
        image: Image,
        rules: ConfigRules,
        chance: Chance,
        settings: ControllerSettings | None = None,
    ) -> None:
        self.image = image
        self._context = Context(image, settings or ControllerSettings(), rules, chance)
        self._sessions: dict[int, int] = {}
        """Soft: when the last heartbeat of each unfenced broker came."""

    # -- the contract of machines ---------------------------------------------------------------

    def handle(self, now_ms: int, command: Message) -> Decision[Any]:
        """What a request leads to; changes nothing. The answer is the request's response."""
        decide = _DECIDERS.get(type(command))
        if decide is None:
            raise TypeError(f"{type(command).__name__} is no command of the controller")
        return decide(self, now_ms, command)

    def replay(self, record: Message, offset: int) -> Changes:
        """Takes in a record that was appended; see ``Image.apply``."""
        changes = self.image.apply(record, offset)
        for change in changes:
            if isinstance(change, BrokerChanged) and (change.after is None or change.after.fenced):
                self._sessions.pop(change.broker_id, None)
        return changes

    def apply_soft(self, seen: HeartbeatSeen) -> None:
        """Takes in what is not in the log, after the records of the same decision."""
        broker = self.image.brokers.get(seen.broker_id)
        if broker is not None and not broker.fenced and not self._is_local(seen.broker_id):
            self._sessions[seen.broker_id] = seen.now_ms

    def deadline(self) -> int | None:
        """When the next session ends."""
        earliest = min(self._sessions.values(), default=None)
        return None if earliest is None else earliest + self._session_ms

    def expire(self, now_ms: int) -> Decision[None]:
        """Fences one broker whose session is over; ``deadline`` tells whether there is another."""
        for broker_id, contact_ms in sorted(self._sessions.items(), key=lambda item: item[1]):
            broker = self.image.brokers.get(broker_id)
            if broker is not None and contact_ms + self._session_ms <= now_ms:
                return Decision(None, brokers.fence(self._context, broker))
        return Decision(None)

    def activate(self, now_ms: int, first_records: Iterable[MetadataRecord]) -> Decision[None]:
        """What a controller does before anything else, once the log is replayed.

        An empty log gets its first records; a transaction that was cut off is aborted; every
        broker that is not fenced gets a whole session.
        """
        records: tuple[MetadataRecord, ...] = ()
        if self.image.in_transaction:
            reason = "the controller ended within it"
            records = (MetadataRecord(AbortTransactionRecord(reason), 0),)
        elif self.image.is_empty:
            records = tuple(first_records)
        known = sorted(self.image.brokers)
        return Decision(None, records, soft=tuple(HeartbeatSeen(each, now_ms) for each in known))

    # -- what needs to know of sessions ---------------------------------------------------------

    def _is_local(self, broker_id: int) -> bool:
        return broker_id == self._context.settings.node_id

    @property
    def _session_ms(self) -> int:
        return self._context.settings.broker_session_timeout_ms

    def _register(
        self, now_ms: int, request: BrokerRegistrationRequest
    ) -> Decision[BrokerRegistrationResponse]:
        contact_ms = self._sessions.get(request.broker_id)
        valid = contact_ms is not None and now_ms < contact_ms + self._session_ms
        return brokers.register_broker(self._context, request, session_is_valid=valid)

    def _heartbeat(
        self, now_ms: int, request: BrokerHeartbeatRequest
    ) -> Decision[BrokerHeartbeatResponse]:
        decision = brokers.heartbeat(self._context, request)
        if decision.answer.error_code:
            return decision
        return replace(decision, soft=(HeartbeatSeen(request.broker_id, now_ms),))


_Decider: TypeAlias = Callable[[Controller, int, Any], Decision[Any]]


def _timeless(decide: Callable[[Context, Any], Decision[Any]]) -> _Decider:
    """A decision that time has no part in."""
    return lambda controller, _now_ms, request: decide(controller._context, request)


_DECIDERS: Final[dict[type, _Decider]] = {
    AllocateProducerIdsRequest: _timeless(allocate_producer_ids),
    AlterConfigsRequest: _timeless(alter_configs),
    BrokerHeartbeatRequest: Controller._heartbeat,
    BrokerRegistrationRequest: Controller._register,
    CreatePartitionsRequest: _timeless(create_partitions),
    CreateTopicsRequest: _timeless(create_topics),
    DeleteTopicsRequest: _timeless(delete_topics),
    ElectLeadersRequest: _timeless(elect_leaders),
    IncrementalAlterConfigsRequest: _timeless(incremental_alter_configs),
    UnregisterBrokerRequest: _timeless(brokers.unregister_broker),
    UpdateFeaturesRequest: _timeless(update_features),
}
