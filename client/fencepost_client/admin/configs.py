"""Settings of topics, brokers, loggers, groups and metrics subscriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple, TypeAlias

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import alter_configs as replacing
from fencepost_protocol.generated import incremental_alter_configs as altering
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.list_config_resources import ListConfigResourcesRequest

from fencepost_client.admin.fan_out import ItemRequest, ItemResult, Route, gather, require
from fencepost_client.admin.routing import at_brokers
from fencepost_client.admin.setting_text import setting_text
from fencepost_client.errors import admin_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import ANY_NODE, Ask, Procedure, retry
from fencepost_client.types import distinct

_DOCUMENTATION_FROM: Final = 3
_KINDS_FROM: Final = 1
_NOT_THERE: Final = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})


class ResourceKind(IntEnum):
    """The kinds of resources that have settings."""

    TOPIC = 2
    BROKER = 4
    """Named by node id; the empty name means all brokers."""
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigResource(NamedTuple):
    """A resource with settings."""

    kind: ResourceKind
    name: str

    def __str__(self) -> str:
        """Its name in messages."""
        return f"{self.kind.name} {self.name!r}"


class ConfigSource(IntEnum):
    """The source of a value; ``UNKNOWN`` for those of later brokers."""

    UNKNOWN = 0
    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    DYNAMIC_CLIENT_METRICS = 7
    DYNAMIC_GROUP = 8

    @classmethod
    def _missing_(cls, _: object) -> ConfigSource:
        return cls.UNKNOWN


class ConfigType(IntEnum):
    """The type of a value; ``UNKNOWN`` for those of later brokers."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9

    @classmethod
    def _missing_(cls, _: object) -> ConfigType:
        return cls.UNKNOWN


class ConfigSynonym(NamedTuple):
    """A value that is used if those before it are not set."""

    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """A setting; the value is ``None`` if it has none or is secret."""

    name: str
    value: str | None
    source: ConfigSource
    is_sensitive: bool
    is_read_only: bool
    type: ConfigType = ConfigType.UNKNOWN
    synonyms: tuple[ConfigSynonym, ...] = ()
    """All values, the used one first; only on request."""
    documentation: str | None = None
    """Only on request."""

    @property
    def is_default(self) -> bool:
        """Whether the value is the default."""
        return self.source == ConfigSource.DEFAULT


@dataclass(frozen=True, slots=True)
class Append:
    """Add a value to a list, if it is not in the list."""

    value: str


@dataclass(frozen=True, slots=True)
class Subtract:
    """Remove a value from a list."""

    value: str


Change: TypeAlias = bool | float | str | Append | Subtract | None
"""A value to set, or ``None`` for the default."""
_SET, _DELETE, _APPEND, _SUBTRACT = range(4)


def _at_its_broker() -> Route[ConfigResource]:
    """The target of a resource: its broker, or any broker."""

    def broker_of(resource: ConfigResource) -> int | None:
        of_one = resource.kind in {ResourceKind.BROKER, ResourceKind.BROKER_LOGGER}
        return int(resource.name) if of_one and resource.name.isdecimal() else None

    return at_brokers(broker_of)


def describe_configs(
    resources: Iterable[ConfigResource],
    names: Sequence[str] | None,
    backoff: Backoff,
    *,
    synonyms: bool,
    documentation: bool,
) -> Procedure[dict[ConfigResource, dict[str, ConfigEntry]]]:
    """Describe the settings of resources, these or all, by name."""

    def build(version: int, some: Sequence[ConfigResource]) -> DescribeConfigsRequest:
        keys = None if names is None else distinct(names)
        wanted = [DescribeConfigsResource(each.kind, each.name, keys) for each in some]
        request = DescribeConfigsRequest(wanted, synonyms)
        if documentation:
            require(version, _DOCUMENTATION_FROM, "the documentation of settings")
            request.include_documentation = True
        return request

    def read(
        answer: Any, _: object
    ) -> Iterable[ItemResult[ConfigResource, dict[str, ConfigEntry]]]:
        for told in answer.results:
            resource = _resource(told.resource_type, told.resource_name)
            if resource is not None:
                found = {config.name: _entry(config) for config in told.configs}
                yield ItemResult(resource, told.error_code, told.error_message, found)

    question = ItemRequest("describing", ApiKey.DESCRIBE_CONFIGS, build, read, _NOT_THERE)
    return gather(question, resources, _at_its_broker(), backoff)


