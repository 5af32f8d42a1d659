"""Short scripts that Apache Kafka answers as ours does: quotas, operations on groups, voters."""

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
    raft_voter_cases,
    replication_quota_cases,
)
from tests.support.apache_kafka import ApacheKafka
from tests.support.secure_kafka import KafkaWithUsers

pytestmark = pytest.mark.conformance

EXPECTED = Path(__file__).parent


@pytest.fixture(scope="module")
def kafka() -> Iterator[ApacheKafka]:
    """One Apache Kafka for all of them."""
    with ApacheKafka() as running:
        yield running


@pytest.fixture
def bootstrap(kafka: ApacheKafka) -> str:
    return kafka.bootstrap


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


def test_one_voter_stays_the_only_one(kafka: ApacheKafka) -> None:
    lines = asyncio.run(raft_voter_cases.of_controller(f"127.0.0.1:{kafka.controller_port}"))
    assert lines == raft_voter_cases.EXPECTED.read_text(encoding="utf-8").splitlines()
    told_by_broker = asyncio.run(raft_voter_cases.of_any(kafka.bootstrap))
    assert told_by_broker == lines[: len(told_by_broker)]


def test_hosts_of_acls() -> None:
    with KafkaWithUsers({}) as kafka:
        places = (f"127.0.0.1:{port}" for port in (kafka.port, kafka.login_port))
        lines = asyncio.run(host_cases.of_acls(*places))
    assert lines == (EXPECTED / "hosts_of_acls.txt").read_text(encoding="utf-8").splitlines()
