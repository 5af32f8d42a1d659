"""Levels of the broker's log areas, as resources of type BROKER_LOGGER (KIP-412).

Behaviour: a resource is named by the broker's id, its settings are the areas (`fencepost up
--log`), and `root`, which stands for all areas that have no level of their own. They are gone when
the broker stops. DELETE takes an area's own level away; `root` keeps one.

Kafka's words for levels are taken. There is no level below DEBUG or above ERROR here: TRACE is
told as DEBUG, FATAL as ERROR.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_configs import DescribeConfigsResourceResult
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
)

from fencepost_broker.controller.configs import DELETE, SET
from fencepost_broker.controller.context import Refusal, given_twice, invalid_request
from fencepost_broker.observability.log_levels import AREAS, ROOT

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext

SOURCE_LOGGER: Final = 6
"""DescribeConfigs' word for a level of a logger."""
_TO_OURS: Final = {
    "TRACE": "debug",
    "DEBUG": "debug",
    "INFO": "info",
    "WARN": "warning",
    "ERROR": "error",
    "FATAL": "error",
}
_TO_KAFKA: Final = {"debug": "DEBUG", "info": "INFO", "warning": "WARN", "error": "ERROR"}


def describe_levels(
    context: HandlerContext, name: str, keys: list[str] | None
) -> list[DescribeConfigsResourceResult]:
    """All levels, or those of some areas."""
    check_broker_id(context, name)
    return [
        DescribeConfigsResourceResult(area, _TO_KAFKA[level], config_source=SOURCE_LOGGER)
        for area, level in context.log_levels.told().items()
        if not keys or area in keys
    ]


def change_levels(
    context: HandlerContext, resource: AlterConfigsResource, *, validate_only: bool
) -> None:
    """Change them all or, raising a ``Refusal``, none."""
    check_broker_id(context, resource.resource_name)
    changes = [(config.name, _level(config)) for config in resource.configs]
    _check_once(name for name, _ in changes)
    if not validate_only:
        for name, level in changes:
            context.log_levels.set(name, level)


def check_broker_id(context: HandlerContext, name: str) -> None:
    """Raise a ``Refusal`` unless this is the broker that is named."""
    try:
        broker_id = int(name)
    except ValueError:
        raise invalid_request(f"a broker is named by its id, not by {name!r}") from None
    if broker_id != context.identity.node_id:
        raise invalid_request(f"this is broker {context.identity.node_id}: ask broker {broker_id}")


def _check_once(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise given_twice(name)
        seen.add(name)


def _level(config: AlterableConfig) -> str | None:
    if config.name not in (ROOT, *AREAS):
        known = ", ".join((ROOT, *AREAS))
        raise Refusal(
            ErrorCode.INVALID_CONFIG, f"there is no logger {config.name}; there are {known}"
        )
    if config.config_operation == DELETE:
        if config.name == ROOT:
            raise invalid_request(f"{ROOT} needs a level: SET it")
        return None
    if config.config_operation != SET:
        raise invalid_request(f"a logger ({config.name}) has a level: SET or DELETE it")
    if config.value is None:
        raise invalid_request(f"{config.name} is given no level")
    level = _TO_OURS.get(config.value)
    if level is None:
        raise Refusal(
            ErrorCode.INVALID_CONFIG,
            f"{config.name}: there is no level {config.value}; there are {', '.join(_TO_OURS)}",
        )
    return level
