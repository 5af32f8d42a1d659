"""What fault rules may ask a broker about: states of transactions and groups, names of topics."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.share_group_describe import ShareGroupDescribeRequest

from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.transaction.commands import DescribeTransaction
from fencepost_broker.faults.compiled import NO_STATES
from fencepost_broker.faults.paths import near_name
from fencepost_broker.faults.rule import Rule
from fencepost_broker.faults.rules import FaultRules
from fencepost_broker.operations import AnyOperation
from fencepost_broker.server.broker_server import BrokerServer

if TYPE_CHECKING:
    from fencepost_broker.apis.served import Served
    from fencepost_broker.config import Settings
    from fencepost_broker.metadata.image.metadata_image import MetadataImage

_DESCRIBING: Final = (
    ConsumerGroupDescribeRequest, ShareGroupDescribeRequest, DescribeGroupsRequest,
)  # fmt: skip
"""One describes a group, by its type; the last one also tells of a group that there is not."""


def rules_of(
    served: Iterable[Served],
    now_ms: Callable[[], int],
    settings: Settings,
    running: Callable[[], BrokerServer],
) -> FaultRules:
    """Return rules for the requests to a broker, or to a controller by itself."""
    if "broker" not in settings.process_roles:
        return FaultRules(served, now_ms, random.Random, NO_STATES)

    def why_not(rule: Rule) -> str:
        return _never_matches(rule, settings, running().image)

    return FaultRules(served, now_ms, random.Random, BrokerStates(running), why_not)


def _never_matches(rule: Rule, settings: Settings, image: MetadataImage) -> str:
    """Say why no request can be of the rule's listener, broker or partition; nothing if some may.

    A topic or a user may be created later.
    """
    match = rule.match
    listeners = [each.name for each in settings.endpoints]
    if match.listener is not None and match.listener not in listeners:
        near = near_name(match.listener, listeners)
        return f"listener: there is no listener {match.listener!r}{near}"
    brokers = sorted(image.cluster.brokers)
    if match.broker is not None and match.broker not in brokers:
        ids = ", ".join(map(str, brokers))
        return f"broker: there is no broker {match.broker}; there is {ids}"
    topic = image.topics.by_name.get(match.topic or "")
    if topic is not None and match.partition not in (None, *topic.partitions):
        last = max(topic.partitions)
        return f"partition: {topic.name} has no partition {match.partition}, but 0 to {last}"
    return ""


class BrokerStates:
    """The states of a broker."""

    def __init__(self, running: Callable[[], BrokerServer]) -> None:
        """``running`` returns the broker, which is another one after a snapshot was restored."""
        self._running = running

    @property
    def node_id(self) -> int:
        """The broker's node id."""
        return self._running().identity.node_id

    def state_of(self, kind: str, name: str) -> str | None:
        """Return the state of a transaction or a group; ``None`` if it is not here."""
        is_group = kind == "group"
        family = RecordFamily.GROUPS if is_group else RecordFamily.TRANSACTIONS
        shard = self._running().coordinators.runtime.shard(family, name)
        if shard is None:
            return None
        if is_group:
            for kind_of in _DESCRIBING:
                told: Any = shard.submit(Ask(kind_of([name]), kind_of.MAX_VERSION))
                group = told.groups[0]
                if not group.error_code:
                    break
            state: str = group.group_state
            return state
        described: Any = shard.submit(DescribeTransaction(name))
        return None if described.error_code else str(described.transaction_state)

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of the topic with an id."""
        topic = self._running().image.topics.by_id.get(topic_id)
        return None if topic is None else topic.name

    async def perform(self, operation: AnyOperation) -> None:
        """Perform an operation; raises ``OperationRefusedError`` if it cannot work."""
        from fencepost_broker.server.operations import perform

        await perform(self._running(), operation)

    def fetched(self, session_id: int) -> list[tuple[str | bytes, int]]:
        """Return the topics, by name or id, and partitions of a fetch session."""
        return self._running().context.fetch_sessions.partitions_of(session_id)
