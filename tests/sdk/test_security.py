"""Logging in to Apache Kafka, and being told what is wrong when one cannot."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

import pytest
from fencepost_broker import Broker
from fencepost_client import (
    Admin,
    AuthenticationError,
    ConfigError,
    Consumer,
    NewTopic,
    Producer,
    TlsError,
    TopicPartition,
)

from tests.sdk.harness.security import login
from tests.support.secure_kafka import (
    KEY_PASSWORD,
    LOGIN_MS,
    USER,
    SecureFencepost,
    SecureKafka,
)

pytestmark = pytest.mark.asyncio
Secured = SecureKafka | SecureFencepost
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


async def goes_through(bootstrap: str, topic: str, settings: dict[str, Any]) -> None:
    """A record is written and read."""
    async with Admin(bootstrap, **settings) as admin:
        await admin.create_topics([NewTopic(topic, partitions=1)])
    async with Producer(bootstrap, **settings) as producer:
        await producer.send_and_wait(topic, b"secret", partition=0)
    consumer = Consumer(bootstrap, group_id=topic, auto_offset_reset="earliest", **settings)
    async with consumer:
        consumer.subscribe([topic])
        records: list[Any] = []
        while not records:
            records = await consumer.getmany(timeout_ms=1000)
        assert [record.value for record in records] == [b"secret"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_a_record_goes_through_a_login(secured: Secured, topic: str, mechanism: str) -> None:
    await goes_through(secured.at("SASL_PLAINTEXT"), topic, login(mechanism))


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_a_wrong_password_is_told_at_once(secured: Secured, mechanism: str) -> None:
    wrong = "not-the-password"
    where = secured.at("SASL_PLAINTEXT")
    admin = Admin(where, default_api_timeout_ms=600_000, **login(mechanism, wrong))
    with pytest.raises(AuthenticationError) as raised:
        await admin.start()
    text = str(raised.value) + repr(raised.value)
    assert all(part in text for part in (where, USER, mechanism, "sasl_plain_password"))
    assert wrong not in text


async def test_a_plaintext_listener_is_told_apart(secured: Secured) -> None:
    with pytest.raises(AuthenticationError, match="security_protocol"):
        await Admin(secured.at("PLAINTEXT"), **login("PLAIN")).start()


async def test_a_login_is_renewed_while_records_are_sent(
    secured: Secured, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "fencepost_client.connection")
    where, settings = secured.at("SASL_PLAINTEXT"), login("SCRAM-SHA-512")
    async with Admin(where, **settings) as admin:
        await admin.create_topics([NewTopic(topic, partitions=1)])
    loop = asyncio.get_running_loop()
    async with Producer(where, linger_ms=0, **settings) as producer:
        await producer.send_and_wait(topic, b"0", partition=0)
        caplog.clear()
        end = loop.time() + 3 * LOGIN_MS / 1000
        count = 1
        while loop.time() < end:
            await producer.send_and_wait(topic, b"%d" % count, partition=0)
            count += 1
        assert caplog.messages == [], "a connection was lost"
    async with Consumer(where, auto_offset_reset="earliest", **settings) as consumer:
        end_offsets = await consumer.end_offsets([TopicPartition(topic, 0)])
    assert end_offsets == {TopicPartition(topic, 0): count}


@pytest.mark.ours_alone("what a listener without TLS and SASL says")
async def test_a_fencepost_without_logins_says_so_at_once() -> None:
    async with Broker() as broker:
        for mechanism in MECHANISMS:
            admin = Admin(broker.bootstrap, default_api_timeout_ms=600_000, **login(mechanism))
            with pytest.raises(AuthenticationError, match=r"ILLEGAL_SASL_STATE.*security_protocol"):
                await admin.start()


# -- TLS ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_a_record_goes_through_a_login_over_tls(
    secured: Secured, topic: str, mechanism: str
) -> None:
    settings = login(mechanism, protocol="SASL_SSL")
    settings["ssl_ca_location"] = str(secured.certificates / "ca.pem")
    await goes_through(secured.at("SASL_SSL"), topic, settings)


def tls(secured: Secured, **settings: Any) -> dict[str, Any]:
    """What the SSL listener wants."""
    folder = secured.certificates
    wanted = {
        "security_protocol": "SSL",
        "ssl_ca_location": str(folder / "ca.pem"),
        "ssl_certificate_location": str(folder / "client.pem"),
        "ssl_key_location": str(folder / "client.key"),
        "ssl_key_password": KEY_PASSWORD,
    }
    return {name: value for name, value in {**wanted, **settings}.items() if value is not None}


async def test_a_record_goes_through_tls_with_certificates_on_both_sides(
    secured: Secured, topic: str
) -> None:
    await goes_through(secured.at("SSL"), topic, tls(secured))
    for wrong in (None, "close-sesame"):
        with pytest.raises(ConfigError, match="is ssl_key_password right"):
            Admin(secured.at("SSL"), **tls(secured, ssl_key_password=wrong))


async def refused(bootstrap: str, settings: dict[str, Any]) -> str:
    """What a client is told at once."""
    admin = Admin(bootstrap, default_api_timeout_ms=600_000, **settings)
    with pytest.raises(TlsError) as raised:
        await admin.start()
    assert bootstrap in str(raised.value)
    return str(raised.value)


async def test_who_is_not_who_it_should_be_is_told_at_once(secured: Secured) -> None:
    where, other = secured.at("SSL"), str(secured.certificates / "other-ca.pem")
    told = await refused(where, tls(secured, ssl_ca_location=other))
    assert "certificate" in told
    assert "ssl_ca_location" in told
    told = await refused(where.replace("127.0.0.1", "localhost"), tls(secured))
    assert "'localhost'" in told
    nobody = tls(
        secured, ssl_certificate_location=None, ssl_key_location=None, ssl_key_password=None
    )
    await refused(where, nobody)


async def test_plain_text_and_tls_are_told_apart(secured: Secured) -> None:
    assert "TLS" in await refused(secured.at("PLAINTEXT"), tls(secured))
    assert "in plain text" in await refused(secured.at("SSL"), {})


async def test_a_name_that_is_not_checked_may_be_another(secured: Secured) -> None:
    where = secured.at("SSL").replace("127.0.0.1", "localhost")
    async with Admin(where, **tls(secured, ssl_check_hostname=False)) as admin:
        await admin.list_topics()


@pytest.mark.ours_alone("what a broker without TLS and SASL says")
async def test_fencepost_speaks_no_tls_and_is_told_at_once() -> None:
    async with Broker() as broker:
        for settings in ({"security_protocol": "SSL"}, login("PLAIN", protocol="SASL_SSL")):
            assert "TLS" in await refused(broker.bootstrap, settings)
