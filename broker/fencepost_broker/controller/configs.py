"""Changes of settings: AlterConfigs (all of a resource at once) and IncrementalAlterConfigs.

Each resource is decided by itself: an error in one does not affect the others. Values are kept as
they were given. ``ConfigRules`` says which values are allowed; loggers belong to brokers and are
not handled here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import Any, Final, Protocol, TypeAlias

from fencepost_protocol.generated import alter_configs as legacy
from fencepost_protocol.generated import incremental_alter_configs as incremental
from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.controller.context import (
    NAMES_TOLD,
    Context,
    Refusal,
    given_twice,
    invalid_request,
    too_many_records,
)
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.features import ELIGIBLE_LEADERS, MIN_INSYNC_SETTING, keeps_eligible
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.metadata.names import name_problem

SET: Final = 0
DELETE: Final = 1
APPEND: Final = 2
SUBTRACT: Final = 3
_LIST_OPERATIONS: Final = {APPEND: "APPEND", SUBTRACT: "SUBTRACT"}

_CHANGED_HERE: Final = frozenset(
    {ResourceType.TOPIC, ResourceType.GROUP, ResourceType.BROKER, ResourceType.CLIENT_METRICS}
)
"""Resource types that the controller can change."""

_TYPES_TOLD: Final = "use 2 (topic), 4 (broker), 16 (client metrics) or 32 (group)"

_NAMELESS: Final[dict[int, str]] = {
    ResourceType.TOPIC: "the topic's name is missing; set defaults of all topics on brokers",
    ResourceType.GROUP: "the group's id is missing; groups have no common settings",
    ResourceType.CLIENT_METRICS: "the name of a client-metrics subscription is missing",
}
"""Errors for a missing name; only brokers have settings without one."""


class _Resource(Protocol):
    resource_type: int
    resource_name: str


Values: TypeAlias = dict[str, str | None]
"""New values by name; ``None`` removes a setting."""


def replace_configs(
    context: Context, request: legacy.AlterConfigsRequest
) -> Decision[legacy.AlterConfigsResponse]:
    """Decide an AlterConfigs request: the resource keeps the given settings only."""

    def decide(resource: Any, current: Mapping[str, str]) -> Values:
        given: Values = {each.name: each.value for each in resource.configs}
        return given | {name: None for name in current if name not in given}

    answers, records = _decide_all(context, request.resources, decide)
    response = legacy.AlterConfigsResponse(
        responses=[legacy.AlterConfigsResourceResponse(*answer) for answer in answers]
    )
    return Decision(response, () if request.validate_only else tuple(records))


def change_configs(
    context: Context, request: incremental.IncrementalAlterConfigsRequest
) -> Decision[incremental.IncrementalAlterConfigsResponse]:
    """Decide an IncrementalAlterConfigs request: other settings stay."""

    def decide(resource: Any, current: Mapping[str, str]) -> Values:
        return {
            each.name: _operate(context, resource.resource_type, current, each)
            for each in resource.configs
        }

    answers, records = _decide_all(context, request.resources, decide)
    response = incremental.IncrementalAlterConfigsResponse(
        responses=[incremental.AlterConfigsResourceResponse(*answer) for answer in answers]
    )
    return Decision(response, () if request.validate_only else tuple(records))


_Answer: TypeAlias = tuple[int, str | None, int, str]


def _decide_all(
    context: Context,
    resources: Iterable[_Resource],
    decide: Callable[[Any, Mapping[str, str]], Values],
) -> tuple[list[_Answer], list[MetadataRecord]]:
    resources = list(resources)
    times = Counter((each.resource_type, each.resource_name) for each in resources)
    answers: list[_Answer] = []
    records: list[MetadataRecord] = []
    for resource in resources:
        key = (resource.resource_type, resource.resource_name)
        try:
            if times[key] > 1:
                raise given_twice(f"the resource {key[1]!r} of type {key[0]}")
            records += _decide(context, resource, decide)
        except Refusal as refusal:
            answers.append((refusal.code, refusal.message, *key))
        else:
            answers.append((ErrorCode.NONE, None, *key))
    return answers, records


def _decide(
    context: Context, resource: Any, decide: Callable[[Any, Mapping[str, str]], Values]
) -> list[MetadataRecord]:
    kind, name = resource.resource_type, resource.resource_name
    if kind not in _CHANGED_HERE:
        raise invalid_request(
            f"settings of resource type {kind} cannot be changed here: {_TYPES_TOLD}"
        )
    records_max = context.settings.records_per_request_max
    is_too_long = len(resource.configs) > records_max
    if is_too_long:
        # What is wrong with the first ones is answered first, as in Kafka.
        resource = copy(resource)
        resource.configs = resource.configs[:records_max]
    _check_given(resource.configs)
    current = context.image.configs.of(kind, name)
    values = decide(resource, current)
    after = {**current, **values}
    _check_resource(context, kind, name, {k: v for k, v in after.items() if v is not None}, values)
    if is_too_long:
        raise too_many_records(records_max)
    # A broker's settings are written even if they stay: brokers then read files that they name.
    always = kind == ResourceType.BROKER
    changed = {
        key: value
        for key, value in values.items()
        if current.get(key) != value or (always and value is not None)
    }
    return context.setting_records(kind, name, changed)


def _check_given(configs: list[Any]) -> None:
    names = [config.name for config in configs]
    repeated = next((name for name, times in Counter(names).items() if times > 1), None)
    if repeated is not None:
        raise invalid_request(f"{repeated} is given twice: give it one value")
    empty = [
        each.name
        for each in configs
        if each.value is None and getattr(each, "config_operation", SET) != DELETE
    ]
    if empty:
        raise invalid_request(
            f"{', '.join(empty[:NAMES_TOLD])}: the value is missing; to remove a setting, use"
            " DELETE (in AlterConfigs, leave it out)"
        )


def _operate(
    context: Context, kind: int, current: Mapping[str, str], config: incremental.AlterableConfig
) -> str | None:
    """Return the value that a setting has afterwards."""
    operation = config.config_operation
    if operation == SET:
        return config.value
    if operation == DELETE:
        return None
    if operation not in _LIST_OPERATIONS:  # Kafka's controller fails and steps down
        raise invalid_request(
            f"there is no operation {operation} (on {config.name}): use 0 SET, 1 DELETE, "
            "2 APPEND or 3 SUBTRACT"
        )
    default = context.rules.list_default(kind, config.name)
    if default is None:
        raise Refusal(
            ErrorCode.INVALID_CONFIG,
            f"{_LIST_OPERATIONS[operation]} needs a list, and {config.name} is not one: use SET",
        )
    words = _words(current.get(config.name, default))
    given = dict.fromkeys(_words(config.value or ""))
    if operation == APPEND:
        known = set(words)
        words += [word for word in given if word not in known]
    else:
        words = [word for word in words if word not in given]
    return ",".join(words)


def _words(value: str) -> list[str]:
    # Blanks around a word belong to it, as in Kafka: only identical words match.
    return value.split(",") if value.strip() else []


def _check_resource(
    context: Context, kind: int, name: str, after: Mapping[str, str], changed: Iterable[str]
) -> None:
    rules = context.rules
    if not name and kind in _NAMELESS:
        raise invalid_request(_NAMELESS[kind])
    if kind == ResourceType.TOPIC:
        problem = name_problem(name)
        if problem is not None:
            raise Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
        _refuse(ErrorCode.INVALID_CONFIG, rules.topic_refusal(after))
    elif kind == ResourceType.BROKER:
        problem = rules.broker_refusal(_broker_id(name), after, frozenset(changed))
        _refuse(ErrorCode.INVALID_REQUEST, problem)
    elif kind == ResourceType.GROUP:
        _refuse(ErrorCode.INVALID_CONFIG, rules.group_refusal(after))
    elif (refusal := rules.client_metrics_refusal(after)) is not None:
        raise Refusal(*refusal)
    if kind == ResourceType.BROKER and MIN_INSYNC_SETTING in changed:
        _check_min_insync(context, name, after)
    if kind == ResourceType.TOPIC and name not in context.image.topics.by_name:
        raise Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name}")


def _refuse(code: ErrorCode, problem: str | None) -> None:
    if problem is not None:
        raise Refusal(code, problem)


def _check_min_insync(context: Context, broker: str, after: Mapping[str, str]) -> None:
    """Refuse a change that ELRs depend on (KIP-966): they need one value for all brokers."""
    if not keeps_eligible(context.image):
        return
    if broker:
        raise Refusal(
            ErrorCode.INVALID_CONFIG,
            f"{MIN_INSYNC_SETTING} of one broker cannot be changed while {ELIGIBLE_LEADERS} is on: "
            "set it for all of them, or for a topic",
        )
    if MIN_INSYNC_SETTING not in after:
        raise Refusal(
            ErrorCode.INVALID_CONFIG,
            f"{MIN_INSYNC_SETTING} of all brokers cannot be removed while {ELIGIBLE_LEADERS} is "
            "on: set it to another number",
        )


def _broker_id(name: str) -> int | None:
    """Return the broker that settings are for; ``None``: all of them."""
    if not name:
        return None
    try:
        return int(name)
    except ValueError:
        raise invalid_request(
            f"{name!r} is not a broker: use a broker's id, or no name for all brokers"
        ) from None
