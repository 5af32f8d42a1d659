"""Validation of settings for the controller, by the tables of settings."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost_protocol.generated.create_topics import CreatableTopicConfigs

from fencepost_broker.config import Settings, SettingsError, TopicSettings
from fencepost_broker.config.describe import describe_topic
from fencepost_broker.config.setting import Kind
from fencepost_broker.metadata import dynamic_config
from fencepost_broker.metadata.image.model import ResourceType


class SettingRules:
    """``controller.ports.ConfigRules`` over this broker's settings."""

    def __init__(self, settings: Settings) -> None:
        self._static = settings
        self._settings = settings

    def use(self, settings: Settings) -> None:
        """Use these settings, which were changed while the broker runs."""
        self._settings = settings

    def topic_refusal(self, configs: Mapping[str, str]) -> str | None:
        """Return why a topic cannot have these settings, if it cannot."""
        try:
            self._settings.topic(configs)
        except SettingsError as error:
            return "; ".join(error.problems)
        return None

    def broker_refusal(
        self, broker_id: int | None, configs: Mapping[str, str], changed: frozenset[str]
    ) -> str | None:
        """Return why a running broker cannot have these settings, if it cannot."""
        if self._static.controller_endpoints:
            broker_id = None  # a controller that brokers may join answers for all of them
        return dynamic_config.refusal(self._static, broker_id, configs, changed)

    def other_refusal(
        self, resource_type: int, resource_name: str, configs: Mapping[str, str]
    ) -> str | None:
        """Return why a group or a client-metrics subscription cannot have these settings."""
        del resource_name
        if resource_type != ResourceType.GROUP:
            return f"{min(configs)} is not supported" if configs else None
        try:
            self._settings.group(configs)
        except SettingsError as error:
            return "; ".join(error.problems)
        return None

    def list_default(self, resource_type: int, name: str) -> str | None:
        """Return the default of a setting that is a list."""
        table: Settings | TopicSettings
        if resource_type == ResourceType.TOPIC:
            table = self._settings.topic()
        elif resource_type == ResourceType.BROKER:
            table = self._settings
        else:
            return None
        setting = table.settings.get(name)
        if setting is None or setting.kind is not Kind.LIST:
            return None
        return setting.format(table[name])

    def describe_topic(
        self, configs: Mapping[str, str], broker: Mapping[str, str], cluster: Mapping[str, str]
    ) -> list[CreatableTopicConfigs]:
        """Return a new topic's settings as CreateTopics answers them."""
        del broker, cluster
        topic = self._settings.topic(configs)
        told = []
        for name, setting in TopicSettings.settings.items():
            if setting.internal:
                continue
            described = describe_topic(self._settings, topic, name)
            told.append(
                CreatableTopicConfigs(
                    name,
                    described.value,
                    described.is_read_only,
                    described.source,
                    described.is_sensitive,
                )
            )
        return told
