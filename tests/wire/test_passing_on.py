"""What is passed on to a controller that is away, that takes less, or whose client has gone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_broker.apis import forwarding
from fencepost_broker.controller.channel import pending_requests
from fencepost_broker.controller.channel.pending_requests import LOSSES_MAX
from fencepost_broker.server.links.controller_link import ControllerLink
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated import alter_configs as alter
from fencepost_protocol.generated import incremental_alter_configs as changes
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

from tests.support.broker import ANSWER_SECONDS, Client, RunningBroker
from tests.support.cluster import CONTROLLER_ID, Cluster, running_cluster
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
TOPIC, BROKER, BROKER_LOGGER = 2, 4, 8
SOON_MS = 300
CONTROLLERS_MAX = 20_000
"""Bytes of a request."""


def creation(name: str, size: int = 0) -> CreateTopicsRequest:
    """One topic, with a setting of so many bytes."""
    configs = [CreatableTopicConfig("cleanup.policy", "x" * size)] if size else []
    return CreateTopicsRequest(topics=[CreatableTopic(name, 1, 1, configs=configs)])


def link_of(broker: RunningBroker) -> ControllerLink:
    assert broker.process.links is not None
    link = broker.process.links.controller
    assert link is not None
    return link


async def has_nothing_to_ask(broker: RunningBroker) -> None:
    await until(lambda: not len(link_of(broker)._outbox))


def another(broker: RunningBroker) -> Client:
    return Client(f"{broker.host}:{broker.port}")


# -- what the controller does not take ----------------------------------------------------------


async def with_a_small_controller(cluster: Cluster) -> RunningBroker:
    return await cluster.start_broker(1, **{"socket.request.max.bytes": 2 * CONTROLLERS_MAX})


async def test_what_the_controller_closes_the_connection_for_costs_the_broker_nothing() -> None:
    limit: dict[str, Any] = {"socket_request_max_bytes": CONTROLLERS_MAX}
    async with running_cluster(0, **limit) as cluster:
        broker = await with_a_small_controller(cluster)
        epoch = broker.server.registration.epoch
        (told,) = (await broker.ask(creation("large", CONTROLLERS_MAX + 5000), 7)).topics
        assert told.error_code == ErrorCode.REQUEST_TIMED_OUT
        assert f"each of {LOSSES_MAX} times" in told.error_message
        assert "socket.request.max.bytes" in told.error_message
        assert not (await broker.ask(creation("small"), 7)).topics[0].error_code
        known = cluster.controller.image.cluster.brokers[1]
        assert (known.epoch, known.fenced) == (epoch, False)


async def test_heartbeats_go_before_what_the_controller_closes_the_connection_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or the broker would not be heard any more."""
    monkeypatch.setattr(pending_requests, "LOSSES_MAX", 1 << 30)
    limit: dict[str, Any] = {"socket_request_max_bytes": CONTROLLERS_MAX}
    async with running_cluster(0, **limit) as cluster:
        broker = await with_a_small_controller(cluster)
        asking = asyncio.ensure_future(broker.ask(creation("large", CONTROLLERS_MAX + 5000), 7))
        metrics = cluster.controller.metrics
        await until(lambda: metrics.connections_dropped)

        def heartbeats() -> int:
            counts: dict[str, int] = metrics.snapshot()["requests"]["BrokerHeartbeat"]["versions"]
            return sum(counts.values())

        enough = heartbeats() + 2
        await until(lambda: heartbeats() >= enough)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await broker.disconnect()
        await has_nothing_to_ask(broker)


async def test_what_fits_at_a_broker_fits_into_an_envelope() -> None:
    limit: dict[str, Any] = {"socket_request_max_bytes": CONTROLLERS_MAX}
    async with running_cluster(1, **limit) as cluster:
        empty = len(encode_request(creation("t", 1000), 7, 1, "test")) - 4 - 1000
        request = creation("t", CONTROLLERS_MAX - empty - 2)
        size = len(encode_request(request, 7, 1, "test")) - 4
        assert CONTROLLERS_MAX - 10 <= size <= CONTROLLERS_MAX
        answer = await cluster.broker(1).ask(request, 7)
        assert answer.topics[0].error_code == ErrorCode.INVALID_CONFIG, "the controller's word"


# -- when time is over --------------------------------------------------------------------------


