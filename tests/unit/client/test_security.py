"""The settings of security, by keyword and by Kafka's names."""

from __future__ import annotations

import ssl
from typing import Any

import pytest
from fencepost_client import ConfigError
from fencepost_client.config.kafka_names import COMMON_NAMES, from_kafka_names
from fencepost_client.network.security import Security, read_security

PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
JAAS = f'{PLAIN_MODULE} required username="alice" password="top \\"s;cret";'


def read(config: dict[str, Any]) -> Any:
    settings = from_kafka_names({"bootstrap.servers": "a:1", **config}, COMMON_NAMES)
    del settings["bootstrap_servers"]
    return read_security(**settings)


def test_nothing_is_plaintext() -> None:
    assert read({}) == read_security(sasl_mechanism=None) == Security()  # type: ignore[arg-type]


def test_certificates_and_names_are_checked_unless_told_not_to() -> None:
    context = read({"security.protocol": "SSL"}).context
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    names = {"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": ""}
    context = read(names).context
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, False)
    assert read_security(security_protocol="SSL", ssl_context=context).context is context
    with pytest.raises(ConfigError, match="https, or none"):
        read({**names, "ssl.endpoint.identification.algorithm": "off"})
    with pytest.raises(TypeError, match="'ssl_cafile'"):
        read_security(security_protocol="SSL", ssl_cafile="ca.pem")  # type: ignore[call-arg]


def test_kafkas_login_configuration_is_read() -> None:
    protocol = {"security.protocol": "SASL_PLAINTEXT"}
    login = read({**protocol, "sasl.mechanism": "PLAIN", "sasl.jaas.config": JAAS}).login
    assert (login.username, login.password) == ("alice", 'top "s;cret')
    scram = f'{SCRAM_MODULE} required\n username="bob"\n password="x";\n'
    login = read({**protocol, "sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": scram}).login
    assert (login.mechanism, login.username, login.password) == ("SCRAM-SHA-512", "bob", "x")


def sasl(**settings: Any) -> dict[str, Any]:
    return {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN", **settings}


def tls(**settings: Any) -> dict[str, Any]:
    return {"security_protocol": "SSL", **settings}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"security_protocol": "TLS"}, "one of PLAINTEXT, "),
        ({"ssl_ca_location": "ca.pem"}, "ssl_ca_location is set, .* it needs SSL, SASL_SSL"),
        (sasl(ssl_check_hostname=False), "security_protocol is SASL_PLAINTEXT"),
        (tls(ssl_ca_location="/nowhere/ca.pem"), "'/nowhere/ca.pem' cannot be read: .*No such"),
        (tls(ssl_ca_location=__file__), "test_security.py' cannot be read"),
        (tls(ssl_key_location="key.pem"), "needs ssl_certificate_location"),
        (tls(ssl_certificate_location="/nowhere/a.pem"), "'/nowhere/a.pem' and .* cannot be used"),
        (
            tls(ssl_context=ssl.create_default_context(), ssl_ca_location="ca.pem"),
            "replaces ssl_ca_location",
        ),
        ({"security_protocol": "SASL_PLAINTEXT"}, "sasl_mechanism is missing"),
        ({"sasl_mechanism": "PLAIN"}, "security_protocol is PLAINTEXT"),
        ({"sasl_plain_password": "s3cret"}, "sasl_plain_password is set"),
        (sasl(sasl_plain_username="alice"), "SASL needs"),
        (sasl(sasl_plain_username="alice", sasl_plain_password=""), "SASL needs"),
        (
            sasl(sasl_mechanism="GSSAPI", sasl_plain_username="a", sasl_plain_password="s3cret"),
            "one of PLAIN, SCRAM",
        ),
        (sasl(sasl_jaas_config=JAAS, sasl_plain_password="s3cret"), "do not set the others"),
        (sasl(sasl_jaas_config="s3cret"), "the format is `MODULE required"),
        (sasl(sasl_jaas_config=f'{SCRAM_MODULE} required password="s3cret";'), "module of 'PLAIN'"),
        (sasl(sasl_jaas_config=f"{PLAIN_MODULE} required password=s3cret;"), "name="),
        (sasl(sasl_jaas_config=f'{PLAIN_MODULE} required password="s3cret";'), "SASL needs"),
    ],
)
def test_what_cannot_be_is_refused_without_telling_secrets(settings: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as raised:
        read_security(**settings)
    assert "cret" not in str(raised.value)
