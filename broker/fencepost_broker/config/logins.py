"""How a process logs in at other brokers and at its controller, by its settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from fencepost_client.jaas import read_jaas

from fencepost_broker.config.broker import DeclaredSettings
from fencepost_broker.config.inter_broker import parse_users
from fencepost_broker.config.security import JAAS, MODULES, names_of
from fencepost_broker.security.authentication.policy import MECHANISMS

_PLAINTEXT: Final = "PLAINTEXT"


@dataclass(frozen=True, slots=True)
class OwnLogin:
    """As whom this process logs in elsewhere."""

    mechanism: str
    username: str
    password: str = field(repr=False)


class Way(NamedTuple):
    """By which listener others are reached, and how this process logs in there."""

    listener: str
    protocol: str
    mechanism: str
    """Nothing where nobody logs in."""
    told_by: str
    """The setting that says the mechanism."""

    @property
    def has_login(self) -> bool:
        """Whether others ask who comes."""
        return bool(self.mechanism)

    @property
    def has_tls(self) -> bool:
        """Whether others show a certificate, and may want to see one."""
        return self.protocol.endswith("SSL")


def way_to_brokers(settings: DeclaredSettings) -> Way:
    """The listener by which brokers reach each other, as Kafka chooses it; else the first one."""
    wanted = settings.inter_broker_listener_name or settings.security_inter_broker_protocol
    advertised = [each.name for each in settings.advertised_endpoints]
    name = wanted.upper()
    if advertised and name not in advertised:
        name = advertised[0]
    return _way(settings, name, "sasl.mechanism.inter.broker.protocol")


def way_to_controller(settings: DeclaredSettings) -> Way:
    """The listener of the controller: the first one of its names."""
    names = settings.controller_listener_names or (_PLAINTEXT,)
    return _way(settings, names[0].upper(), "sasl.mechanism.controller.protocol")


def _way(settings: DeclaredSettings, listener: str, told_by: str) -> Way:
    protocol = settings.protocol(listener) or _PLAINTEXT
    mechanism = str(settings[told_by]) if protocol.startswith("SASL_") else ""
    return Way(listener, protocol, mechanism, told_by)


def own_login(settings: DeclaredSettings, way: Way) -> OwnLogin | None:
    """As whom this process goes that way; none where settings do not say so."""
    jaas = settings.of_listener(JAAS, way.listener, way.mechanism) if way.has_login else None
    if not isinstance(jaas, str):
        return None
    options = read_jaas(jaas).options
    username, password = options.get("username"), options.get("password")
    return OwnLogin(way.mechanism, username, password) if username and password else None


def users_of_brokers(settings: DeclaredSettings) -> tuple[str, ...]:
    """Who may ask what brokers ask: super users, and whoever this process itself is elsewhere."""
    ways = (way_to_brokers(settings), way_to_controller(settings))
    own = (login.username for way in ways if (login := own_login(settings, way)) is not None)
    return tuple(dict.fromkeys((*parse_users(settings.super_users), *own)))


def login_problems(settings: DeclaredSettings) -> Iterator[str]:
    """Why this process could not log in where it has to, or nobody at it."""
    roles = settings.process_roles
    ways: list[Way] = []
    if settings.controller_endpoints:
        ways.append(way_to_controller(settings))
    if "controller" not in roles:
        yield from _problems_of(settings, way_to_controller(settings), "the controller is")
    if "broker" in roles and ("controller" not in roles or ways):
        ways.append(way_to_brokers(settings))
        yield from _problems_of(settings, ways[-1], "other brokers are")
    if users_of_brokers(settings):
        return
    for way in ways:
        if settings.asks_who(way.listener):
            or_so = f", or {_told_where(way)}" if way.has_login else ""
            yield (
                f"{way.listener} requires a login, and brokers have no user: set"
                f" super.users=User:NAME{or_so}"
            )


def _problems_of(settings: DeclaredSettings, way: Way, who: str) -> Iterator[str]:
    if not way.has_login or own_login(settings, way) is not None:
        return
    if way.mechanism not in MECHANISMS:
        yield (
            f"{who} reached at {way.listener}, which is {way.protocol}: set {way.told_by} to one of"
            f" {', '.join(MECHANISMS)}; it is {way.mechanism}"
        )
        return
    yield f"{who} reached at {way.listener}, which is {way.protocol}: set {_told_where(way)}"


def _told_where(way: Way) -> str:
    mechanism = way.mechanism if way.mechanism in MODULES else MECHANISMS[0]
    where = names_of(JAAS, way.listener, mechanism)[0]
    return f'{where}={MODULES[mechanism]} required username="..." password="...";'
