"""Settings of listeners with authentication: SASL, TLS, and settings of one listener.

A setting of one listener is ``listener.name.NAME.`` and the setting, with ``NAME`` in lower case.
If it belongs to a mechanism, that comes before it, too:
``listener.name.internal.plain.sasl.jaas.config``.
"""

from __future__ import annotations

import copy
from typing import Final, NamedTuple

from fencepost_client.config.jaas import OAUTHBEARER_MODULE, PLAIN_MODULE, SCRAM_MODULE, read_jaas

from fencepost_broker.config.setting import (
    AnySetting,
    Kind,
    Scope,
    Setting,
    integer,
    long,
    password,
    string,
    strings,
)
from fencepost_broker.config.tables.without_effect import UnusedSecuritySettings
from fencepost_broker.config.values.units import DAY_MS, HOUR_MS

PLAIN: Final = "PLAIN"
LISTENER_PREFIX: Final = "listener.name."
JAAS: Final = "sasl.jaas.config"
REAUTHENTICATION: Final = "connections.max.reauth.ms"
CONNECTION_RATE: Final = "max.connection.creation.rate"
MODULES: Final = {
    PLAIN: PLAIN_MODULE,
    "SCRAM-SHA-256": SCRAM_MODULE,
    "SCRAM-SHA-512": SCRAM_MODULE,
    "OAUTHBEARER": OAUTHBEARER_MODULE,
}
"""Login module of each mechanism."""
_MECHANISMS: Final = {name.lower(): name for name in (*MODULES, "GSSAPI")}
SIGNED_TOKENS: Final = (
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
)
"""Apache Kafka's class for signed tokens; without it, unsigned ones are accepted."""
USER_PREFIX: Final = "user_"
"""Prefix of PLAIN users in the options of their login module: user_alice="password"."""

HOW_TO_CONVERT: Final = (
    "`openssl pkcs12 -in FILE.p12 -nodes -out FILE.pem` makes PEM of PKCS12, and before that "
    "`keytool -importkeystore -srckeystore FILE.jks -destkeystore FILE.p12 -deststoretype PKCS12` "
    "PKCS12 of JKS"
)


def _check_mapping(given: str) -> str | None:
    from fencepost_broker.security.authentication.principal_mapping import check_rules

    return check_rules(given)


def _check_store_type(given: str) -> str | None:
    if given.upper() == "PEM":
        return None
    return f"{given:.20} is not supported, only PEM is: {HOW_TO_CONVERT}"


def _store_type(help_line: str) -> Setting[str]:
    return string(
        "PEM",
        help_line,
        scope=Scope.PER_BROKER,
        check=_check_store_type,
        range_text="PEM",
        kafka="JKS",
        because="Java key stores are not supported",
        stays=True,
    )


