"""An Apache Kafka with a listener for each security protocol, users and certificates of its own.

    with SecureKafka() as kafka:
        kafka.at("SASL_SSL")            # where to connect
        kafka.certificates / "ca.pem"   # what to trust

PLAIN and both SCRAM mechanisms know ``USER`` with ``PASSWORD``. The SSL listener wants a
certificate of its clients (``client.pem``, ``client.key``), SASL_SSL does not. A login by
SCRAM-SHA-512 over SASL_PLAINTEXT holds for ``LOGIN_MS``.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Self

import pytest
from fencepost_broker import Broker

from tests.support.apache_kafka import HOST, ApacheKafka, free_ports

USER = "alice"
OTHER_USERS = ("bob", "carol", "dave")
PASSWORD = "wonder-land=7"
LOGIN_MS = 1500
KEY_PASSWORD = "open-sesame"
_MECHANISMS = {
    "PLAIN": "plain.Plain",
    "SCRAM-SHA-256": "scram.Scram",
    "SCRAM-SHA-512": "scram.Scram",
}
_PROTOCOLS = ("PLAINTEXT", "SASL_PLAINTEXT", "SSL", "SASL_SSL")
_MODULE = "org.apache.kafka.common.security.{}LoginModule required {};"


class SecureFencepost:
    """The same of ours, in the loop of a test, with certificates that are there."""

    def __init__(self, certificates: Path) -> None:
        self.certificates = certificates
        self._broker: Broker | None = None

    def at(self, protocol: str) -> str:
        """Where the listener of a security protocol is."""
        assert self._broker is not None
        [found] = [each for each in self._broker.addresses if each.listener == protocol]
        return found.bootstrap

    async def __aenter__(self) -> Self:
        settings = {"listeners": ",".join(f"{name}://{HOST}:0" for name in _PROTOCOLS)}
        settings |= secured(_PROTOCOLS, self.certificates)
        self._broker = Broker(settings=settings, users={USER: PASSWORD})
        await self._broker.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._broker is not None
        await self._broker.stop()


class SecureKafka(ApacheKafka):
    """See above."""

    def __init__(self) -> None:
        users = [
            argument
            for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
            for argument in ("--add-scram", f"{mechanism}=[name={USER},password={PASSWORD}]")
        ]
        super().__init__(format_arguments=users)
        self._ports: dict[str, int] = {}

    @property
    def certificates(self) -> Path:
        """ca.pem, other-ca.pem; client.pem with client.key, whose password is KEY_PASSWORD."""
        return self.folder / "certificates"

    def at(self, protocol: str) -> str:
        """Where the listener of a security protocol is."""
        return f"{HOST}:{self._ports[protocol]}"

    def _write_properties(self) -> None:
        protocols = ("SASL_PLAINTEXT", "SSL", "SASL_SSL")
        self._ports = dict(zip(protocols, free_ports(3), strict=True)) | {"PLAINTEXT": self.port}
        self.certificates.mkdir()
        make_certificates(self.certificates)
        listeners = {"CONTROLLER": f"{HOST}:{self.controller_port}"}
        listeners |= {protocol: self.at(protocol) for protocol in self._ports}
        self._overrides |= {
            "listeners": ",".join(f"{name}://{address}" for name, address in listeners.items()),
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,"
            + ",".join(f"{name}:{name}" for name in self._ports),
        }
        self._overrides |= secured(protocols, self.certificates)
        super()._write_properties()


def plain_module(*users: str) -> str:
    """A ``sasl.jaas.config`` by which users of PLAIN are known."""
    passwords = "".join(f' user_{name}="{PASSWORD}"' for name in users)
    return _MODULE.format(_MECHANISMS["PLAIN"], passwords)


def secured(protocols: Iterable[str], certificates: Path) -> dict[str, str]:
    """The settings of such listeners."""
    settings = {
        "sasl.enabled.mechanisms": ",".join(_MECHANISMS),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificates / "broker-chain.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates / "ca.pem"),
        "listener.name.ssl.ssl.client.auth": "required",
        "listener.name.sasl_plaintext.scram-sha-512.connections.max.reauth.ms": str(LOGIN_MS),
    }
    for listener in protocols:
        if not listener.startswith("SASL"):
            continue
        for mechanism, module in _MECHANISMS.items():
            users = f'user_{USER}="{PASSWORD}"' if mechanism == "PLAIN" else ""
            name = f"listener.name.{listener.lower()}.{mechanism.lower()}.sasl.jaas.config"
            settings[name] = _MODULE.format(module, users)
    return settings


class KafkaWithUsers(ApacheKafka):
    """Clients and brokers come without a login, or by PLAIN; ``USER`` may not do anything.

    ``OTHER_USERS`` and whoever does not log in may do all (``super.users``).
    """

    def _write_properties(self) -> None:
        self.login_port, self.controller_login_port = free_ports(2)
        module = plain_module(USER, *OTHER_USERS)
        places = {
            "PLAINTEXT": self.port,
            "CONTROLLER": self.controller_port,
            "LOGIN": self.login_port,
            "CONTROLLER_LOGIN": self.controller_login_port,
        }
        protocols = {name: "SASL_" * name.endswith("LOGIN") + "PLAINTEXT" for name in places}
        self._overrides = {
            "listeners": ",".join(f"{name}://{HOST}:{port}" for name, port in places.items()),
            "controller.listener.names": "CONTROLLER,CONTROLLER_LOGIN",
            "listener.security.protocol.map": ",".join(
                f"{name}:{protocol}" for name, protocol in protocols.items()
            ),
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.login.plain.sasl.jaas.config": module,
            "listener.name.controller_login.plain.sasl.jaas.config": module,
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": ";".join(f"User:{name}" for name in ("ANONYMOUS", *OTHER_USERS)),
            **self._overrides,
        }
        super()._write_properties()


def make_certificates(folder: Path) -> None:
    """Two authorities, and a broker and a client of the first; the broker is 127.0.0.1."""
    for name in ("ca", "other-ca"):
        _openssl(
            folder,
            *f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name}".split(),
            *f"-keyout {name}.key -out {name}.pem".split(),
            "-addext",
            "keyUsage=critical,keyCertSign,cRLSign",
        )
    # Python 3.13 and newer want all of RFC 5280.
    keys = "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
    (folder / "broker.ext").write_text(f"{keys}subjectAltName=IP:{HOST}\n")
    (folder / "client.ext").write_text(f"{keys}extendedKeyUsage=clientAuth\n")
    protections = {"broker": ["-nodes"], "client": ["-passout", f"pass:{KEY_PASSWORD}"]}
    for name, protection in protections.items():
        _openssl(
            folder,
            *f"req -newkey rsa:2048 -subj /CN={name} -keyout {name}.key -out {name}.csr".split(),
            *protection,
        )
        _openssl(
            folder,
            *f"x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial".split(),
            *f"-days 2 -extfile {name}.ext -out {name}.pem".split(),
        )
    chain = (folder / "broker.key").read_text() + (folder / "broker.pem").read_text()
    (folder / "broker-chain.pem").write_text(chain)


def _openssl(folder: Path, *arguments: str) -> None:
    command = shutil.which("openssl")
    if command is None:
        pytest.skip("certificates are made with openssl, which is not on the PATH")
    subprocess.run([command, *arguments], cwd=folder, check=True, capture_output=True)
