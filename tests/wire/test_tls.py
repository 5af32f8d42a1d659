"""Listeners that speak TLS: what they are made of, who comes, and what is said when it fails."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from pathlib import Path
from typing import Any, Final

import pytest
from fencepost_broker import Broker
from fencepost_broker.config import SettingsError, load
from fencepost_broker.network import tls
from fencepost_broker.server import process
from fencepost_broker.server.clock import wall_ms
from fencepost_client import Admin, Consumer, KafkaError, NewTopic, Producer
from fencepost_client.errors import AuthorizationError

from tests.conformance import signed_token_cases
from tests.support.broker import QuietLog, RunningBroker, running_broker
from tests.support.issuer import Issuer
from tests.support.logins import LISTENERS
from tests.support.secure_kafka import KEY_PASSWORD, make_certificates
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
MIB: Final = 1 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("certificates")
    make_certificates(made)
    text = (made / "broker.pem").read_text()
    (made / "damaged.pem").write_text(text[:100] + text[200:])
    (made / "store.jks").write_bytes(b"\xfe\xed\xfe\xed" + bytes(100))
    return made


def secured(folder: Path, **settings: Any) -> Broker:
    named = {f"ssl.{name.replace('_', '.')}": str(value) for name, value in settings.items()}
    return Broker(settings=named, tls_cert=folder / "broker.pem", tls_key=folder / "broker.key")


def client(folder: Path, *, own: bool = False) -> dict[str, Any]:
    settings = {"security_protocol": "SSL", "ssl_ca_location": str(folder / "ca.pem")}
    if own:
        settings |= {
            "ssl_certificate_location": str(folder / "client.pem"),
            "ssl_key_location": str(folder / "client.key"),
            "ssl_key_password": KEY_PASSWORD,
        }
    return settings


def in_handshake(broker: Broker) -> int:
    return int(broker.stats()["connections"]["in_handshake"])


async def test_large_records_go_through(folder: Path) -> None:
    values = [bytes([number]) * (MIB // 2) for number in range(40)]
    async with secured(folder) as broker:
        broker.create_topic("t", 1)
        async with Producer(broker.bootstrap, **client(folder)) as producer:
            for value in values:
                await producer.send("t", value, partition=0)
        consumer = Consumer(
            broker.bootstrap, group_id="g", auto_offset_reset="earliest", **client(folder)
        )
        async with consumer:
            consumer.subscribe(["t"])
            found: list[Any] = []
            while len(found) < len(values):
                found += await consumer.getmany(timeout_ms=1000)
        assert [record.value for record in found] == values


async def may_create(admin: Admin, topic: str) -> bool:
    try:
        await admin.create_topics([NewTopic(topic, 1)])
    except AuthorizationError:
        return False
    return True


@pytest.mark.parametrize(
    ("rules", "user"),
    [
        ("DEFAULT", "CN=client"),
        ("DEFAULT", "ANONYMOUS"),
        (r"RULE:^CN=(.*)$/$1/U,DEFAULT", "CLIENT"),
    ],
)
async def test_the_user_is_who_the_certificate_names(folder: Path, rules: str, user: str) -> None:
    settings: dict[str, Any] = {
        "ssl.principal.mapping.rules": rules,
        "ssl.client.auth": "requested",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{user}",
    }
    certificate = {"tls_cert": folder / "broker.pem", "tls_key": folder / "broker.key"}
    async with (
        Broker(settings=settings, **certificate) as broker,  # type: ignore[arg-type]
        Admin(broker.bootstrap, **client(folder, own=True)) as named,
        Admin(broker.bootstrap, **client(folder)) as nobody,
    ):
        assert await may_create(named, "a") is (user != "ANONYMOUS")
        assert await may_create(nobody, "b") is (user == "ANONYMOUS")


async def test_a_client_that_no_rule_names_is_not_let_in(folder: Path) -> None:
    settings: dict[str, Any] = {
        "ssl.client.auth": "requested",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "ssl.principal.mapping.rules": "RULE:^OU=(.*)$/$1/",
    }
    certificate = {"tls_cert": folder / "broker.pem", "tls_key": folder / "broker.key"}
    async with Broker(settings=settings, **certificate) as broker:  # type: ignore[arg-type]
        async with Admin(broker.bootstrap, **client(folder)) as nobody:
            await nobody.list_topics()
        with pytest.raises(KafkaError):
            async with Admin(
                broker.bootstrap, default_api_timeout_ms=500, **client(folder, own=True)
            ) as named:
                await named.list_topics()


def in_one_line_each(folder: Path, prefix: str) -> dict[str, Any]:
    return {
        f"{prefix}.keystore.{name}": " ".join((folder / file).read_text().split("\n"))
        for name, file in (("certificate.chain", "broker.pem"), ("key", "broker.key"))
    }


async def test_certificate_and_key_may_stand_in_one_line_each(folder: Path) -> None:
    settings = in_one_line_each(folder, "listener.name.ssl.ssl")
    settings["listeners"] = "SSL://127.0.0.1:0"
    async with (
        Broker(settings=settings) as broker,
        Admin(broker.bootstrap, **client(folder)) as admin,
    ):
        await admin.list_topics()
        assert "PRIVATE" not in repr(broker.settings)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "ssl.ssl.keystore.location: a listener with TLS needs a certificate"),
        ({"keystore_location": "broker.pem"}, "broker.pem: there is no private key in it"),
        ({"keystore_location": "client.key"}, "client.key: there is no certificate in it"),
        ({"keystore_location": "none.pem"}, "none.pem: cannot be read: No such file"),
        ({"keystore_location": "store.jks"}, "it is JKS, but only PEM is supported.*keytool"),
        (
            {"keystore_location": "broker-chain.pem", "client_auth": "required"},
            "ssl.truststore.location: ssl.client.auth needs trusted authorities",
        ),
        (
            {
                "keystore_location": "broker-chain.pem",
                "client_auth": "required",
                "truststore_location": "broker.key",
            },
            "broker.key: cannot be used: there is no certificate in it",
        ),
    ],
)
async def test_what_cannot_be_is_told_at_start(
    folder: Path, settings: dict[str, str], told: str
) -> None:
    named = {
        f"ssl.{name.replace('_', '.')}": str(folder / value) if "location" in name else value
        for name, value in settings.items()
    }
    broker = Broker(settings={"listeners": "SSL://127.0.0.1:0", **named})
    with pytest.raises(SettingsError, match=told):
        await broker.start()


@pytest.mark.parametrize(
    ("certificate", "key", "password", "told"),
    [
        ("none.pem", "broker.key", "", "--tls-cert .*none.pem: cannot be read: No such file"),
        ("broker.pem", "none.key", "", "--tls-key .*none.key: cannot be read: No such file"),
        ("broker.pem", None, "", "--tls-cert .*broker.pem needs the certificate's key: --tls-key"),
        (None, "broker.key", "", "--tls-key .*broker.key needs the key's certificate: --tls-cert"),
        (
            "store.jks",
            "broker.key",
            "",
            "--tls-cert .*store.jks: it is JKS, but only PEM is supported",
        ),
        ("broker.key", "broker.key", "", "--tls-cert .*broker.key: there is no certificate in it"),
        ("broker.pem", "broker.pem", "", "--tls-key .*broker.pem: there is no private key in it"),
        ("damaged.pem", "broker.key", "", "--tls-cert .*damaged.pem: the certificate is damaged"),
        ("client.pem", "broker.key", "", "--tls-key .*broker.key: the private key is not that of"),
        ("client.pem", "client.key", "", "--tls-key .*client.key: the private key is encrypted: "),
        ("client.pem", "client.key", "x", "--tls-key .*client.key: ssl.key.password does not open"),
    ],
)
async def test_the_option_and_the_file_that_are_wrong_are_named(
    folder: Path, certificate: str | None, key: str | None, password: str, told: str
) -> None:
    settings = {"ssl.key.password": password} if password else {}
    paths = [None if name is None else folder / name for name in (certificate, key)]
    with pytest.raises((SettingsError, ValueError), match=told):
        await Broker(settings=settings, tls_cert=paths[0], tls_key=paths[1]).start()


async def test_the_setting_that_was_given_is_named_and_where_it_stands(folder: Path) -> None:
    config = folder / "server.properties"
    config.write_text(f"listeners=SSL://127.0.0.1:0\nssl.keystore.location={folder}/broker.key\n")
    broker = Broker(settings=load(config))
    with pytest.raises(
        SettingsError, match=rf"^ssl.keystore.location \({config}:2\): .*broker.key"
    ):
        await broker.start()


@pytest.mark.parametrize(("years", "is_told"), [(0, False), (-50, True), (500, True)])
async def test_a_certificate_that_is_not_valid_now_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    years: int, *, is_told: bool,
) -> None:  # fmt: skip
    now_ms = wall_ms() + years * 365 * 86_400_000
    monkeypatch.setattr(process, "wall_ms", lambda: now_ms)
    async with secured(folder):
        told = capsys.readouterr().err
    assert ("clients will refuse the certificate of a listener" in told) is is_told
    assert (f"--tls-cert {folder}/broker.pem" in told) is is_told


async def test_key_stores_of_java_are_refused_with_a_way_out() -> None:
    for kind in ("JKS", "PKCS12"):
        with pytest.raises(SettingsError, match="openssl pkcs12"):
            Broker(settings={"ssl.keystore.type": kind})


async def test_the_log_says_why_there_was_no_tls(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ""

    def is_told(words: str) -> bool:
        nonlocal told
        told += capsys.readouterr().err
        return words in told

    trusting_nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    truststore = folder / "ca.pem"
    async with secured(folder, client_auth="required", truststore_location=truststore) as broker:
        host, _, port = broker.bootstrap.rpartition(":")
        for sent in (b"\0\0\0\x10\0\x12\0\0\0\0\0\1\0\1", b"GET / HTTP/1.1\r\n\r\n"):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(sent)
            await reader.read()
            writer.close()
        with pytest.raises(ssl.SSLError):
            await asyncio.open_connection(host, int(port), ssl=trusting_nobody, server_hostname="x")
        for words in ("in plain text (security.protocol)", "HTTP", "may not trust"):
            await until(lambda words=words: is_told(words))  # type: ignore[misc]
        assert "Traceback" not in told


async def test_a_broker_stops_while_hands_are_shaken(folder: Path) -> None:
    broker = secured(folder)
    await broker.start()
    host, _, port = broker.bootstrap.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    await until(lambda: in_handshake(broker) == 1)
    assert await broker.stop()
    assert await reader.read() == b""
    writer.close()


async def connected(folder: Path, broker: Broker | RunningBroker) -> asyncio.StreamWriter:
    """Hands are shaken with it."""
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    host, _, port = broker.bootstrap.rpartition(":")
    return (await asyncio.open_connection(host, int(port), ssl=context))[1]


class FullLog(QuietLog):
    """It cannot write either, while no file can be opened."""

    def __init__(self) -> None:
        self.asked = 0

    def warning(self, event: str, **told: Any) -> None:
        if event == "a connection cannot be accepted":
            self.asked += 1
            raise no_more_files()


def no_more_files(*_: Any) -> OSError:
    return OSError(errno.EMFILE, "Too many open files")


async def test_a_listener_outlives_a_want_of_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    accept, log = loop.sock_accept, FullLog()
    failing: list[OSError] = []

    async def flaky(sock: socket.socket) -> Any:
        if failing:
            raise failing.pop()
        return await accept(sock)

    monkeypatch.setattr(loop, "sock_accept", flaky)
    monkeypatch.setattr(tls, "PAUSE_S", 0)
    settings = {"listeners": "SSL://127.0.0.1:0", **in_one_line_each(folder, "ssl")}
    async with running_broker(settings, log=log) as broker:
        failing.append(no_more_files())
        first = await connected(folder, broker)
        await until(lambda: log.asked == 1)
        second = await connected(folder, broker)
        for writer in (first, second):
            writer.close()


async def test_without_a_spare_descriptor_hands_are_shaken_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dup(_: socket.socket) -> socket.socket:
        raise no_more_files()

    async with secured(folder) as broker:
        monkeypatch.setattr(socket.socket, "dup", dup)
        writer = await connected(folder, broker)
        await until(lambda: broker.stats()["connections"]["open"] == 1)
        assert in_handshake(broker) == 0
        writer.close()


@pytest.mark.parametrize("limit", ["max.connections", "max.connections.per.ip"])
async def test_the_silent_count_among_the_connections(
    folder: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "HANDSHAKE_S_MAX", 600.0)
    broker = Broker(
        settings={limit: 2, "connections.login.timeout.ms": 600_000},
        tls_cert=folder / "broker.pem",
        tls_key=folder / "broker.key",
    )
    async with broker:
        host, _, port = broker.bootstrap.rpartition(":")
        silent = [(await asyncio.open_connection(host, int(port)))[1] for _ in range(2)]
        await until(lambda: in_handshake(broker) == 2)
        reader, writer = await asyncio.open_connection(host, int(port))
        await until(reader.at_eof)  # it is one too many, and is told so at once
        writer.close()
        silent.pop().close()
        await until(lambda: in_handshake(broker) == 1)
        last = await connected(folder, broker)
        await until(lambda: broker.stats()["connections"]["open"] == 1)
        assert in_handshake(broker) == 1
        for writer in (*silent, last):
            writer.close()
        await until(lambda: in_handshake(broker) + broker.stats()["connections"]["open"] == 0)
        for writer in [await connected(folder, broker) for _ in range(2)]:
            writer.close()  # none of the places is lost


@pytest.mark.parametrize(("login_ms", "handshake_s"), [(600_000, 0.05), (50, 600.0)])
async def test_a_handshake_ends_with_its_own_limit_and_with_that_of_logins(
    folder: Path, login_ms: int, handshake_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "HANDSHAKE_S_MAX", handshake_s)
    broker = Broker(
        settings={"connections.login.timeout.ms": login_ms},
        tls_cert=folder / "broker.pem",
        tls_key=folder / "broker.key",
    )
    async with broker:
        host, _, port = broker.bootstrap.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        await until(reader.at_eof)
        assert in_handshake(broker) == 0
        writer.close()


@pytest.mark.parametrize(
    ("protocol", "name", "mode"),
    [
        ("SSL", "ssl.client.auth", ssl.CERT_REQUIRED),
        ("SASL_SSL", "ssl.client.auth", ssl.CERT_NONE),
        ("SASL_SSL", "listener.name.in.ssl.client.auth", ssl.CERT_REQUIRED),
    ],
)
async def test_certificates_of_clients_are_for_ssl_unless_a_listener_asks(
    folder: Path, protocol: str, name: str, mode: ssl.VerifyMode
) -> None:
    broker = Broker(
        settings={
            "listeners": "IN://127.0.0.1:0",
            "listener.security.protocol.map": f"IN:{protocol}",
            "inter.broker.listener.name": "IN",
            "ssl.keystore.location": str(folder / "broker-chain.pem"),
            "ssl.truststore.location": str(folder / "ca.pem"),
            name: "required",
        }
    )
    assert tls.server_context(broker.settings, "IN").verify_mode is mode


async def test_a_renewed_certificate_is_shown_without_a_restart(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, other = tmp_path / "shown.pem", tmp_path / "other"
    other.mkdir()
    make_certificates(other)
    chain = "broker-chain.pem"
    shown.write_text((folder / chain).read_text())
    settings = {"listeners": "SSL://127.0.0.1:0", "ssl.keystore.location": str(shown)}

    async def is_trusted(by: Path) -> bool:
        try:
            async with Admin(broker.bootstrap, default_api_timeout_ms=5000, **client(by)) as admin:
                await admin.list_topics()
        except KafkaError:
            return False
        return True

    def replace(text: str) -> None:
        (tmp_path / "new.pem").write_text(text)
        (tmp_path / "new.pem").rename(shown)

    async with Broker(settings=settings, log_level="info") as broker:
        assert await is_trusted(folder)
        async with Admin(broker.bootstrap, **client(folder)) as stays:
            replace((other / chain).read_text())
            assert await is_trusted(other)
            assert not await is_trusted(folder)
            await stays.list_topics()
            replace((folder / chain).read_text()[:100])
            assert await is_trusted(other)
    told = capsys.readouterr().err
    assert "the certificate of a listener has changed" in told
    assert "the one before it stays" in told


async def test_the_authority_of_an_issuers_keys_must_be_known(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Issuer(b'{"keys": []}', folder / "broker-chain.pem") as issuer:
        given = signed_token_cases.settings(issuer.url) | LISTENERS
        given["sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms"] = "100"
        with pytest.raises(SettingsError, match="certificate"):
            await Broker(settings=given).start()
        assert not issuer.asked
        monkeypatch.setenv("SSL_CERT_FILE", str(folder / "ca.pem"))
        async with Broker(settings=given):
            assert issuer.asked
