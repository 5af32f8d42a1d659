"""Client quotas (KIP-546): AlterClientQuotas, and the quotas of an image.

An entity is a user, a client id, both together, or an address; the name ``None`` is the default of
its kind. Each entity of a request is decided by itself: all its changes or none. Setting a value
again, or removing a missing one, writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from fencepost_protocol.generated.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    AlterClientQuotasResponseEntityData,
    AlterClientQuotasResponseEntryData,
)
from fencepost_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.controller.context import (
    Context,
    Refusal,
    given_twice,
    invalid_request,
    too_many_records,
)
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.image.client_quotas import (
    CLIENT_ID,
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    IP,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    USER,
    Entity,
)
from fencepost_broker.security.addresses import read_address

if TYPE_CHECKING:
    from fencepost_broker.metadata.image.metadata_image import MetadataImage

KINDS: Final = (USER, CLIENT_ID, IP)
_MAY_BE_FRACTIONS: Final = {
    PRODUCER_BYTE_RATE: False,
    CONSUMER_BYTE_RATE: False,
    REQUEST_PERCENTAGE: True,
    CONTROLLER_MUTATION_RATE: True,
}
"""Quotas of users and client ids, and whether they may be fractions."""
_OF_ADDRESSES: Final = {CONNECTION_CREATION_RATE: False}
_NEARLY: Final = 1e-6
"""Tolerance of values that must be whole numbers."""
_INT_MAX: Final = (1 << 31) - 1
_LONG_MAX: Final = float(1 << 63)


def alter_client_quotas(
    context: Context, request: AlterClientQuotasRequest
) -> Decision[AlterClientQuotasResponse]:
    """Decide an AlterClientQuotas request."""
    outcomes: dict[Entity, tuple[int, str | None]] = {}
    records: list[MetadataRecord] = []
    for entry in request.entries:
        entity = _entity(entry)
        try:
            if entity in outcomes:
                raise given_twice(f"the entity {_named(entity)}")
            records += _decide(context.image, entity, entry)
        except Refusal as refusal:
            outcomes[entity] = refusal.code, refusal.message
        else:
            outcomes[entity] = ErrorCode.NONE, None
    if len(records) > context.settings.records_per_request_max:
        refused = too_many_records(context.settings.records_per_request_max)
        outcomes = dict.fromkeys(outcomes, (refused.code, refused.message))
        records = []
    response = AlterClientQuotasResponse(
        entries=[
            AlterClientQuotasResponseEntryData(
                *outcome, [AlterClientQuotasResponseEntityData(*part) for part in entity]
            )
            for entity, outcome in outcomes.items()
        ]
    )
    return Decision(response, () if request.validate_only else tuple(records))


def quotas_by_entity(image: MetadataImage) -> dict[Entity, dict[str, float]]:
    """Return all quotas."""
    found: dict[Entity, dict[str, float]] = {}
    for (entity, key), record in image.client_quotas.records.items():
        found.setdefault(entity, {})[key] = record.value
    return found


def _entity(entry: AlterClientQuotasRequestEntryData) -> Entity:
    # The last name of a kind counts, as in Kafka.
    return tuple(sorted({part.entity_type: part.entity_name for part in entry.entity}.items()))


def _decide(
    image: MetadataImage, entity: Entity, entry: AlterClientQuotasRequestEntryData
) -> Iterable[MetadataRecord]:
    allowed = _allowed_keys(entity)
    seen: set[str] = set()
    records = []
    for change in entry.ops:
        if change.key in seen:
            raise given_twice(f"{change.key} of {_named(entity)}")
        seen.add(change.key)
        current = image.client_quotas.records.get((entity, change.key))
        if change.remove:
            if current is not None:
                records.append(_record(entity, change.key, 0.0, remove=True))
            continue
        _check(allowed, change.key, change.value)
        if current is None or current.value != change.value:
            records.append(_record(entity, change.key, change.value, remove=False))
    return records


def _allowed_keys(entity: Entity) -> Mapping[str, bool]:
    """Return the quotas that this entity may have; raises a Refusal for an invalid entity."""
    if not entity:
        raise invalid_request("the entity is empty: name a user, a client-id, both, or an ip")
    for kind, name in entity:
        if kind not in KINDS:
            raise invalid_request(f"there is no entity type {kind!r}: use user, client-id or ip")
        if name == "":
            raise invalid_request(f"the {kind} has an empty name: use null for the default")
    names = dict(entity)
    if IP not in names:
        return _MAY_BE_FRACTIONS
    if len(names) > 1:
        raise invalid_request("an ip cannot be combined with a user or a client-id")
    address = names[IP]
    if address is not None and read_address(address) is None:
        raise invalid_request(
            f"the ip {address!r} is no IP address. Use the address of the host:"
            " no host name but localhost is looked up"
        )
    return _OF_ADDRESSES


def _check(allowed: Mapping[str, bool], key: str, value: float) -> None:
    if key not in allowed:
        raise invalid_request(
            f"this entity cannot have the quota {key!r}: use {', '.join(allowed)}"
        )
    if not value > 0:  # which NaN is not, either
        raise invalid_request(f"{key}={value}: a quota must be above 0; remove it for no limit")
    if allowed[key]:
        return
    most = _INT_MAX if allowed is _OF_ADDRESSES else _LONG_MAX
    if value > most:
        raise invalid_request(f"{key}={value}: it must be at most {int(most)}")
    if round(value) < 1 or abs(value - round(value)) > _NEARLY:
        raise invalid_request(f"{key}={value}: it must be a whole number")


def _record(entity: Entity, key: str, value: float, *, remove: bool) -> MetadataRecord:
    parts = [EntityData(*part) for part in entity]
    return MetadataRecord(ClientQuotaRecord(parts, key, value, remove), 0)


def _named(entity: Entity) -> str:
    return ", ".join(f"{kind} {'(default)' if name is None else name}" for kind, name in entity)
