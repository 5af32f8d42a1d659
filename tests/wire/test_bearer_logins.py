"""Logins by OAUTHBEARER (KIP-255): the same messages as to Apache Kafka."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fencepost_broker import Broker

from tests.conformance import bearer_cases
from tests.support.logins import LISTENERS, places

pytestmark = pytest.mark.asyncio

EXPECTED = Path(bearer_cases.__file__).parent


@pytest.mark.parametrize(
    ("settings", "messages", "file"),
    [
        (bearer_cases.SETTINGS, bearer_cases.cases, "bearer_logins.txt"),
        (bearer_cases.WITH_OPTIONS, bearer_cases.cases_with_options, "bearer_options.txt"),
    ],
)
async def test_unsecured_tokens_are_accepted_and_refused_as_by_apache_kafka(
    settings: dict[str, str], messages: Callable[[int], dict[str, bytes]], file: str
) -> None:
    given = settings | LISTENERS | {"connection.failed.authentication.delay.ms": "0"}
    async with Broker(settings=given) as broker:
        now_s = broker.clock.now_ms() // 1000
        told = await bearer_cases.told(places(broker)["LOGIN"], now_s, messages(now_s))
    assert told == (EXPECTED / file).read_text(encoding="utf-8").splitlines()
