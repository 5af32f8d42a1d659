"""Levels of the broker's log areas, as resources of type BROKER_LOGGER (KIP-412).

Behaviour: a resource's name is the broker's id. Its settings are the log areas (`fencepost up
--log`), and `root`, which applies to all areas without a level of their own. Levels are lost when
the broker stops. DELETE removes an area's own level; `root` always has one.

Kafka's names of levels are accepted. The lowest level here is DEBUG and the highest is ERROR: TRACE
becomes DEBUG, and FATAL becomes ERROR.
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
"""The source of a logger's level in DescribeConfigs."""
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
    """Describe all levels, or those of some areas."""
    check_broker_id(context, name)
    return [
        DescribeConfigsResourceResult(area, _TO_KAFKA[level], config_source=SOURCE_LOGGER)
        for area, level in context.log_levels.told().items()
        if not keys or area in keys
    ]


def change_levels(
    context: HandlerContext, resource: AlterConfigsResource, *, validate_only: bool
) -> None:
    """Change all levels of the request, or none if it raises a ``Refusal``."""
    check_broker_id(context, resource.resource_name)
    changes = [(config.name, _level(config)) for config in resource.configs]
    _check_once(name for name, _ in changes)
    if not validate_only:
        for name, level in changes:
            context.log_levels.set(name, level)


def check_broker_id(context: HandlerContext, name: str) -> None:
    """Raise a ``Refusal`` unless the name is this broker's id."""
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
            raise invalid_request(f"{ROOT} always needs a level: use SET, not DELETE")
        return None
    if config.config_operation != SET:
        raise invalid_request(f"a logger's level ({config.name}) allows SET and DELETE only")
    if config.value is None:
        raise invalid_request(f"no level is given for {config.name}")
    level = _TO_OURS.get(config.value)
    if level is None:
        raise Refusal(
            ErrorCode.INVALID_CONFIG,
            f"{config.name}: there is no level {config.value}; there are {', '.join(_TO_OURS)}",
        )
    return level
