"""Quotas (KIP-124, KIP-599): Apache Kafka tells clients the same times and errors."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.conformance.quota_cases import script
from tests.support.apache_kafka import ApacheKafka

pytestmark = pytest.mark.conformance

EXPECTED = Path(__file__).parent / "quotas.txt"


def test_apache_kafka_tells_the_same() -> None:
    with ApacheKafka() as kafka:
        lines = asyncio.run(script(f"127.0.0.1:{kafka.port}"))
    assert lines == EXPECTED.read_text(encoding="utf-8").splitlines()
