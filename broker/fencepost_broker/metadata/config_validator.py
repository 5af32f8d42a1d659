"""Validation of settings for the controller, by the tables of settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreatableTopicConfigs

from fencepost_broker.config import (
    Settings,
    SettingsError,
    SettingsOfClientMetrics,
    TopicSettings,
)
from fencepost_broker.config.describe import describe_of
from fencepost_broker.config.setting import Kind
from fencepost_broker.config.table import Table
from fencepost_broker.config.tables.client_metrics import INTERVAL, split_match
from fencepost_broker.config.values.value_text import read_integer
from fencepost_broker.metadata import dynamic_config
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.metadata.re2_patterns import Re2Patterns

_PATTERNS: Final = Re2Patterns()


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

    def group_refusal(self, configs: Mapping[str, str]) -> str | None:
        """Return why a group cannot have these settings, if it cannot."""
        try:
            self._settings.group(configs)
        except SettingsError as error:
            return "; ".join(error.problems)
        return None

    def client_metrics_refusal(self, configs: Mapping[str, str]) -> tuple[ErrorCode, str] | None:
        """Return why a subscription to clients' metrics cannot have these settings."""
        try:
            settings = self._settings.client_metrics(configs)
        except SettingsError as error:
            known = configs.keys() <= SettingsOfClientMetrics.settings.keys()
            is_config = known and not _is_out_of_range(configs.get(INTERVAL, ""))
            code = ErrorCode.INVALID_CONFIG if is_config else ErrorCode.INVALID_REQUEST
            return code, "; ".join(error.problems)
        for selector, expression in map(split_match, settings.match):
            if (problem := _PATTERNS.problem(expression)) is not None:
                told = f"match={selector}={expression}: this is not an expression of RE2: {problem}"
                return ErrorCode.INVALID_CONFIG, told
        return None

    def list_default(self, resource_type: int, name: str) -> str | None:
        """Return the default of a setting that is a list."""
        table: Table
        if resource_type == ResourceType.TOPIC:
            table = self._settings.topic()
        elif resource_type == ResourceType.BROKER:
            table = self._settings
        elif resource_type == ResourceType.CLIENT_METRICS:
            table = SettingsOfClientMetrics()
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
            described = describe_of(self._settings, topic, name)
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


def _is_out_of_range(interval: str) -> bool:
    """Whether it is a number that the interval of client metrics cannot have."""
    try:
        read_integer(interval)
    except ValueError:
        return False
    try:
        SettingsOfClientMetrics.settings[INTERVAL].parse(interval)
    except ValueError:
        return True
    return False
