"""Short scripts that Apache Kafka answers as ours does: quotas, operations on groups."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance import (
    group_config_cases,
    group_operation_cases,
    host_cases,
    quota_cases,
    replication_quota_cases,
)
from tests.support.apache_kafka import ApacheKafka
from tests.support.secure_kafka import KafkaWithUsers

pytestmark = pytest.mark.conformance

EXPECTED = Path(__file__).parent


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """One Apache Kafka for all of them."""
    with ApacheKafka() as kafka:
        yield f"127.0.0.1:{kafka.port}"


def test_what_may_be_done_with_groups(bootstrap: str) -> None:
    lines = asyncio.run(group_operation_cases.script(bootstrap))
    assert lines == (EXPECTED / "group_operations.txt").read_text(encoding="utf-8").splitlines()


def test_settings_of_groups(bootstrap: str) -> None:
    lines = asyncio.run(group_config_cases.script(bootstrap))
    assert lines == (EXPECTED / "group_configs.txt").read_text(encoding="utf-8").splitlines()


def test_settings_of_replication_quotas(bootstrap: str) -> None:
    lines = asyncio.run(replication_quota_cases.script(bootstrap))
    assert lines == (EXPECTED / "replication_quotas.txt").read_text(encoding="utf-8").splitlines()


def test_quotas_tell_the_same(bootstrap: str) -> None:
    """The times of KIP-124, and the times and errors of KIP-599."""
    lines = asyncio.run(quota_cases.script(bootstrap))
    assert lines == (EXPECTED / "quotas.txt").read_text(encoding="utf-8").splitlines()


def test_addresses_of_quotas(bootstrap: str) -> None:
    lines = asyncio.run(host_cases.of_quotas(bootstrap))
    assert lines == (EXPECTED / "hosts_of_quotas.txt").read_text(encoding="utf-8").splitlines()


def test_hosts_of_acls() -> None:
    with KafkaWithUsers({}) as kafka:
        places = (f"127.0.0.1:{port}" for port in (kafka.port, kafka.login_port))
        lines = asyncio.run(host_cases.of_acls(*places))
    assert lines == (EXPECTED / "hosts_of_acls.txt").read_text(encoding="utf-8").splitlines()
