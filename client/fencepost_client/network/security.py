"""Security settings, and what connections need of them: a login, and a TLS context."""

from __future__ import annotations

import secrets
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypedDict, Unpack, cast
from urllib.parse import urlsplit

from fencepost_client.config.jaas import PLAIN_MODULE, SCRAM_MODULE, read_jaas
from fencepost_client.config.settings import COMMON, SaslMechanism, SecurityProtocol, check_settings
from fencepost_client.errors import ConfigError
from fencepost_client.network.token_endpoint import ClientCredentials, Credentials
from fencepost_client.requests.sasl import MECHANISMS, OAUTHBEARER, PLAIN, SCRAM_HASHES, Login

_PROTOCOLS: Final = ("PLAINTEXT", "SASL_PLAINTEXT", "SSL", "SASL_SSL")
_OF_ENDPOINT: Final = (
    "sasl_oauthbearer_token_endpoint_url",
    "sasl_oauthbearer_client_credentials_client_id",
    "sasl_oauthbearer_client_credentials_client_secret",
)
_OF_OAUTHBEARER: Final = {
    "sasl_mechanism", "sasl_oauth_token_provider", *_OF_ENDPOINT, "sasl_oauthbearer_scope",
}  # fmt: skip
_LOGIN_MODULES: Final = {
    PLAIN_MODULE: (PLAIN,),
    SCRAM_MODULE: tuple(SCRAM_HASHES),
}


class SecuritySettings(TypedDict, total=False):
    """Keyword arguments of ``Producer``, ``Consumer`` and ``Admin``."""

    security_protocol: SecurityProtocol
    sasl_mechanism: SaslMechanism
    sasl_plain_username: str
    sasl_plain_password: str
    sasl_jaas_config: str
    sasl_oauth_token_provider: Callable[[], str]
    sasl_oauthbearer_token_endpoint_url: str
    sasl_oauthbearer_client_credentials_client_id: str
    sasl_oauthbearer_client_credentials_client_secret: str
    sasl_oauthbearer_scope: str
    ssl_context: ssl.SSLContext
    ssl_ca_location: str
    ssl_certificate_location: str
    ssl_key_location: str
    ssl_key_password: str
    ssl_check_hostname: bool


@dataclass(frozen=True, slots=True)
class Security:
    """The login and the TLS context of each connection."""

    login: Login | None = None
    context: ssl.SSLContext | None = None
    tokens: ClientCredentials | None = None
    """Where the login's tokens come from; it needs one before a connection is made."""


def read_security(**settings: Unpack[SecuritySettings]) -> Security:
    """Check and read the settings. A setting without effect raises an error."""
    check_settings("a client", COMMON, {"security": settings})
    settings = cast(
        "SecuritySettings", {name: value for name, value in settings.items() if value is not None}
    )
    protocol = settings.get("security_protocol", "PLAINTEXT")
    for prefix, wanted in (("sasl_", "SASL_"), ("ssl_", "SSL")):
        unused = sorted(name for name in settings if name.startswith(prefix))
        if unused and wanted not in protocol:
            raise ConfigError(
                f"{unused[0]} is set, but security_protocol is {protocol}: it needs "
                f"{', '.join(name for name in _PROTOCOLS if wanted in name)}"
            )
    login = _read_login(settings) if "SASL" in protocol else None
    provider = None if login is None else login.provider
    return Security(
        login,
        _read_context(settings) if "SSL" in protocol else None,
        provider if isinstance(provider, ClientCredentials) else None,
    )


