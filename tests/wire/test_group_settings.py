"""Settings of single groups (KIP-848) and of all: what coordinators make of them while they run.

What is answered is compared with Apache Kafka in tests/conformance/test_dynamic_settings.py.
"""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.coordinator.group.machine import GroupCoordinator
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.server.clock import StateClock
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

from tests.support.broker import Client, RunningBroker, running_broker
from tests.support.config_script import BROKER, DELETE, GROUP, OF_GROUPS, SET, Look, outcome

pytestmark = pytest.mark.asyncio

SESSION, HEARTBEAT, INTERVAL = OF_GROUPS


async def change(client: Client, kind: int, name: str, setting: str, value: str | None) -> None:
    operation = DELETE if value is None else SET
    resource = AlterConfigsResource(kind, name, [AlterableConfig(setting, operation, value)])
    answer = (await client.ask(IncrementalAlterConfigsRequest([resource]), 1)).responses[0]
    assert answer.error_code == ErrorCode.NONE, answer.error_message


async def beat(client: Client, group: str, epoch: int = 0) -> Any:
    first: dict[str, Any] = {
        "rebalance_timeout_ms": 1000, "subscribed_topic_names": ["t"], "topic_partitions": [],
    }  # fmt: skip
    request = ConsumerGroupHeartbeatRequest(group, "me", epoch, **({} if epoch else first))
    answer = await client.ask(request, 1)
    assert not answer.error_code, answer.error_message
    return answer


async def members(client: Client, group: str) -> int:
    answer = await client.ask(ConsumerGroupDescribeRequest([group]), 0)
    return len(answer.groups[0].members)


def machines(broker: RunningBroker) -> list[GroupCoordinator]:
    shards = broker.coordinators.shards.values()
    return [each.machine for each in shards if isinstance(each.machine, GroupCoordinator)]


async def test_a_group_has_timeouts_of_its_own() -> None:
    clock = StateClock(manual=True)
    async with running_broker(topics={"t": 1}, clock=clock) as broker:
        await broker.ask(FindCoordinatorRequest("own", 0), 2)
        epochs = {group: (await beat(broker, group)).member_epoch for group in ("own", "other")}
        await change(broker, GROUP, "own", SESSION, "50000")
        await change(broker, GROUP, "own", HEARTBEAT, "7000")
        intervals = [
            (await beat(broker, group, epoch)).heartbeat_interval_ms
            for group, epoch in epochs.items()
        ]
        assert intervals == [7000, 5000]
        clock.advance(ms=45_000)
        assert [await members(broker, group) for group in epochs] == [1, 0]
        clock.advance(ms=5_000)
        assert [await members(broker, group) for group in epochs] == [0, 0]
        await change(broker, GROUP, "own", HEARTBEAT, None)
        assert (await beat(broker, "own")).heartbeat_interval_ms == 5000


async def test_coordinators_that_are_there_go_by_the_brokers_new_settings() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        await broker.ask(FindCoordinatorRequest("g", 0), 2)
        assert machines(broker)
        for value in ("7", None):
            await change(broker, BROKER, "", "group.consumer.assignment.interval.ms", value)
            assert {
                each.state.settings.group_consumer_assignment_interval_ms
                for each in machines(broker)
            } == {int(value or 1000)}


async def test_settings_that_another_broker_has_written_are_left_out() -> None:
    """Apache Kafka knows more of them, and may have had other bounds."""
    async with running_broker(topics={"t": 1}) as broker:
        broker.server.image.configs.by_resource[ResourceType.GROUP, "g"] = {
            SESSION: "x", HEARTBEAT: "1", "share.session.timeout.ms": "5",
        }  # fmt: skip
        look = Look(GROUP, "g", OF_GROUPS)
        code, told = await outcome(broker.ask, look, "no logger")
        assert code == ErrorCode.NONE
        assert {name: value for name, value, *_ in told} == {
            SESSION: "45000", HEARTBEAT: "5000", INTERVAL: "1000",
        }  # fmt: skip
        await broker.ask(FindCoordinatorRequest("g", 0), 2)
        assert (await beat(broker, "g")).member_epoch
