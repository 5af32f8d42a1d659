"""Checks of settings that are valid one by one but not together."""

from __future__ import annotations

from fencepost_client.config.jaas import read_jaas

from fencepost_broker.config.broker import DeclaredSettings
from fencepost_broker.config.logins import login_problems
from fencepost_broker.config.tables.security import JAAS, MODULES, PLAIN, names_of
from fencepost_broker.config.values.releases import release_of
from fencepost_broker.security.authentication.policy import MECHANISMS, OAUTHBEARER

_ORDERED = (
    ("group.min.session.timeout.ms", "group.max.session.timeout.ms"),
    ("group.consumer.min.session.timeout.ms", "group.consumer.session.timeout.ms"),
    ("group.consumer.session.timeout.ms", "group.consumer.max.session.timeout.ms"),
    ("group.consumer.min.heartbeat.interval.ms", "group.consumer.heartbeat.interval.ms"),
    ("group.consumer.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms"),
    ("group.consumer.min.assignment.interval.ms", "group.consumer.assignment.interval.ms"),
    ("group.consumer.assignment.interval.ms", "group.consumer.max.assignment.interval.ms"),
    ("group.share.min.session.timeout.ms", "group.share.session.timeout.ms"),
    ("group.share.session.timeout.ms", "group.share.max.session.timeout.ms"),
    ("group.share.min.heartbeat.interval.ms", "group.share.heartbeat.interval.ms"),
    ("group.share.heartbeat.interval.ms", "group.share.max.heartbeat.interval.ms"),
    ("group.share.min.assignment.interval.ms", "group.share.assignment.interval.ms"),
    ("group.share.assignment.interval.ms", "group.share.max.assignment.interval.ms"),
    ("group.streams.min.session.timeout.ms", "group.streams.session.timeout.ms"),
    ("group.streams.session.timeout.ms", "group.streams.max.session.timeout.ms"),
    ("group.streams.min.heartbeat.interval.ms", "group.streams.heartbeat.interval.ms"),
    ("group.streams.heartbeat.interval.ms", "group.streams.max.heartbeat.interval.ms"),
    ("group.streams.min.assignment.interval.ms", "group.streams.assignment.interval.ms"),
    ("group.streams.assignment.interval.ms", "group.streams.max.assignment.interval.ms"),
    ("group.streams.num.standby.replicas", "group.streams.max.standby.replicas"),
    ("log.cleaner.min.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms"),
    ("transaction.state.log.min.isr", "transaction.state.log.replication.factor"),
    ("replica.fetch.wait.max.ms", "replica.lag.time.max.ms"),
    ("replica.fetch.wait.max.ms", "replica.socket.timeout.ms"),
)
"""Pairs of settings: the first must not be above the second."""

_BELOW = (
    ("group.consumer.heartbeat.interval.ms", "group.consumer.session.timeout.ms"),
    ("group.share.heartbeat.interval.ms", "group.share.session.timeout.ms"),
    ("group.streams.heartbeat.interval.ms", "group.streams.session.timeout.ms"),
)
"""Pairs of settings: the first must be below the second."""

_FETCH, _FETCH_OF_FOLLOWERS = 1, 15
"""The key of Fetch, and the first version that followers can use."""

_EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104  # named, not bound


def contradictions(settings: DeclaredSettings) -> list[str]:
    """Return a line for each contradiction, with names, values and sources."""
    problems = []
    for pairs, how in ((_ORDERED, "is above"), (_BELOW, "is not below")):
        for lower, upper in pairs:
            least, most = settings[lower], settings[upper]
            assert isinstance(least, int), lower
            assert isinstance(most, int), upper
            if least > most or (least == most and how == "is not below"):
                problems.append(f"{_told(settings, lower)} {how} {_told(settings, upper)}")
    problems += _queue_problems(settings) + _role_problems(settings) + _listener_problems(settings)
    problems += _release_problems(settings)
    if settings.otlp_traces and settings.otlp_endpoint is None:
        told = _told(settings, "otlp.traces")
        problems.append(f"{told}: a receiver is missing: set otlp.endpoint=http://HOST:PORT")
    return problems or list(login_problems(settings))


def _queue_problems(settings: DeclaredSettings) -> list[str]:
    """Check as Apache Kafka does; our default adapts to longer requests."""
    name = "queued.max.request.bytes"
    most = settings.queued_max_request_bytes
    if not settings.given(name) or not 0 < most < settings.socket_request_max_bytes:
        return []
    longest = _told(settings, "socket.request.max.bytes")
    return [f"{_told(settings, name)} is below {longest}: the longest request must fit"]


