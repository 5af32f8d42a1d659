"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs and ListConfigResources: settings.

Behaviour: each resource has its own result. A list of names filters the settings; null or an empty
list asks for all, and unknown names are left out without an error. A broker's id asks for that
broker's settings; the empty name asks for those of all brokers of the cluster. Passwords are
described without their value. The controller decides about changes.

Version notes: DescribeConfigs 3 brought types and documentation. ListConfigResources 0 lists
client-metrics subscriptions only, 1 the types in the request, or all if there are none (KIP-1142).

Not done: listeners that change while the broker runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResponse,
)
from fencepost_protocol.generated.alter_configs import (
    AlterConfigsResourceResponse as LegacyResourceResponse,
)
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from fencepost_protocol.generated.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

from fencepost_broker.apis.cluster.logger_levels import (
    change_levels,
    check_broker_id,
    describe_levels,
)
from fencepost_broker.apis.context import ControllerContext, HandlerContext
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.config import (
    Settings,
    SettingsError,
    SettingsOfClientMetrics,
    SettingsOfGroup,
)
from fencepost_broker.config.describe import (
    SOURCE_CLUSTER,
    Described,
    describe,
    describe_of,
)
from fencepost_broker.controller.context import Refusal, invalid_request
from fencepost_broker.metadata.dynamic_config import of_cluster
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.metadata.names import name_problem

if TYPE_CHECKING:
    from fencepost_broker.config.table import Table

_TYPE_AND_TEXT_FROM: Final = 3
_ALL_TYPES_FROM: Final = 1


# -- describing ----------------------------------------------------------------------------------


def describe_configs(
    context: HandlerContext, request: Request, message: DescribeConfigsRequest
) -> Answer:
    """Answer DescribeConfigs, versions 1 to 4."""
    results = []
    for resource in message.resources:
        result = DescribeConfigsResult(
            resource_type=resource.resource_type, resource_name=resource.resource_name
        )
        try:
            if resource.resource_type == ResourceType.BROKER_LOGGER:
                result.configs = describe_levels(
                    context, resource.resource_name, resource.configuration_keys
                )
            else:
                result.configs = [
                    _entry(described, message, request.version)
                    for described in _described(context, resource)
                ]
        except Refusal as refusal:
            result.error_code, result.error_message = refusal.code, refusal.message
        results.append(result)
    return DescribeConfigsResponse(results=results)


def _described(context: HandlerContext, resource: DescribeConfigsResource) -> Iterator[Described]:
    kind, name = resource.resource_type, resource.resource_name
    if kind == ResourceType.TOPIC:
        return _topic_settings(context, name, resource.configuration_keys)
    if kind == ResourceType.BROKER:
        return _broker_settings(context, name, resource.configuration_keys)
    if kind not in {ResourceType.GROUP, ResourceType.CLIENT_METRICS}:
        raise invalid_request(
            f"settings of resource type {kind} are not described here: it is 2 (topic), "
            "4 (broker), 8 (loggers), 16 (client metrics) or 32 (group)"
        )
    if not name:
        raise invalid_request(f"a resource of type {kind} needs a name, but it is empty")
    settings = context.config.settings
    if kind == ResourceType.GROUP:
        return _settings_by(context, resource, SettingsOfGroup, settings.group)
    return _settings_by(context, resource, SettingsOfClientMetrics, settings.client_metrics)


def _settings_by(
    context: HandlerContext,
    resource: DescribeConfigsResource,
    table: type[Table],
    make: Callable[[Mapping[str, str]], Table],
) -> Iterator[Described]:
    """Describe a resource whose table ``make`` makes of what was set for it."""
    given = context.image.configs.of(resource.resource_type, resource.resource_name)
    known = {key: value for key, value in given.items() if key in table.settings}
    try:
        made = make(known)
    except SettingsError:  # limits have changed since, or a broker with other rules has written it
        made = make({})
    settings = context.config.settings
    return (describe_of(settings, made, key) for key in _wanted(made, resource.configuration_keys))


def _topic_settings(
    context: HandlerContext, name: str, keys: list[str] | None
) -> Iterator[Described]:
    problem = name_problem(name)
    if problem is not None:
        raise Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    if name not in context.image.topics.by_name:
        raise Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "")  # as in Kafka, without a message
    topic = context.config.settings.topic(context.image.configs.of_topic(name))
    settings = context.config.settings
    return (describe_of(settings, topic, key) for key in _wanted(_shown(topic), keys))


def _broker_settings(
    context: HandlerContext, name: str, keys: list[str] | None
) -> Iterator[Described]:
    settings = context.config.settings
    if not name:
        settings = of_cluster(context.image)
        given = [key for key in Settings.settings if settings.given(key)]
        return (_without_default(describe(settings, key)) for key in _wanted(given, keys))
    try:
        broker_id = int(name)
    except ValueError:
        raise invalid_request(f"a broker is named by its id, not by {name!r}") from None
    if broker_id != context.identity.node_id:
        raise invalid_request(
            f"this is broker {context.identity.node_id}: ask broker {broker_id} for its settings"
        )
    names = [*_shown(settings), *settings.given_beside]
    return (describe(settings, key) for key in _wanted(names, keys))


