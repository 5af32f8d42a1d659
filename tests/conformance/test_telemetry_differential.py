"""Metrics of clients (KIP-714): Apache Kafka gives the same answers, and its tool works here."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from fencepost_broker.blocking import Broker

from tests.conformance.telemetry_cases import Side, expected, script
from tests.support.apache_kafka import (
    LIBRARY_DIR,
    ApacheKafka,
    KafkaUnavailableError,
    fetch,
    run_tool,
)

pytestmark = pytest.mark.conformance

REPORTER = Path(__file__).parent / "telemetry" / "TakesTelemetry.java"
TOOL = "org.apache.kafka.tools.ClientMetricsCommand"


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    """Apache Kafka's jars, and one with a reporter that takes the metrics of clients."""
    try:
        fetch()
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    compiler = shutil.which("javac")
    if compiler is None:
        pytest.skip("javac is missing (Debian: apt-get install default-jdk-headless)")
    classes = tmp_path / "classes"
    class_path = f"{LIBRARY_DIR}/*"
    subprocess.run([compiler, "-nowarn", "-cp", class_path, "-d", classes, REPORTER], check=True)
    library = tmp_path / "lib"
    library.mkdir()
    for jar in LIBRARY_DIR.glob("*.jar"):
        (library / jar.name).symlink_to(jar)
    with zipfile.ZipFile(library / "reporter.jar", "w") as reporter:
        for path in classes.rglob("*.class"):
            reporter.write(path, path.relative_to(classes).as_posix())
    return library


def test_apache_kafka_answers_the_same(jars: Path) -> None:
    class WithReporter(ApacheKafka):
        library = jars

    async def pass_by(milliseconds: int) -> None:
        await asyncio.sleep(milliseconds / 1000 + 0.05)  # Kafka's clock cannot be moved

    with WithReporter({"metric.reporters": "fencepost.TakesTelemetry"}) as kafka:
        assert asyncio.run(script(Side(kafka.bootstrap, pass_by))) == expected()


def test_kafkas_tool_changes_our_subscriptions() -> None:
    try:
        fetch()
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    with Broker() as ours:
        where = ("--bootstrap-server", ours.bootstrap)
        named = (*where, "--name", "slow-clients")
        settings = ("--metrics", "org.apache.kafka.producer.", "--interval", "5000")
        run_tool(TOOL, *named, "--alter", *settings, "--match", "client_id=slow.*")
        assert run_tool(TOOL, *where, "--list").split() == ["slow-clients"]
        told = run_tool(TOOL, *named, "--describe")
        for line in (
            "interval.ms=5000",
            "match=client_id=slow.*",
            "metrics=org.apache.kafka.producer.",
        ):
            assert line in told
        run_tool(TOOL, *named, "--delete")
        assert not run_tool(TOOL, *where, "--list").split()
