"""Settings of groups: told and accepted as by Apache Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_broker import Broker

from tests.conformance import group_config_cases

EXPECTED = Path(group_config_cases.__file__).with_name("group_configs.txt")


@pytest.mark.asyncio
async def test_settings_of_groups() -> None:
    async with Broker() as broker:
        told = await group_config_cases.script(broker.bootstrap)
    assert told == EXPECTED.read_text(encoding="utf-8").splitlines()
