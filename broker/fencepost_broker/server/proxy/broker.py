"""A broker behind a proxy, as far as requests to it and fault rules are concerned."""

from __future__ import annotations

from enum import Enum
from typing import Final

from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.network.faulted_request import Faults
from fencepost_broker.operations import AnyOperation, OperationRefusedError
from fencepost_broker.ports import Address
from fencepost_broker.server.proxy.answers import ADDRESSES_FROM
from fencepost_broker.server.proxy.context import Context


class Look(Enum):
    """What is looked at in requests of an API, besides the header, or in their answers."""

    ANSWER = "addresses in the answer"
    ACKS = "whether there is an answer, and addresses in it"
    REQUEST = "the whole request"


_LOOKS: Final[dict[int, Look]] = {
    **dict.fromkeys(ADDRESSES_FROM, Look.ANSWER),
    ApiKey.PRODUCE: Look.ACKS,
    ApiKey.API_VERSIONS: Look.REQUEST,
    ApiKey.SASL_HANDSHAKE: Look.REQUEST,
}


class ProxiedBroker:
    """A broker behind a proxy; to rules, the ``States`` of the broker that is asked."""

    def __init__(self, context: Context, addresses: list[Address]) -> None:
        """``addresses`` are tried in order; a broker that is known has one."""
        self.context = context
        self.addresses = addresses
        self.node_id = -1
        """The broker's id, once an answer has told it."""
        self.looks = _LOOKS
        """What is looked at, by API; nothing for all others."""
        self.faults = Faults(context.rules, self)
        self.faults.listen(list(context.apis.values()), lambda _: self._update())

    def _update(self) -> None:
        by_rules = {key: Look.REQUEST for key in self.context.apis if self.faults.takes(key)}
        self.looks = {**_LOOKS, **by_rules}

    def state_of(self, kind: str, name: str) -> str | None:
        """Return nothing: a proxy does not know states."""
        del kind, name
        return None

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of the topic with an id."""
        return self.context.topic_names.get(topic_id)

    async def perform(self, operation: AnyOperation) -> None:
        """Refuse an operation: a proxy does not change brokers."""
        del operation
        raise OperationRefusedError("a proxy performs no operations")

    def fetched(self, session_id: int) -> list[tuple[str | bytes, int]]:
        """Return nothing: a proxy does not follow fetch sessions."""
        del session_id
        return []
