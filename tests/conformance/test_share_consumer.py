"""Share consumers of Java, librdkafka and franz-go say the same of Apache Kafka and of ours."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import confluent_kafka
import pytest
from fencepost_broker.blocking import Broker

from tests.conformance.clients.clients import CLIENTS, ClientUnavailableError
from tests.support.apache_kafka import LIBRARY_DIR, ApacheKafka, KafkaUnavailableError, fetch

pytestmark = pytest.mark.conformance

PROGRAM: Final = Path(__file__).parent / "share" / "SharesRecords.java"
QUICK: Final = {
    "group.share.min.record.lock.duration.ms": 1000,
    "group.share.min.heartbeat.interval.ms": 100,
    "group.share.heartbeat.interval.ms": 100,
    "group.share.assignment.interval.ms": 0,
}
TOLD: Final = """\
given {a0=1, a1=1, a2=1, a3=1, a4=1, a5=1, a6=1, a7=1, a8=1}
committed [Optional.empty]
given {a1=2, a4=2, a7=2}
committed [Optional.empty]
given {b0=1, b1=1, b2=1}
given {b0=2, b1=2, b2=2}
committed [Optional.empty]
too late Optional.empty
given {c0=1, c1=1, c2=1, c3=1}
given {d0=1}
"""
"""Released records and those whose lock has ended are given once more. It is no error to be late
with a record that another member has accepted."""

TOLD_BY_OTHERS: Final = [
    "given a0=1 a1=1 a2=1 a3=1 a4=1 a5=1 a6=1 a7=1 a8=1",
    "committed",
    "given a1=2 a4=2 a7=2",
    "committed",
    "given b0=1 b1=1 b2=1",
    "given b0=2 b1=2 b2=2",
    "committed",
]
"""A consumer that closes releases what it has not acknowledged."""


@pytest.fixture(autouse=True)
def jars() -> None:
    try:
        fetch()
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


def told(bootstrap: str) -> str:
    command = ["java", "-cp", f"{LIBRARY_DIR}/*", str(PROGRAM), bootstrap]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=150)
    assert run.returncode == 0, run.stderr
    return run.stdout


def told_by_others(bootstrap: str) -> None:
    """Lower versions than 2.16 of librdkafka have no share consumer."""
    if not hasattr(confluent_kafka, "ShareConsumer"):
        pytest.skip("this librdkafka has no share consumer")
    from tests.conformance.share import librdkafka_shares

    assert librdkafka_shares.told(bootstrap) == TOLD_BY_OTHERS
    try:
        command = CLIENTS["franz-go"].prepare()
    except ClientUnavailableError as error:
        pytest.skip(str(error))
    where = ("letters", "readers")
    librdkafka_shares.prepare(bootstrap, *where)
    command += ["share", bootstrap, *where]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=150)
    assert (run.stdout.splitlines(), run.stderr) == (TOLD_BY_OTHERS, "")


def test_on_apache_kafka() -> None:
    with ApacheKafka({name: str(value) for name, value in QUICK.items()}) as kafka:
        assert told(kafka.bootstrap) == TOLD
        told_by_others(kafka.bootstrap)


def test_on_this_broker() -> None:
    with Broker(settings=QUICK) as broker:
        assert told(broker.bootstrap) == TOLD
        told_by_others(broker.bootstrap)
