"""All settings of a broker, and what topics and groups inherit from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, Self, cast

from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.setting import AnySetting, Value
from fencepost_broker.config.table import Given, Origin, Source, Table
from fencepost_broker.config.tables.authorizer import AuthorizerSettings
from fencepost_broker.config.tables.client_metrics import SettingsOfClientMetrics
from fencepost_broker.config.tables.cluster import ControllerSettings, ReplicaSettings
from fencepost_broker.config.tables.coordinators import (
    GroupSettings,
    OffsetSettings,
    TransactionSettings,
)
from fencepost_broker.config.tables.fencepost import OwnSettings
from fencepost_broker.config.tables.group import SettingsOfGroup
from fencepost_broker.config.tables.inter_broker import BetweenBrokersSettings
from fencepost_broker.config.tables.log import CleanerSettings, LogSettings
from fencepost_broker.config.tables.network import (
    ConnectionSettings,
    ListenerSettings,
    NodeSettings,
    QuotaSettings,
    RequestSettings,
    ThreadSettings,
)
from fencepost_broker.config.tables.security import (
    JAAS,
    PLAIN,
    BearerSettings,
    DelegationTokenSettings,
    SecuritySettings,
    explain_own,
    names_of,
    plain_users,
    setting_of_one,
)
from fencepost_broker.config.tables.share import ShareGroupSettings
from fencepost_broker.config.tables.streams import StreamsGroupSettings
from fencepost_broker.config.tables.topic import TopicSettings
from fencepost_broker.config.tables.without_effect import (
    TieredStorageSettings,
    UnusedSecuritySettings,
    UnusedServerSettings,
)
from fencepost_broker.config.unsupported import reason_to_refuse
from fencepost_broker.config.values.endpoints import Endpoint, parse_endpoints, parse_protocol_map
from fencepost_broker.config.values.releases import DEFAULTS
from fencepost_broker.security.authentication.policy import OAUTHBEARER, TokenValidator

TOPIC: Final = Source(Origin.TOPIC)
GROUP: Final = Source(Origin.GROUP)
CLIENT_METRICS: Final = Source(Origin.CLIENT_METRICS)
_IDS: Final = {"broker.id": "node.id", "node.id": "broker.id"}


class DeclaredSettings(
    NodeSettings,
    ListenerSettings,
    ConnectionSettings,
    SecuritySettings,
    BearerSettings,
    DelegationTokenSettings,
    QuotaSettings,
    RequestSettings,
    ThreadSettings,
    LogSettings,
    CleanerSettings,
    GroupSettings,
    OffsetSettings,
    TransactionSettings,
    ReplicaSettings,
    ControllerSettings,
    BetweenBrokersSettings,
    AuthorizerSettings,
    OwnSettings,
    ShareGroupSettings,
    StreamsGroupSettings,
    TieredStorageSettings,
    UnusedSecuritySettings,
    UnusedServerSettings,
    Table,
):
    """A snapshot of a broker's settings.

    ``settings.socket_request_max_bytes`` and ``settings["socket.request.max.bytes"]`` are the same
    value; ``Settings.socket_request_max_bytes`` is the setting itself, with its help.
    """

    _other_defaults: Mapping[str, Value]
    """Defaults that ``kafka.defaults`` and ``kafka.release`` change, by name."""

    def __init__(self, given: Mapping[str, tuple[Given, ...]] | None = None) -> None:
        super().__init__(given)
        others = {
            setting.name: setting.kafka_default
            for setting in (_FOLLOWERS if self.kafka_defaults or self.kafka_release else ())
            if self.kafka_defaults or setting.own
        }
        others.update(DEFAULTS.get(self.kafka_release or "", {}))
        self.__dict__["_other_defaults"] = others
        for name, value in self._other_defaults.items():
            if name not in self._given:
                self.__dict__[self.settings[name].attribute] = value

    def default_of(self, setting: AnySetting) -> Value:
        """Return the default, which may be Apache Kafka's, or an earlier one of Apache Kafka's."""
        return self._other_defaults.get(setting.name, super().default_of(setting))

    @property
    def data_dirs(self) -> tuple[str, ...]:
        """The data directories; empty if everything is in memory."""
        return self.log_dirs or self.log_dir or ()

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The listeners, including the controller's."""
        return parse_endpoints(self.listeners)

    @property
    def advertised_endpoints(self) -> tuple[Endpoint, ...]:
        """Addresses for clients; the actual port is unknown where the listener has port 0."""
        if self.advertised_listeners is not None:
            return parse_endpoints(self.advertised_listeners)
        controllers = {name.upper() for name in self.controller_listener_names}
        return tuple(each for each in self.endpoints if each.name not in controllers)

    @property
    def controller_endpoints(self) -> tuple[Endpoint, ...]:
        """Listeners at which brokers reach the controller of this process."""
        controllers = {name.upper() for name in self.controller_listener_names}
        is_one = "controller" in self.process_roles
        return tuple(each for each in self.endpoints if is_one and each.name in controllers)

    def protocol(self, listener_name: str) -> str | None:
        """Return the security protocol of a listener, or ``None`` if the map lacks its name."""
        name = listener_name.upper()
        found = _protocol_map(self.listener_security_protocol_map).get(name)
        if found is None and name in map(str.upper, self.controller_listener_names):
            return "PLAINTEXT"  # as in Kafka, the controller's need not be in the map
        return found

    def asks_who(self, listener_name: str) -> bool:
        """Return whether a listener authenticates its clients; otherwise they are anonymous."""
        protocol = self.protocol(listener_name) or ""
        if protocol == "SSL":
            return self.client_auth(listener_name) != "none"
        return protocol.startswith("SASL_")

    def client_auth(self, listener_name: str) -> str:
        """Return whether a listener with TLS requires certificates of its clients.

        As in Kafka, the setting of all listeners applies to SSL listeners only: clients that log in
        over TLS need no certificate unless that listener has a setting of its own.
        """
        name = "ssl.client.auth"
        own = names_of(name, listener_name, "")[0]
        if self.protocol(listener_name) == "SASL_SSL" and own not in self._given:
            return "none"
        return str(self.of_listener(name, listener_name))

    @property
    def may_be_watched(self) -> bool:
        """Whether there is a tap.

        It has no login, so by default there is none where all listeners have one.
        """
        if self.given("tap.enable"):
            return self.tap_enable
        endpoints = self.advertised_endpoints or self.endpoints
        return not (endpoints and all(self.asks_who(each.name) for each in endpoints))

    @property
    def without_effect(self) -> list[str]:
        """Names of given settings that have no effect here."""
        return sorted(
            name for name in self._given if cast("AnySetting", self.setting_of(name)).ignored
        )

    @classmethod
    def setting_of(cls, name: str) -> AnySetting | None:
        """Return the setting of this name, including those of a listener or mechanism."""
        return cls.settings.get(name) or setting_of_one(name, cls.settings)

    def of_listener(self, base: str, listener: str, mechanism: str = "") -> Value:
        """Return the value of a listener (and mechanism), or else that of all listeners."""
        for name in names_of(base, listener, mechanism):
            if name in self._given:
                return self[name]
        return self.settings[base].default if base in self.settings else None

    def mechanisms(self, listener: str) -> tuple[str, ...]:
        """Return the mechanisms of a SASL listener."""
        found = self.of_listener("sasl.enabled.mechanisms", listener)
        assert isinstance(found, tuple)
        return found

    def plain_users(self, listener: str) -> dict[str, str]:
        """Return the passwords of a listener's PLAIN users."""
        jaas = self.of_listener(JAAS, listener, PLAIN)
        return plain_users(jaas) if isinstance(jaas, str) else {}

    def bearer_tokens(self, listener: str) -> TokenValidator:
        """Return what decides about the tokens of OAUTHBEARER; raises ValueError."""
        from fencepost_broker.config.bearer_tokens import bearer_tokens

        return bearer_tokens(lambda name: self.of_listener(name, listener, OAUTHBEARER))

    def topic(self, overrides: Mapping[str, Value] | None = None) -> TopicSettings:
        """Return a topic's settings: its own, or else the broker's.

        Raises one SettingsError for all errors in the topic's own.
        """
        given: dict[str, tuple[Given, ...]] = {}
        for name, setting in TopicSettings.settings.items():
            inherited = self._inherited(setting)
            if inherited:
                given[name] = inherited
        settings = TopicSettings(given)
        return settings.with_overrides(overrides, TOPIC) if overrides else settings

    def group(self, overrides: Mapping[str, Value] | None = None) -> SettingsOfGroup:
        """Return a group's settings: its own, within the broker's bounds, or else the broker's.

        Raises one SettingsError for all errors in the group's own.
        """
        given = {
            name: (Given(self[broker_name], self.source(broker_name)),)
            for name, setting in SettingsOfGroup.settings.items()
            for broker_name, _ in setting.synonyms
        }
        group = SettingsOfGroup(given)
        if not overrides:
            return group
        group = group.with_overrides(overrides, GROUP)
        problems = [
            problem for name in overrides for problem in self._out_of_bounds(name, group[name])
        ]
        if problems:
            raise SettingsError(problems)
        return group

    def client_metrics(self, overrides: Mapping[str, Value]) -> SettingsOfClientMetrics:
        """Return the settings of a subscription to clients' metrics.

        Raises one SettingsError for all errors.
        """
        return SettingsOfClientMetrics().with_overrides(overrides, CLIENT_METRICS)

    def _out_of_bounds(self, name: str, value: Value) -> Iterator[str]:
        protocol, _, rest = name.partition(".")
        for word in ("min", "max"):
            bound_name = f"group.{protocol}.{word}.{rest.removeprefix('num.')}"
            if bound_name not in self.settings:
                continue
            bound = self[bound_name]
            assert isinstance(value, int)
            assert isinstance(bound, int)
            if value < bound if word == "min" else value > bound:
                side = "below" if word == "min" else "above"
                yield f"{name}={value} is {side} {bound_name}, which is {bound}"

    def _inherited(self, setting: AnySetting) -> tuple[Given, ...]:
        """Return the inherited value of a topic's setting: its first synonym's that has one."""
        for name, factor in setting.synonyms:
            value = self[name]
            if value is None:
                continue
            if isinstance(value, int) and factor != 1:
                value *= factor
            if setting.name == "retention.ms" and isinstance(value, int) and value < 0:
                value = -1  # negative values mean for ever, in each unit
            if name not in self._given and value == setting.default:
                return ()
            return (Given(value, self.source(name)),)
        return ()

    def with_given(self, values: Iterator[tuple[str, Value, Source]]) -> Self:
        """Return settings with these values; ``broker.id``, the old name, sets ``node.id``, too."""
        return super().with_given(_with_both_ids(values))

    @classmethod
    def explain_unknown(cls, name: str) -> str:
        """Return an error for a name that is not a setting, or that Kafka had."""
        problem = explain_own(name)
        if problem:
            return problem
        reason = reason_to_refuse(name)
        if reason:
            return f"{name} cannot be set: {reason}"
        if name in TopicSettings.settings:
            stands_for = TopicSettings.settings[name].synonyms
            if stands_for:
                return f"{name} is a setting of topics; for all topics it is {stands_for[0][0]}"
            return f"{name} is a setting of topics"
        return super().explain_unknown(name)


_protocol_map: Final = lru_cache(64)(parse_protocol_map)
_FOLLOWERS: Final = tuple(each for each in DeclaredSettings.settings.values() if each.follows_kafka)


def _with_both_ids(
    values: Iterator[tuple[str, Value, Source]],
) -> Iterator[tuple[str, Value, Source]]:
    seen: dict[tuple[str, Origin], tuple[Value, Source]] = {}
    for name, value, source in values:
        yield name, value, source
        if name not in _IDS or not str(value).strip().isdecimal():
            continue
        seen[name, source.origin] = (value, source)
        other, its_source = seen.get((_IDS[name], source.origin), (value, source))
        if int(str(other)) != int(str(value)):
            problem = f"{name}={value}{source.told} and {_IDS[name]}={other}{its_source.told}"
            raise SettingsError([f"{problem} are two names of one number: remove one of them"])
        yield _IDS[name], value, source
