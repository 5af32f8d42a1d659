"""What fault rules may ask a broker about: states of transactions and groups, names of topics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest

from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.transaction.commands import DescribeTransaction
from fencepost_broker.operations import AnyOperation
from fencepost_broker.server.broker_server import BrokerServer


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
            request = DescribeGroupsRequest([name])
            groups: Any = shard.submit(Ask(request, request.MAX_VERSION))
            state: str = groups.groups[0].group_state
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