class SecuritySettings:
    """Authentication of clients, and TLS."""

    sasl_enabled_mechanisms: Setting[tuple[str, ...]] = strings(
        ("SCRAM-SHA-256", "SCRAM-SHA-512"),
        "the mechanisms by which clients can log in at SASL listeners",
        scope=Scope.PER_BROKER,
        kafka=("GSSAPI",),
        because="Kerberos is not supported, and SCRAM users can be added at any time",
        stays=True,
    )
    sasl_server_max_receive_size = integer(
        524_288, "the longest request or token that is accepted before a login"
    )
    connections_max_reauth_ms = long(
        0, "how long a login is valid before it must be renewed (KIP-368); 0 is for ever"
    )
    ssl_keystore_type = _store_type("the format of this broker's certificate and key")
    ssl_keystore_location: Setting[str | None] = string(
        None,
        "the PEM file with this broker's private key and its certificates",
        scope=Scope.PER_BROKER,
    )
    ssl_keystore_certificate_chain: Setting[str | None] = password(
        None,
        "this broker's certificates, as PEM, instead of a file",
        scope=Scope.PER_BROKER,
    )
    ssl_keystore_key: Setting[str | None] = password(
        None, "this broker's private key, as PEM, instead of a file", scope=Scope.PER_BROKER
    )
    ssl_key_password: Setting[str | None] = password(
        None, "the password of an encrypted private key", scope=Scope.PER_BROKER
    )
    ssl_truststore_type = _store_type("the format of trusted certificates")
    ssl_truststore_location: Setting[str | None] = string(
        None,
        "the PEM file of authorities that sign clients' certificates",
        scope=Scope.PER_BROKER,
    )
    ssl_truststore_certificates: Setting[str | None] = password(
        None, "those authorities, as PEM, instead of a file", scope=Scope.PER_BROKER
    )
    ssl_client_auth = string(
        "none",
        "whether clients need a certificate, whose name is then their user's",
        scope=Scope.PER_BROKER,
        one_of=("required", "requested", "none"),
    )
    ssl_enabled_protocols: Setting[tuple[str, ...]] = strings(
        ("TLSv1.2", "TLSv1.3"),
        "the supported versions of TLS",
        scope=Scope.PER_BROKER,
        one_of=("TLSv1.2", "TLSv1.3"),
        may_be_empty=False,
    )
    ssl_endpoint_identification_algorithm = string(
        "https",
        "whether certificates of other processes must name the host that this broker connects to;"
        " empty: any name is accepted",
        scope=Scope.PER_BROKER,
        one_of=("https", ""),
    )
    ssl_principal_mapping_rules = string(
        "DEFAULT",
        "how the name of a user is derived from the one in a certificate: the first rule counts;"
        " DEFAULT is the whole name",
        check=_check_mapping,
        range_text="DEFAULT or RULE:PATTERN/REPLACEMENT/ with L or U after it, in a list",
    )


class BearerSettings:
    """Tokens of OAUTHBEARER (KIP-255, KIP-768)."""

    sasl_server_callback_handler_class: Setting[str | None] = Setting(
        Kind.CLASS,
        None,
        f"{SIGNED_TOKENS}: clients of OAUTHBEARER need a signed token; otherwise any unsigned token"
        " is accepted",
        check=lambda given: (
            None if given == SIGNED_TOKENS else "other classes of Java are not loaded"
        ),
        range_text=SIGNED_TOKENS,
    )
    sasl_oauthbearer_jwks_endpoint_url: Setting[str | None] = string(
        None,
        "where the public keys of signed tokens are: at an endpoint, as http(s)://HOST/PATH, or in"
        " a file, as file:///PATH",
    )
    sasl_oauthbearer_jwks_endpoint_refresh_ms = long(
        HOUR_MS, "how often the keys are fetched from an endpoint"
    )
    sasl_oauthbearer_jwks_endpoint_retry_backoff_ms = long(
        100, "how long to wait before the keys are fetched again, at first"
    )
    sasl_oauthbearer_jwks_endpoint_retry_backoff_max_ms = long(
        10000, "for how long the keys are fetched again after failures, until they are due anew"
    )
    sasl_oauthbearer_expected_audience: Setting[tuple[str, ...]] = strings(
        (), "whom signed tokens must be for: one of these"
    )
    sasl_oauthbearer_expected_issuer: Setting[str | None] = string(
        None, "the issuer that signed tokens must name"
    )
    sasl_oauthbearer_clock_skew_seconds = integer(
        30, "by how many seconds the clock of an issuer may be wrong"
    )
    sasl_oauthbearer_sub_claim_name = string("sub", "the claim of signed tokens with the user")


class DelegationTokenSettings:
    """Delegation tokens (KIP-48), with which clients log in for a time."""

    delegation_token_secret_key: Setting[str | None] = password(
        None,
        "the key of the tokens' secrets, the same for all brokers and the controller; without it, "
        "there are no delegation tokens",
    )
    delegation_token_max_lifetime_ms = long(
        7 * DAY_MS, "how long a delegation token can be renewed at most", at_least=1
    )
    delegation_token_expiry_time_ms = long(
        DAY_MS, "how long a delegation token is valid before it must be renewed", at_least=1
    )
    delegation_token_expiry_check_interval_ms = long(
        HOUR_MS, "how often delegation tokens that have expired are removed", at_least=1
    )