async def test_who_cannot_be_answered_is_dropped_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that nobody has read before its time is over, and cannot be read."""
    async with running_cluster(1) as cluster:
        broker = cluster.broker(1)
        await cluster.stop(CONTROLLER_ID)
        monkeypatch.setattr(forwarding, "GIVE_UP_MS", SOON_MS)
        reader, writer = await asyncio.open_connection(broker.host, broker.port)
        frame = encode_request(creation("t"), 7, 1, "test")
        frame[-10:] = b"\xff" * 10
        writer.write(frame)
        await until(lambda: broker.process.socket_server.parked_count == 1)
        async with another(broker) as second:
            answer = await second.ask(creation("t"), 7)
        assert answer.topics[0].error_code == ErrorCode.REQUEST_TIMED_OUT
        async with asyncio.timeout(ANSWER_SECONDS):
            assert await reader.read() == b""
        writer.close()
        await cluster.start_controller()


async def test_loggers_that_were_changed_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_cluster(1) as cluster:
        broker = cluster.broker(1)
        await cluster.stop(CONTROLLER_ID)
        monkeypatch.setattr(forwarding, "GIVE_UP_MS", SOON_MS)
        resources = [
            changes.AlterConfigsResource(kind, name, [changes.AlterableConfig(key, 0, value)])
            for kind, name, key, value in (
                (TOPIC, "t", "retention.ms", "1"),
                (BROKER_LOGGER, "1", "server", "DEBUG"),
                (BROKER, "1", "num.partitions", "1"),
            )
        ]
        answer = await broker.ask(changes.IncrementalAlterConfigsRequest(resources), 1)
        late = ErrorCode.REQUEST_TIMED_OUT
        assert [
            (each.resource_type, each.resource_name, each.error_code) for each in answer.responses
        ] == [(TOPIC, "t", late), (BROKER_LOGGER, "1", 0), (BROKER, "1", late)]
        assert broker.server.log_levels.told()["server"] == "debug"
        await cluster.start_controller()


async def test_what_a_client_that_has_gone_wanted_is_not_asked() -> None:
    async with running_cluster(1) as cluster:
        broker = cluster.broker(1)
        await cluster.stop(CONTROLLER_ID)
        gone = asyncio.ensure_future(broker.ask(creation("of-a-client-that-has-gone"), 7))
        await until(lambda: len(link_of(broker)._outbox) == 1)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        await broker.disconnect()
        await has_nothing_to_ask(broker)
        assert broker.process.socket_server.parked_count == 0
        await cluster.start_controller()
        assert not (await broker.ask(creation("later"), 7)).topics[0].error_code
        assert set(cluster.controller.image.topics.by_name) == {"later"}


async def test_no_more_wait_for_the_controller_than_may_wait_at_all() -> None:
    """Each of them keeps what it has sent."""
    async with running_cluster(1, requests_parked_max=1) as cluster:
        broker = cluster.broker(1)
        await cluster.stop(CONTROLLER_ID)
        waits = asyncio.ensure_future(broker.ask(creation("waits"), 7))
        await until(lambda: len(link_of(broker)._outbox) == 1)
        async with another(broker) as second:
            (told,) = (await second.ask(creation("too-many"), 7)).topics
            assert told.error_code == ErrorCode.REQUEST_TIMED_OUT
            assert "requests.parked.max" in told.error_message
            resources = [
                changes.AlterConfigsResource(kind, name, [changes.AlterableConfig(key, 0, value)])
                for kind, name, key, value in (
                    (TOPIC, "t", "retention.ms", "1"),
                    (BROKER_LOGGER, "1", "server", "DEBUG"),
                )
            ]
            answer = await second.ask(changes.IncrementalAlterConfigsRequest(resources), 1)
            codes = [each.error_code for each in answer.responses]
            assert codes == [ErrorCode.REQUEST_TIMED_OUT, 0]
        assert len(link_of(broker)._outbox) == 1
        await cluster.start_controller()
        assert not (await waits).topics[0].error_code
        assert set(cluster.controller.image.topics.by_name) == {"waits"}


# -- whose settings -----------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2])
async def test_settings_of_a_broker_are_changed_by_that_broker(version: int) -> None:
    """As in Apache Kafka: only who reads a setting knows whether it can be."""
    named = ["2", "1", "77", "x", ""]
    async with running_cluster(2) as cluster:
        request: Any
        if version == 1:
            request = changes.IncrementalAlterConfigsRequest(
                [
                    changes.AlterConfigsResource(
                        BROKER, name, [changes.AlterableConfig("message.max.bytes", 0, "5000")]
                    )
                    for name in named
                ]
            )
        else:
            request = alter.AlterConfigsRequest(
                [
                    alter.AlterConfigsResource(
                        BROKER, name, [alter.AlterableConfig("message.max.bytes", "5000")]
                    )
                    for name in named
                ]
            )
        answer = await cluster.broker(2).ask(request, version)
        assert [each.resource_name for each in answer.responses] == named
        refused = ErrorCode.INVALID_REQUEST
        codes = [each.error_code for each in answer.responses]
        # To leave min.insync.replicas out would take it away, which is not allowed (KIP-966).
        of_all = ErrorCode.NONE if version == 1 else ErrorCode.INVALID_CONFIG
        assert codes == [0, refused, refused, refused, of_all]
        assert "this is broker 2" in answer.responses[1].error_message
        configs = cluster.controller.image.configs.by_resource
        assert {name for kind, name in configs if kind == BROKER} == {"2", ""}
