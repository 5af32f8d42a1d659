"""Settings behind ``kafka.`` reach the connections of the driver and of tasks: a login over TLS."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fencepost_client import NewTopic
from fencepost_client.blocking import Admin, Producer

from tests.sdk.harness.security import login
from tests.support.secure_kafka import SecureKafka

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install fencepost[spark]")

from tests.pipeline.reading import read

pytestmark = [pytest.mark.conformance, pytest.mark.slow]


@pytest.fixture
def kafka() -> Iterator[SecureKafka]:
    with SecureKafka() as kafka:
        yield kafka


def test_a_login_over_tls(kafka: SecureKafka) -> None:
    where, authority = kafka.at("SASL_SSL"), str(kafka.certificates / "ca.pem")
    settings = login("PLAIN", protocol="SASL_SSL") | {"ssl_ca_location": authority}
    with Admin(where, **settings) as admin:
        admin.create_topics([NewTopic("t", 1)])
    with Producer(where, **settings) as producer:
        producer.send("t", b"secret")
    user, password = settings["sasl_plain_username"], settings["sasl_plain_password"]
    options = {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "PLAIN",
        "kafka.sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule "
        f'required username="{user}" password="{password}";',
        "kafka.ssl.ca.location": authority,
    }
    assert read(where, subscribe="t", **options) == ["secret"]