def _without_default(described: Described) -> Described:
    """Return a setting with its cluster-wide value only, without the default."""
    set_so = tuple(each for each in described.synonyms if each.source == SOURCE_CLUSTER)
    return described._replace(synonyms=set_so)


def _shown(table: Table) -> Iterator[str]:
    """Return the names of settings to describe; as in Kafka, no unset internal ones."""
    return (
        name
        for name, setting in table.settings.items()
        if not setting.internal or table.given(name)
    )


def _wanted(names: Iterable[str], keys: list[str] | None) -> list[str]:
    return [name for name in names if name in keys] if keys else list(names)


def _entry(
    described: Described, message: DescribeConfigsRequest, version: int
) -> DescribeConfigsResourceResult:
    entry = DescribeConfigsResourceResult(
        described.name,
        described.value,
        described.is_read_only,
        described.source,
        described.is_sensitive,
    )
    if message.include_synonyms:
        entry.synonyms = [DescribeConfigsSynonym(*synonym) for synonym in described.synonyms]
    if version >= _TYPE_AND_TEXT_FROM:
        entry.config_type = described.kind
        entry.documentation = described.documentation if message.include_documentation else None
    return entry


# -- changing ------------------------------------------------------------------------------------


def alter_configs(
    context: HandlerContext, _request: Request, message: AlterConfigsRequest
) -> Answer:
    """Answer AlterConfigs, versions 0 to 2."""
    return _altered(context, message, AlterConfigsResponse())


def incremental_alter_configs(
    context: HandlerContext, _request: Request, message: IncrementalAlterConfigsRequest
) -> Answer:
    """Answer IncrementalAlterConfigs, versions 0 and 1."""
    return _altered(context, message, IncrementalAlterConfigsResponse())


def _altered(context: HandlerContext, message: Any, response: Any) -> Message:
    own = answered_here(context, message)
    if message.resources or not own:
        response = context.controller.command(message)
    answer: Message = with_own(response, own)
    return answer


OwnAnswers: TypeAlias = dict[int, Any]
"""The results that do not come from the controller, by their positions in the request."""


def answered_here(
    context: HandlerContext, message: AlterConfigsRequest | IncrementalAlterConfigsRequest
) -> OwnAnswers:
    """Carry out what this broker answers itself, and remove it from the message.

    The broker changes the levels of its own loggers. As in Apache Kafka, it refuses to change
    another broker's settings: only that broker can validate them.
    """
    answers: OwnAnswers = {}
    asked: list[Any] = [*message.resources]
    others: list[Any] = []
    for position, resource in enumerate(asked):
        kind, name = resource.resource_type, resource.resource_name
        try:
            if isinstance(resource, AlterConfigsResource) and kind == ResourceType.BROKER_LOGGER:
                change_levels(context, resource, validate_only=message.validate_only)
            else:
                is_brokers = kind == ResourceType.BROKER and name
                if is_brokers and not isinstance(context, ControllerContext):
                    check_broker_id(context, name)
                others.append(resource)
                continue
            code, text = ErrorCode.NONE, None
        except Refusal as refusal:
            code, text = refusal.code, refusal.message
        answers[position] = _RESULTS[type(message)](code, text, kind, name)
    message.resources = others
    return answers


_RESULTS: Final[dict[type, Callable[..., Any]]] = {
    AlterConfigsRequest: LegacyResourceResponse,
    IncrementalAlterConfigsRequest: AlterConfigsResourceResponse,
}


def with_own(response: Any, own: OwnAnswers) -> Any:
    """Insert the results of ``answered_here`` into the controller's response."""
    for position, answer in own.items():
        response.responses.insert(position, answer)
    return response


# -- listing -------------------------------------------------------------------------------------

_LISTED: Final = frozenset(ResourceType) - {ResourceType.UNKNOWN}


def list_config_resources(
    context: HandlerContext, request: Request, message: ListConfigResourcesRequest
) -> Answer:
    """Answer ListConfigResources, versions 0 and 1."""
    types = set(message.resource_types) or _LISTED
    if request.version < _ALL_TYPES_FROM:
        types = {ResourceType.CLIENT_METRICS}
    if not types <= _LISTED:
        code = ErrorCode.UNSUPPORTED_VERSION
        return ListConfigResourcesResponse(error_code=code)
    listed = [
        ConfigResource(name, kind) for kind in sorted(types) for name in _names_of(context, kind)
    ]
    return ListConfigResourcesResponse(config_resources=listed)


def _names_of(context: HandlerContext, kind: int) -> list[str]:
    image = context.image
    if kind == ResourceType.TOPIC:
        return list(image.topics.by_name)
    if kind in {ResourceType.BROKER, ResourceType.BROKER_LOGGER}:
        return [str(broker_id) for broker_id in sorted(image.cluster.brokers)]
    return [name for each, name in image.configs.by_resource if each == kind]
