"""AlterClientQuotas and DescribeClientQuotas: quotas of users, clients and addresses (KIP-546).

Behaviour: the controller decides about changes. DescribeClientQuotas reads this broker's metadata;
it returns the quotas as they were set, not the quota that applies to one client.

Quotas are enforced with Kafka's precedence and windows: controller_mutation_rate by the controller,
the others by each broker (:mod:`fencepost_broker.network.client_quotas`). A client of a listener
without authentication is user ANONYMOUS.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_client_quotas import AlterClientQuotasRequest
from fencepost_protocol.generated.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.controller.client_quotas import KINDS, quotas_by_entity
from fencepost_broker.controller.context import Refusal, invalid_request
from fencepost_broker.metadata.image.client_quotas import (
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    IP,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
)

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext
    from fencepost_broker.metadata.image.metadata_image import MetadataImage

_EXACTLY, _DEFAULT, _ANY = range(3)
_KEYS: Final = (
    PRODUCER_BYTE_RATE,
    CONSUMER_BYTE_RATE,
    CONNECTION_CREATION_RATE,
    CONTROLLER_MUTATION_RATE,
    REQUEST_PERCENTAGE,
)
"""The order of quotas in Apache Kafka's responses; entities have no order there (a hash map's)."""
_Condition = Callable[[str | None], bool]
_ANY_NAME: Final[_Condition] = lambda _name: True  # noqa: E731 (a value among others)


def alter_client_quotas(
    context: HandlerContext, _request: Request, message: AlterClientQuotasRequest
) -> Answer:
    """Answer AlterClientQuotas, versions 0 and 1."""
    answer: Message = context.controller.command(message)
    return answer


def describe_client_quotas(
    context: HandlerContext, _request: Request, message: DescribeClientQuotasRequest
) -> Answer:
    """Answer DescribeClientQuotas, versions 0 and 1."""
    return described_quotas(context.image, message)


def described_quotas(
    image: MetadataImage, message: DescribeClientQuotasRequest
) -> DescribeClientQuotasResponse:
    """Build the response from a metadata image."""
    try:
        conditions = _conditions(message.components)
    except Refusal as refusal:
        return DescribeClientQuotasResponse(
            error_code=refusal.code, error_message=refusal.message, entries=None
        )
    response = DescribeClientQuotasResponse(entries=[])
    assert response.entries is not None
    for entity, values in quotas_by_entity(image).items():
        names = dict(entity)
        if message.strict and len(names) != len(conditions):
            continue
        if all(kind in names and holds(names[kind]) for kind, holds in conditions.items()):
            parts = [EntityData(*part) for part in entity]
            told = [ValueData(key, values[key]) for key in _KEYS if key in values]
            response.entries.append(EntryData(parts, told))
    return response


def _conditions(components: list[ComponentData]) -> dict[str, _Condition]:
    found: dict[str, _Condition] = {}
    for component in components:
        kind = component.entity_type
        if not kind:
            raise invalid_request("a condition has no entity type")
        if kind in found:
            raise invalid_request(f"there are two conditions on {kind}: only one is allowed")
        if kind not in KINDS:
            raise Refusal(
                ErrorCode.UNSUPPORTED_VERSION,
                f"there are no quotas by {kind!r}: it is user, client-id or ip",
            )
        found[kind] = _condition(component)
    if IP in found and len(found) > 1:
        raise invalid_request("an ip cannot be combined with other entity types")
    return found


def _condition(component: ComponentData) -> _Condition:
    wanted = component.match
    if component.match_type not in {_EXACTLY, _DEFAULT, _ANY}:
        raise invalid_request(
            f"there is no match type {component.match_type}: it is 0 (this name), 1 (the default) "
            "or 2 (any)"
        )
    if component.match_type == _EXACTLY:
        if wanted is None:
            raise invalid_request("match type 0 needs a name, but none is given")
        return lambda name: name == wanted
    if wanted is not None:
        raise invalid_request(f"match type {component.match_type} allows no name")
    if component.match_type == _DEFAULT:
        return lambda name: name is None
    return _ANY_NAME
