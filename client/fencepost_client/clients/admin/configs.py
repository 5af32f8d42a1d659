"""The part of ``Admin`` for settings of the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fencepost_client.admin.configs import (
    Change,
    ConfigEntry,
    ConfigResource,
    ResourceKind,
    alter_configs,
    describe_configs,
    list_config_resources,
    replace_configs,
)
from fencepost_client.clients.admin.base import AdminBase


class AdminConfigs(AdminBase):
    """Settings of topics, brokers, loggers and groups."""

    async def describe_configs(
        self,
        resources: Iterable[ConfigResource],
        names: Sequence[str] | None = None,
        *,
        synonyms: bool = False,
        documentation: bool = False,
    ) -> dict[ConfigResource, dict[str, ConfigEntry]]:
        """The settings of resources, by name; all settings, or those with the given names.

        orders = ConfigResource(ResourceKind.TOPIC, "orders")
        entry = (await admin.describe_configs([orders]))[orders]["retention.ms"]
        print(entry.value, entry.source.name)
        """
        return await self._run(
            describe_configs(
                resources,
                names,
                self._backoff(),
                synonyms=synonyms,
                documentation=documentation,
            )
        )

    async def alter_configs(
        self,
        changes: Mapping[ConfigResource, Mapping[str, Change]],
        *,
        validate_only: bool = False,
    ) -> None:
        """Change settings and keep all others; ``None`` restores the default.

        orders = ConfigResource(ResourceKind.TOPIC, "orders")
        await admin.alter_configs({orders: {"retention.ms": "60000", "segment.ms": None,
                                            "cleanup.policy": Append("compact")}})
        """
        await self._run(alter_configs(changes, self._backoff(), validate_only=validate_only))

    async def replace_configs(
        self,
        configs: Mapping[ConfigResource, Mapping[str, bool | float | str]],
        *,
        validate_only: bool = False,
    ) -> None:
        """Set all settings of resources; those that are not given get their defaults.

        await admin.replace_configs({ConfigResource(ResourceKind.TOPIC, "orders"): {}})
        """
        await self._run(replace_configs(configs, self._backoff(), validate_only=validate_only))

    async def list_config_resources(
        self, kinds: Iterable[ResourceKind] | None = None
    ) -> list[ConfigResource]:
        """The resources that have settings, of these kinds or of all.

        await admin.list_config_resources([ResourceKind.GROUP])
        """
        return await self._run(list_config_resources(kinds, self._backoff()))
