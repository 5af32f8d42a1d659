"""The client quotas of the metadata image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from fencepost_broker.metadata.image.changes import Change, Changes, OtherChange

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

    from fencepost_protocol.generated.client_quota_record import ClientQuotaRecord

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"
Entity: TypeAlias = tuple[tuple[str, str | None], ...]
"""Kinds and names, in the order of kinds; ``None`` as a name is the default."""
QuotaKey: TypeAlias = tuple[Entity, str]
"""An entity and the name of one of its quotas."""

PRODUCER_BYTE_RATE: Final = "producer_byte_rate"
CONSUMER_BYTE_RATE: Final = "consumer_byte_rate"
REQUEST_PERCENTAGE: Final = "request_percentage"
CONTROLLER_MUTATION_RATE: Final = "controller_mutation_rate"
CONNECTION_CREATION_RATE: Final = "connection_creation_rate"

_NAME, _DEFAULT, _NONE = range(3)
_PRECEDENCE: Final = (
    (_NAME, _NAME),
    (_NAME, _DEFAULT),
    (_NAME, _NONE),
    (_DEFAULT, _NAME),
    (_DEFAULT, _DEFAULT),
    (_DEFAULT, _NONE),
    (_NONE, _NAME),
    (_NONE, _DEFAULT),
)
"""The entities of quotas, by user and client id, the most specific first."""


class Sharing(NamedTuple):
    """What clients have in common that share a quota."""

    key: str
    user: str | None
    client_id: str | None


class ClientQuotasImage:
    """All client quotas."""

    __slots__ = ("_of_addresses", "records")

    def __init__(self) -> None:
        self.records: dict[QuotaKey, ClientQuotaRecord] = {}
        self._of_addresses: dict[IPv4Address | IPv6Address | None, float] = {}
        """The quotas of addresses, which can be written in several ways; None is the default."""

    def apply(self, record: ClientQuotaRecord) -> Changes:
        """Apply a record that sets a quota or removes it."""
        entity = tuple(sorted((part.entity_type, part.entity_name) for part in record.entity))
        if record.remove:
            self.records.pop((entity, record.key), None)
        else:
            self.records[entity, record.key] = record
        for kind, name in entity:
            if kind == IP:
                self._apply_to_address(name, None if record.remove else record.value)
        return (OtherChange.CLIENT_QUOTAS,)

    def keys(self) -> frozenset[str]:
        """Return the kinds of quotas that are set for any client."""
        return frozenset(key for _, key in self.records)

    def of_client(self, key: str, user: str, client_id: str) -> tuple[Sharing, float] | None:
        """Return a client's quota, the most specific one, and with whom it is shared."""
        for by_user, by_client in _PRECEDENCE:
            named: dict[str, str | None] = {}
            if by_user != _NONE:
                named[USER] = user if by_user == _NAME else None
            if by_client != _NONE:
                named[CLIENT_ID] = client_id if by_client == _NAME else None
            record = self.records.get((tuple(sorted(named.items())), key))
            if record is not None:
                users, ids = USER in named, CLIENT_ID in named
                sharing = Sharing(key, user if users else None, client_id if ids else None)
                return sharing, record.value
        return None

    def _apply_to_address(self, name: str | None, value: float | None) -> None:
        from fencepost_broker.security.addresses import read_address

        address = None if name is None else read_address(name)
        if address is None and name is not None:
            return  # a host name, from the log of an Apache Kafka
        if value is None:
            self._of_addresses.pop(address, None)
        else:
            self._of_addresses[address] = value

    def of_address(self, address: str) -> float | None:
        """Return how many connections a second an address may open."""
        from fencepost_broker.security.addresses import read_address

        own = self._of_addresses.get(read_address(address))
        return self._of_addresses.get(None) if own is None else own

    def differences(self, later: ClientQuotasImage) -> Iterator[Change]:
        """Yield what leads to a later image."""
        if self.records != later.records:
            yield OtherChange.CLIENT_QUOTAS
