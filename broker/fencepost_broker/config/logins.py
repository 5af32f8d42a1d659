"""Logins of this process at other brokers and at its controller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from fencepost_client.config.jaas import read_jaas

from fencepost_broker.config.broker import DeclaredSettings
from fencepost_broker.config.tables.inter_broker import parse_users
from fencepost_broker.config.tables.security import JAAS, MODULES, names_of
from fencepost_broker.security.authentication.policy import PASSWORD_MECHANISMS

_PLAINTEXT: Final = "PLAINTEXT"


class OwnLogin:
    """User and password with which this process logs in elsewhere."""

    __slots__ = ("mechanism", "password", "username")

    def __init__(self, mechanism: str, username: str, password: str) -> None:
        self.mechanism = mechanism
        self.username = username
        self.password = password


class PeerListener(NamedTuple):
    """Listener of other processes, and how this process connects to it."""

    listener: str
    protocol: str
    mechanism: str
    """Empty without a login."""
    mechanism_setting: str
    """Name of the setting for the mechanism."""

    @property
    def has_login(self) -> bool:
        """Whether this process must log in."""
        return bool(self.mechanism)

    @property
    def has_tls(self) -> bool:
        """Whether connections use TLS."""
        return self.protocol.endswith("SSL")


def broker_listener(settings: DeclaredSettings) -> PeerListener:
    """Return the listener between brokers, as Kafka chooses it; else the first one."""
    wanted = settings.inter_broker_listener_name or settings.security_inter_broker_protocol
    advertised = [each.name for each in settings.advertised_endpoints]
    name = wanted.upper()
    if advertised and name not in advertised:
        name = advertised[0]
    return _peer_listener(settings, name, "sasl.mechanism.inter.broker.protocol")


def controller_listener(settings: DeclaredSettings) -> PeerListener:
    """Return the controller's listener: the first one of its names."""
    names = settings.controller_listener_names or (_PLAINTEXT,)
    return _peer_listener(settings, names[0].upper(), "sasl.mechanism.controller.protocol")


def _peer_listener(
    settings: DeclaredSettings, listener: str, mechanism_setting: str
) -> PeerListener:
    protocol = settings.protocol(listener) or _PLAINTEXT
    mechanism = str(settings[mechanism_setting]) if protocol.startswith("SASL_") else ""
    return PeerListener(listener, protocol, mechanism, mechanism_setting)


def own_login(settings: DeclaredSettings, peers: PeerListener) -> OwnLogin | None:
    """Return the login of this process there, or ``None`` if settings have none."""
    jaas = settings.of_listener(JAAS, peers.listener, peers.mechanism) if peers.has_login else None
    if not isinstance(jaas, str):
        return None
    options = read_jaas(jaas).options
    username, password = options.get("username"), options.get("password")
    return OwnLogin(peers.mechanism, username, password) if username and password else None


def users_of_brokers(settings: DeclaredSettings) -> tuple[str, ...]:
    """Return the users of brokers' requests: super users, and this process's own logins."""
    listeners = (broker_listener(settings), controller_listener(settings))
    own = (
        login.username for peers in listeners if (login := own_login(settings, peers)) is not None
    )
    return tuple(dict.fromkeys((*parse_users(settings.super_users), *own)))


def login_problems(settings: DeclaredSettings) -> Iterator[str]:
    """Return why this process could not log in at others, or they at it."""
    roles = settings.process_roles
    listeners: list[PeerListener] = []
    if settings.controller_endpoints:
        listeners.append(controller_listener(settings))
    if "controller" not in roles:
        yield from _problems_of(settings, controller_listener(settings), "the controller is")
    if "broker" in roles and ("controller" not in roles or listeners):
        listeners.append(broker_listener(settings))
        yield from _problems_of(settings, listeners[-1], "other brokers are")
    if users_of_brokers(settings):
        return
    for peers in listeners:
        if settings.asks_who(peers.listener):
            or_so = f", or {_jaas_hint(peers)}" if peers.has_login else ""
            yield (
                f"{peers.listener} requires a login, and brokers have no user: set"
                f" super.users=User:NAME{or_so}"
            )


def _problems_of(settings: DeclaredSettings, peers: PeerListener, who: str) -> Iterator[str]:
    if not peers.has_login or own_login(settings, peers) is not None:
        return
    if peers.mechanism not in PASSWORD_MECHANISMS:
        yield (
            f"{who} reached at {peers.listener}, which is {peers.protocol}: set"
            f" {peers.mechanism_setting} to one of {', '.join(PASSWORD_MECHANISMS)}; it is"
            f" {peers.mechanism}"
        )
        return
    yield f"{who} reached at {peers.listener}, which is {peers.protocol}: set {_jaas_hint(peers)}"


def _jaas_hint(peers: PeerListener) -> str:
    mechanism = peers.mechanism if peers.mechanism in MODULES else PASSWORD_MECHANISMS[0]
    where = names_of(JAAS, peers.listener, mechanism)[0]
    return f'{where}={MODULES[mechanism]} required username="..." password="...";'
