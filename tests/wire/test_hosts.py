"""Addresses and host names in quotas and ACLs: as in Apache Kafka, without name servers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_broker.server.clock import StateClock

from tests.conformance import host_cases
from tests.support.broker import running_broker
from tests.support.logins import LISTENERS, places
from tests.support.secure_kafka import USER, plain_module

pytestmark = pytest.mark.asyncio

EXPECTED = Path(host_cases.__file__).parent


async def test_addresses_of_quotas() -> None:
    clock = StateClock(manual=True)
    async with running_broker(clock=clock) as broker:

        async def pass_time() -> None:
            while True:
                await asyncio.sleep(0.005)
                if (
                    broker.process.socket_server.parked_count
                ):  # connections that are closed when the clock moves
                    clock.advance(seconds=1)

        passing = asyncio.ensure_future(pass_time())
        told = await host_cases.of_quotas(f"{broker.host}:{broker.port}")
        passing.cancel()
    assert told == (EXPECTED / "hosts_of_quotas.txt").read_text(encoding="utf-8").splitlines()


async def test_hosts_of_acls() -> None:
    settings = {
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.login.plain.sasl.jaas.config": plain_module(USER),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    async with Broker(settings=settings | LISTENERS) as broker:
        at = places(broker)
        told = await host_cases.of_acls(at["PLAINTEXT"], at["LOGIN"])
    assert told == (EXPECTED / "hosts_of_acls.txt").read_text(encoding="utf-8").splitlines()
