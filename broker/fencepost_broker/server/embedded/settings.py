"""What the options of a broker in a Python program mean: settings, clock, log lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from fencepost_broker.config import Settings, Value
from fencepost_broker.config.table import CODE, Origin, Source
from fencepost_broker.config.values.endpoints import NO_HOST, PORT_MAX, Endpoint, is_host
from fencepost_broker.observability.log_levels import LogLevels
from fencepost_broker.observability.logging import LazyLogs, Logs
from fencepost_broker.server.clock import StateClock, wall_ms

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_CONTROLLER_LISTENER: Final = "CONTROLLER"


def settings_of(
    given: Mapping[str, Value], host: str | None, port: int | None, data_dir: str | Path | None,
    users: Mapping[str, str], certificate: list[tuple[str, Value, Source]],
) -> Settings:  # fmt: skip
    if port is not None and not 0 <= port <= PORT_MAX:
        raise ValueError(f"port={port}: a port is 0 to {PORT_MAX}")
    if host is not None and not is_host(host):
        raise ValueError(f"host={host!r}: {NO_HOST}")
    settings = given if isinstance(given, Settings) else Settings().with_overrides(given)
    made: dict[str, Value] = {}
    if users:
        from fencepost_broker.server.bootstrap_users import MECHANISMS, check_users, settings_for

        check_users(users)
        of_users = settings_for(users)
        if settings.given(MECHANISMS):
            del of_users[MECHANISMS]  # such as OAUTHBEARER beside the users' passwords
        made |= of_users
    if settings.given("listeners"):
        if host is not None or port is not None:
            made["listeners"] = str(_moved(settings, host, port))
    else:
        encrypted = "SSL" if certificate else "PLAINTEXT"
        name = f"SASL_{encrypted}" if users else encrypted
        if "broker" not in settings.process_roles:
            name = (settings.controller_listener_names or (DEFAULT_CONTROLLER_LISTENER,))[0]
            made["controller.listener.names"] = name
        made["listeners"] = str(Endpoint(name, host or DEFAULT_HOST, port or 0))
    if data_dir is not None:
        made["log.dirs"] = os.fspath(data_dir)
    ours = ((name, value, CODE) for name, value in made.items())
    settings = settings.with_given(iter([*certificate, *ours]))
    if users:
        _check_some_listener(settings, "SASL_", "users need a SASL_* listener")
    if certificate:
        _check_some_listener(settings, "SSL", "a certificate needs a listener with TLS")
    return settings


def _moved(settings: Settings, host: str | None, port: int | None) -> Endpoint:
    """Return the only listener at another address, with its name and protocol."""
    if len(settings.endpoints) > 1:
        raise ValueError(
            f"{_listeners_told(settings)} has the addresses of {len(settings.endpoints)} listeners:"
            " leave out the host and the port"
        )
    [endpoint] = settings.endpoints
    return Endpoint(
        endpoint.name,
        endpoint.host if host is None else host,
        endpoint.port if port is None else port,
    )


def _check_some_listener(settings: Settings, protocol: str, why: str) -> None:
    """Raise ValueError if no listener uses the protocol, so that an option would have no effect."""
    if any(protocol in (settings.protocol(each.name) or "") for each in settings.endpoints):
        return  # the controller's, if no other: users may be brokers
    raise ValueError(f"{why}, and {_listeners_told(settings)} has none: remove one of the two")


def _listeners_told(settings: Settings) -> str:
    return f"listeners={settings.shown('listeners')} ({settings.source('listeners')})"


def certificate_settings(
    certificate: str | Path | None, key: str | Path | None
) -> list[tuple[str, Value, Source]]:
    """Return the settings for two PEM files; raises ValueError if one is missing."""
    if certificate is None and key is None:
        return []
    if key is None:
        raise ValueError(f"--tls-cert {certificate} needs the certificate's key: --tls-key FILE")
    if certificate is None:
        raise ValueError(f"--tls-key {key} needs the key's certificate: --tls-cert FILE")
    from fencepost_broker.network.pem import read

    made: list[tuple[str, Value, Source]] = []
    for name, option, path in (
        ("ssl.keystore.certificate.chain", "--tls-cert", certificate),
        ("ssl.keystore.key", "--tls-key", key),
    ):
        place = f"{option} {path}"
        text = read(str(path), place, ValueError)
        if not text.strip():  # as a setting, it would count as not given
            raise ValueError(f"{place}: the file is empty")
        made.append((name, text, Source(Origin.OPTION, place)))
    return made


def option_settings(
    release: str | None, control: int | str | None, token_file: str | Path | None
) -> dict[str, Value]:
    """Return the settings that these options stand for."""
    made: dict[str, Value] = {}
    if release is not None:
        made["kafka.release"] = release
    if control is not None:
        made["control.address"] = str(control)
    if token_file is not None:
        made["control.token.file"] = os.fspath(token_file)
    return made


def state_clock(clock: StateClock | str | None) -> StateClock:
    """Return the clock of an option."""
    if clock is None or isinstance(clock, StateClock):
        return clock or StateClock()
    if clock != "manual":
        raise ValueError(f'clock={clock!r}: it must be "manual" or a StateClock')
    return StateClock(manual=True)


def log_lines(level: str) -> LazyLogs:
    """Return log lines on standard error, from this level on."""
    # The stream is looked up when there is something to say: under pytest it is another in each
    # test.
    return LazyLogs(
        lambda: Logs(sys.stderr, wall_ms, level="debug", as_json=False), LogLevels(level)
    )
