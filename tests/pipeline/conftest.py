"""One Spark session for all tests of a run, and the brokers that they read from and write to."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from fencepost_client.blocking import Admin

from tests.support.apache_kafka import ApacheKafka
from tests.support.up import Up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEPT = "log.retention.ms=-1"
"""Records of long ago stay, however slow the machine."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session that knows our data sources; it takes some seconds to come up."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install fencepost[spark]")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java runtime: there is no 'java' on the PATH")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from fencepost_pipeline.spark import register
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2,4]")  # a task that fails is tried again, as elsewhere
        .appName("fencepost tests")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.log.level", "ERROR")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .getOrCreate()
    )
    register(session)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def fencepost_broker() -> Iterator[Up]:
    """One broker of ours for all tests of this process."""
    with Up("-c", KEPT) as broker:
        yield broker


@pytest.fixture(scope="session")
def apache_kafka() -> Iterator[ApacheKafka]:
    """One Apache Kafka for all tests of this process."""
    with ApacheKafka(dict([KEPT.split("=")])) as kafka:
        yield kafka


@pytest.fixture(params=["fencepost", pytest.param("kafka", marks=pytest.mark.conformance)])
def bootstrap(request: pytest.FixtureRequest) -> str:
    """Where to connect; topics are the test's own, by the name of ``topic``."""
    if request.param == "kafka":
        return str(request.getfixturevalue("apache_kafka").bootstrap)
    return f"127.0.0.1:{request.getfixturevalue('fencepost_broker').port}"


@pytest.fixture
def admin(bootstrap: str) -> Iterator[Admin]:
    """An admin of the broker."""
    with Admin(bootstrap) as admin:
        yield admin


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic name of this test's own."""
    return "".join(c if c.isalnum() else "-" for c in request.node.name)
