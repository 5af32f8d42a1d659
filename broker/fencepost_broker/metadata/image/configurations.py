"""The settings of topics, brokers, groups and others in the metadata image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from fencepost_broker.metadata.image.changes import Change, Changes, ConfigChanged
from fencepost_broker.metadata.image.model import ResourceType

if TYPE_CHECKING:
    from fencepost_protocol.generated.config_record import ConfigRecord

Resource: TypeAlias = tuple[int, str]
"""Type and name of what settings belong to; the name of the cluster-wide default is empty."""
_EMPTY: Final[Mapping[str, str]] = MappingProxyType({})


class ConfigurationsImage:
    """The settings of all resources."""

    __slots__ = ("by_resource",)

    def __init__(self) -> None:
        self.by_resource: dict[Resource, dict[str, str]] = {}

    def of(self, resource_type: int, resource_name: str) -> Mapping[str, str]:
        """Return what was set for this resource itself; empty when nothing was."""
        return self.by_resource.get((resource_type, resource_name), _EMPTY)

    def of_topic(self, name: str) -> Mapping[str, str]:
        """Return what was set for the topic itself."""
        return self.by_resource.get((ResourceType.TOPIC, name), _EMPTY)

    def apply(self, record: ConfigRecord) -> Changes:
        """Apply a record that sets a value or removes it."""
        resource = (record.resource_type, record.resource_name)
        if record.value is not None:
            self.by_resource.setdefault(resource, {})[record.name] = record.value
        elif (values := self.by_resource.get(resource)) is not None:
            values.pop(record.name, None)
            if not values:
                del self.by_resource[resource]
        return (ConfigChanged(*resource, record.name, record.value),)

    def remove_topic(self, name: str) -> None:
        """Forget the settings of a topic that was deleted."""
        self.by_resource.pop((ResourceType.TOPIC, name), None)

    def differences(self, later: ConfigurationsImage) -> Iterator[Change]:
        """Yield what leads to a later image."""
        for resource in sorted(self.by_resource.keys() | later.by_resource.keys()):
            old, new = self.of(*resource), later.of(*resource)
            for name in sorted(old.keys() | new.keys()):
                if old.get(name) != new.get(name):
                    yield ConfigChanged(*resource, name, new.get(name))