def _read_login(settings: SecuritySettings) -> Login:
    mechanism = settings.get("sasl_mechanism")
    if mechanism is None:
        raise ConfigError(f"sasl_mechanism is missing: set one of {', '.join(MECHANISMS)}")
    if mechanism == OAUTHBEARER or any(name.startswith("sasl_oauth") for name in settings):
        return Login(mechanism, "", "", secrets.token_urlsafe, provider=_read_provider(settings))
    username, password = settings.get("sasl_plain_username"), settings.get("sasl_plain_password")
    is_token = False
    if "sasl_jaas_config" in settings:
        if username is not None or password is not None:
            raise ConfigError(
                "sasl_jaas_config contains user name and password: do not set the others"
            )
        options = _read_jaas(settings["sasl_jaas_config"], mechanism)
        username, password = options.get("username"), options.get("password")
        is_token = options.get("tokenauth", "").lower() == "true"
    if not username or not password:
        raise ConfigError("SASL needs sasl_plain_username and sasl_plain_password")
    return Login(mechanism, username, password, secrets.token_urlsafe, is_token)


def _read_provider(settings: SecuritySettings) -> Callable[[], str]:
    """A function that returns tokens: the user's, or one that asks a token endpoint."""
    provider = settings.get("sasl_oauth_token_provider")
    given = {name for name in settings if name.startswith("sasl_")}
    of_endpoint = {name for name in given if name.startswith("sasl_oauthbearer_")}
    if (
        settings.get("sasl_mechanism") != OAUTHBEARER
        or given - _OF_OAUTHBEARER
        or (provider is not None) == bool(of_endpoint)
    ):
        raise ConfigError(
            "sasl_mechanism OAUTHBEARER needs sasl_oauth_token_provider, or "
            f"{', '.join(_OF_ENDPOINT)}, and nothing else but sasl_oauthbearer_scope"
        )
    if provider is not None:
        return provider
    missing = [name for name in _OF_ENDPOINT if not cast("dict[str, str]", settings).get(name)]
    if missing:
        raise ConfigError(f"{missing[0]} is missing: a token endpoint needs all of these")
    url = settings["sasl_oauthbearer_token_endpoint_url"]
    if urlsplit(url).scheme not in ("http", "https"):
        raise ConfigError(
            f"sasl_oauthbearer_token_endpoint_url {url!r:.200} does not begin with http or https"
        )
    return ClientCredentials(
        Credentials(
            url,
            settings["sasl_oauthbearer_client_credentials_client_id"],
            settings["sasl_oauthbearer_client_credentials_client_secret"],
            settings.get("sasl_oauthbearer_scope"),
        )
    )


def _read_context(settings: SecuritySettings) -> ssl.SSLContext:
    """A context for TLS 1.2 or later that checks the broker's certificate and its host name."""
    if "ssl_context" in settings:
        if others := sorted({name for name in settings if "ssl_" in name} - {"ssl_context"}):
            raise ConfigError(f"ssl_context replaces {others[0]}: set only one of them")
        return settings["ssl_context"]
    authority = settings.get("ssl_ca_location")
    try:
        context = ssl.create_default_context(cafile=authority)
    except OSError as error:
        raise ConfigError(f"ssl_ca_location {authority!r} cannot be read: {error}") from error
    context.check_hostname = settings.get("ssl_check_hostname", True)
    certificate, key = settings.get("ssl_certificate_location"), settings.get("ssl_key_location")
    if certificate is None:
        if key is not None:
            raise ConfigError("ssl_key_location needs ssl_certificate_location")
        return context
    try:
        # Without a password OpenSSL would ask for one at the terminal.
        context.load_cert_chain(certificate, key, settings.get("ssl_key_password", ""))
    except OSError as error:
        raise ConfigError(
            f"ssl_certificate_location {certificate!r} and ssl_key_location {key!r} cannot be used "
            f"(is ssl_key_password right?): {error}"
        ) from error
    return context


def _read_jaas(text: str, mechanism: str) -> dict[str, str]:
    """The options of the login module; errors contain no part of the text."""
    try:
        name, options = read_jaas(text)
    except ValueError as error:
        raise ConfigError(f"sasl_jaas_config: {error}") from None
    if mechanism not in _LOGIN_MODULES.get(name, ()):
        modules = " or ".join(_LOGIN_MODULES)
        raise ConfigError(
            f'sasl_jaas_config must be `MODULE required username="..." password="...";` '
            f"with the login module of {mechanism!r:.100}: {modules}"
        )
    return options