def _entry(config: Any) -> ConfigEntry:
    return ConfigEntry(
        config.name,
        config.value,
        ConfigSource(config.config_source),
        config.is_sensitive,
        config.read_only,
        ConfigType(config.config_type),
        tuple(
            ConfigSynonym(each.name, each.value, ConfigSource(each.source))
            for each in config.synonyms
        ),
        config.documentation,
    )


def _resource(kind: int, name: str) -> ConfigResource | None:
    try:
        return ConfigResource(ResourceKind(kind), name)
    except ValueError:
        return None  # of a kind that did not exist when this was written


def alter_configs(
    changes: Mapping[ConfigResource, Mapping[str, Change]],
    backoff: Backoff,
    *,
    validate_only: bool,
) -> Procedure[dict[ConfigResource, None]]:
    """Change settings and keep all others; the changes of a resource are atomic."""

    def build(_: int, some: Sequence[ConfigResource]) -> altering.IncrementalAlterConfigsRequest:
        wanted = [
            altering.AlterConfigsResource(
                each.kind,
                each.name,
                [_alterable(name, change) for name, change in changes[each].items()],
            )
            for each in some
        ]
        return altering.IncrementalAlterConfigsRequest(wanted, validate_only)

    return _change(ApiKey.INCREMENTAL_ALTER_CONFIGS, build, changes, backoff)


def _alterable(name: str, change: Change) -> altering.AlterableConfig:
    if change is None:
        return altering.AlterableConfig(name, _DELETE, None)
    if isinstance(change, Append):
        return altering.AlterableConfig(name, _APPEND, setting_text(name, change.value))
    if isinstance(change, Subtract):
        return altering.AlterableConfig(name, _SUBTRACT, setting_text(name, change.value))
    return altering.AlterableConfig(name, _SET, setting_text(name, change))


def replace_configs(
    configs: Mapping[ConfigResource, Mapping[str, bool | float | str]],
    backoff: Backoff,
    *,
    validate_only: bool,
) -> Procedure[dict[ConfigResource, None]]:
    """Set all settings of resources; those that are not given get their defaults."""

    def build(_: int, some: Sequence[ConfigResource]) -> replacing.AlterConfigsRequest:
        wanted = [
            replacing.AlterConfigsResource(
                each.kind,
                each.name,
                [
                    replacing.AlterableConfig(name, setting_text(name, value))
                    for name, value in configs[each].items()
                ],
            )
            for each in some
        ]
        return replacing.AlterConfigsRequest(wanted, validate_only)

    return _change(ApiKey.ALTER_CONFIGS, build, configs, backoff)


def _change(
    api_key: int,
    build: Callable[[int, Sequence[ConfigResource]], Any],
    resources: Iterable[ConfigResource],
    backoff: Backoff,
) -> Procedure[dict[ConfigResource, None]]:
    def read(answer: Any, _: object) -> Iterable[ItemResult[ConfigResource, None]]:
        for told in answer.responses:
            resource = _resource(told.resource_type, told.resource_name)
            if resource is not None:
                yield ItemResult(resource, told.error_code, told.error_message, None)

    question = ItemRequest("changing", api_key, build, read, _NOT_THERE)
    return gather(question, resources, _at_its_broker(), backoff)


def list_config_resources(
    kinds: Iterable[ResourceKind] | None, backoff: Backoff
) -> Procedure[list[ConfigResource]]:
    """List resources with settings (KIP-1142); of groups, those with their own settings."""
    wanted = [] if kinds is None else [int(kind) for kind in kinds]

    def build(version: int) -> ListConfigResourcesRequest:
        if wanted != [ResourceKind.CLIENT_METRICS]:
            require(version, _KINDS_FROM, "listing other resources than CLIENT_METRICS")
        return ListConfigResourcesRequest(wanted if version >= _KINDS_FROM else [])

    ask = Ask(ANY_NODE, ApiKey.LIST_CONFIG_RESOURCES, build)
    answer = yield from retry(ask, lambda answer: answer.error_code, backoff)
    if answer.error_code:
        raise admin_error(answer.error_code, state="listing configuration resources")
    found = (_resource(told.resource_type, told.resource_name) for told in answer.config_resources)
    return sorted(resource for resource in found if resource is not None)