_JAAS_SETTING: Final[AnySetting] = password(
    None,
    'a mechanism\'s login module; users of PLAIN are its options: user_alice="secret"',
    check=lambda given: _check_jaas(given),
    range_text='MODULE required name="value" ...;',
    scope=Scope.PER_BROKER,
)
_OF_LISTENERS: Final = (
    CONNECTION_RATE,
    *(
        name.replace("_", ".")
        for name in (*vars(SecuritySettings), *vars(UnusedSecuritySettings))
        if name.startswith("ssl_")
        or name
        in ("sasl_enabled_mechanisms", "sasl_server_max_receive_size", "principal_builder_class")
    ),
)
_OF_MECHANISMS: Final = (
    JAAS,
    REAUTHENTICATION,
    *(
        name.replace("_", ".")
        for name in (*vars(BearerSettings), *vars(UnusedSecuritySettings))
        if name.startswith("sasl_") and name != "sasl_jaas_config"
    ),
)


class OwnName(NamedTuple):
    """Parts of the name of a setting of one listener, or of one mechanism."""

    listener: str
    mechanism: str
    base: str


def read_own_name(name: str) -> OwnName | None:
    """Return listener and mechanism in the name of a setting of theirs, or ``None``."""
    rest = name.removeprefix(LISTENER_PREFIX)
    is_of_listener = rest != name
    if not is_of_listener and name.partition(".")[0] not in _MECHANISMS:
        return None
    for base in (*_OF_LISTENERS, *_OF_MECHANISMS):
        if not rest.endswith(f".{base}"):
            continue
        front = rest[: -len(base) - 1]
        if is_of_listener:
            listener, _, mechanism = front.rpartition(".")
            if mechanism not in _MECHANISMS:
                listener, mechanism = front, ""
        else:
            listener, mechanism = "", front
        if base in _OF_LISTENERS and mechanism:
            return None
        if (mechanism or base == JAAS) and mechanism not in _MECHANISMS:
            return None
        return OwnName(listener, _MECHANISMS.get(mechanism, ""), base)
    return None


def setting_of_one(name: str, settings: dict[str, AnySetting]) -> AnySetting | None:
    """Return the setting for the name of a listener's or a mechanism's own."""
    own = read_own_name(name)
    if own is None or not name.islower():
        return None
    setting = copy.copy(_JAAS_SETTING if own.base == JAAS else settings[own.base])
    setting.name = name
    return setting


def explain_own(name: str) -> str | None:
    """Return what is wrong with a name that begins like a listener's own."""
    if not name.lower().startswith(LISTENER_PREFIX):
        return None
    if read_own_name(name.lower()) is not None:
        return f"{name} must be in lower case"
    return (
        f"{name} cannot be set: a listener has only ssl.*, sasl.*, {REAUTHENTICATION} and "
        f"{CONNECTION_RATE} of its own, and {JAAS} belongs to a mechanism "
        f"({LISTENER_PREFIX}NAME.plain.{JAAS})"
    )


def names_of(base: str, listener: str, mechanism: str) -> tuple[str, ...]:
    """Return names for a setting of a listener, the strongest first."""
    listener, mechanism = listener.lower(), mechanism.lower()
    names = [f"{LISTENER_PREFIX}{listener}.{base}", base]
    if mechanism:
        names.insert(0, f"{LISTENER_PREFIX}{listener}.{mechanism}.{base}")
        names.insert(2, f"{mechanism}.{base}")
    return tuple(names)


def plain_users(jaas: str) -> dict[str, str]:
    """Return PLAIN users and their passwords, from a text that was checked before."""
    options = read_jaas(jaas).options
    return {
        name.removeprefix(USER_PREFIX): value
        for name, value in options.items()
        if name.startswith(USER_PREFIX)
    }


def _check_jaas(given: str) -> str | None:
    try:
        module = read_jaas(given)
    except ValueError as error:
        return str(error)
    if module.name not in MODULES.values():
        return f"its login module is not one of {', '.join(dict.fromkeys(MODULES.values()))}"
    return None


__all__ = [
    "HOW_TO_CONVERT", "JAAS", "LISTENER_PREFIX", "MODULES", "PLAIN", "REAUTHENTICATION", "OwnName",
    "SecuritySettings", "explain_own", "names_of", "plain_users", "read_own_name",
    "setting_of_one",
]  # fmt: skip