def _role_problems(settings: DeclaredSettings) -> list[str]:
    roles = set(settings.process_roles)
    told = _told(settings, "process.roles")
    is_known = bool(
        settings.controller_quorum_bootstrap_servers or settings.controller_quorum_voters
    )
    if roles == {"broker"} and not is_known:
        return [
            f"{told}: the controller is missing: set controller.quorum.bootstrap.servers=HOST:PORT"
        ]
    if roles == {"controller"} and settings.given("listeners"):
        controllers = {name.upper() for name in settings.controller_listener_names}
        return [
            f"{_told(settings, 'listeners')}: {each.name} is not in controller.listener.names, and"
            " a process that is only a controller has no other listeners"
            for each in settings.endpoints
            if each.name not in controllers
        ]
    return []


def _release_problems(settings: DeclaredSettings) -> list[str]:
    release = release_of(settings.kafka_release)
    if release is None:
        return []
    told = _told(settings, "kafka.release")
    problems = [
        f"features: {name} has no level {level} in this release: {told}"
        for name, _, level in (word.rpartition(":") for word in settings.features)
        if int(level) > release.supported.get(name, (0, 0))[1]
    ]
    if release.versions[_FETCH][1] < _FETCH_OF_FOLLOWERS and len(set(settings.process_roles)) == 1:
        problems.append(
            f"{told}: only a single broker can imitate it, which has its own controller"
        )
    return problems


def _listener_problems(settings: DeclaredSettings) -> list[str]:
    problems = []
    listening = {each.name for each in settings.endpoints}
    advertised = {each.name for each in settings.advertised_endpoints}
    controllers = {name.upper() for name in settings.controller_listener_names}
    for endpoint in settings.endpoints:
        protocol = settings.protocol(endpoint.name)
        if protocol is None:
            problems.append(
                f"{_told(settings, 'listeners')}: {endpoint.name} is missing in"
                " listener.security.protocol.map"
            )
        elif protocol.startswith("SASL"):
            problems += _login_problems(settings, endpoint.name)
    for name in sorted(advertised - listening):
        told = _told(settings, "advertised.listeners")
        problems.append(f"{told}: there is no listener {name}")
    is_told = settings.advertised_listeners is not None
    told = _told(settings, "advertised.listeners" if is_told else "listeners")
    # Without a host, clients are told the machine's name; as in Kafka, not so for 0.0.0.0.
    problems += [
        f"{told}: clients cannot connect to {endpoint}; set advertised.listeners to an address that"
        " they can reach"
        for endpoint in settings.advertised_endpoints
        if endpoint.host in _EVERY_ADDRESS or (is_told and not endpoint.host)
    ]
    for name in sorted(advertised & controllers):
        told = _told(settings, "advertised.listeners")
        problems.append(f"{told}: {name} is a listener of the controller, not for clients")
    if listening and listening <= controllers and "broker" in settings.process_roles:
        problems.append(f"{_told(settings, 'listeners')}: no listener is left for clients")
    between = settings.inter_broker_listener_name
    if between is not None and between.upper() not in advertised:
        problems.append(f"{_told(settings, 'inter.broker.listener.name')}: it is not advertised")
    return problems


def _login_problems(settings: DeclaredSettings, listener: str) -> list[str]:
    """Return why no client could log in at a listener."""
    mechanisms = settings.mechanisms(listener)
    problems = [
        f"sasl.enabled.mechanisms of {listener}: {name} is not one of {', '.join(MECHANISMS)}"
        for name in mechanisms
        if name not in MECHANISMS
    ]
    if not mechanisms:
        problems.append(f"sasl.enabled.mechanisms of {listener} is empty: no client could log in")
    for name in set(mechanisms) & set(MECHANISMS):
        jaas = settings.of_listener(JAAS, listener, name)
        if isinstance(jaas, str) and read_jaas(jaas).name != MODULES[name]:
            where = names_of(JAAS, listener, name)[0]
            problems.append(f"{where}: the login module of {name} must be {MODULES[name]}")
    if PLAIN in mechanisms and not settings.plain_users(listener):
        where = names_of(JAAS, listener, PLAIN)[0]
        problems.append(
            f"{listener} supports PLAIN, and no user has a password: set {where}="
            f'{MODULES[PLAIN]} required user_alice="...";'
        )
    if OAUTHBEARER in mechanisms:
        try:
            settings.bearer_tokens(listener)
        except ValueError as error:
            problems.append(f"OAUTHBEARER at {listener}: {error}")
    return problems


def _told(settings: DeclaredSettings, name: str) -> str:
    return f"{name}={settings.shown(name)} ({settings.source(name)})"
