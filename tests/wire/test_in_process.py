"""``fencepost_broker.Broker``: brokers in a user's own loop."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import fencepost_broker
import pytest
from fencepost_broker import (
    Broker,
    ListenError,
    SettingsError,
    StateClock,
    TopicRefusedError,
)
from fencepost_broker.server.process import BrokerProcess
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from fencepost_protocol.generated.describe_producers import DescribeProducersRequest, TopicRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.support.broker import Client
from tests.support.waiting import until

LONG_MS = 600_000


async def topics_of(client: Client) -> dict[str, int]:
    answer = await client.ask(MetadataRequest(topics=None), 9)
    return {topic.name: len(topic.partitions) for topic in answer.topics}


async def earliest(client: Client, topic: str) -> int:
    wanted = ListOffsetsTopic(topic, [ListOffsetsPartition(0, timestamp=-2)])
    answer = await client.ask(ListOffsetsRequest(-1, topics=[wanted]), 7)
    return int(answer.topics[0].partitions[0].offset)


def fetch_from(offset: int, topic: str) -> FetchRequest:
    partition = FetchPartition(0, fetch_offset=offset, partition_max_bytes=1 << 20)
    return FetchRequest(
        max_wait_ms=LONG_MS, min_bytes=1, topics=[FetchTopic(topic, partitions=[partition])]
    )


@pytest.mark.asyncio
async def test_brokers_share_a_loop_and_nothing_else() -> None:
    async with (
        Broker(topics={"a": 3}) as one,
        Broker(topics=["b:2:retention.ms=5"], settings={"node.id": 7}) as other,
    ):
        assert one.bootstrap != other.bootstrap
        async with Client(one.bootstrap) as first, Client(other.bootstrap) as second:
            assert await topics_of(first) == {"a": 3}
            assert await topics_of(second) == {"b": 2}
            one.create_topic("c", 4)
            assert await topics_of(first) == {"a": 3, "c": 4}


@pytest.mark.asyncio
async def test_settings_of_a_new_topic_may_be_numbers_and_bools() -> None:
    given = {"retention.ms": 5, "min.cleanable.dirty.ratio": 0.25, "preallocate": True}
    async with Broker() as broker, Client(broker.bootstrap) as client:
        broker.create_topic("t", configs={**given, "segment.ms": None})
        wanted = DescribeConfigsResource(2, "t", [*given, "segment.ms"])
        answer = await client.ask(DescribeConfigsRequest([wanted]), 4)
        found = {each.name: each.value for each in answer.results[0].configs}
        default = found.pop("segment.ms")
        assert found == {
            "retention.ms": "5", "min.cleanable.dirty.ratio": "0.25", "preallocate": "true",
        }  # fmt: skip
        assert default == "604800000"
        with pytest.raises(TopicRefusedError, match=r"retention\.ms=1\.5"):
            broker.create_topic("u", configs={"retention.ms": 1.5})


@pytest.mark.asyncio
async def test_a_broker_that_was_stopped_goes_on_where_it_was() -> None:
    broker = Broker()
    async with broker:
        before = broker.bootstrap
        broker.create_topic("t")
        async with Client(before) as client:
            assert await client.produce("t", 0, b"one") == 0
    async with broker:
        assert broker.bootstrap == before
        async with Client(before) as client:
            assert await client.produce("t", 0, b"two") == 1


@pytest.mark.asyncio
async def test_it_keeps_what_it_has_in_a_directory(tmp_path: Path) -> None:
    for expected in (0, 1):
        async with (
            Broker(data_dir=tmp_path, topics={"t": 1}) as broker,
            Client(broker.bootstrap) as client,
        ):
            assert await client.produce("t", 0, b"one") == expected


@pytest.mark.asyncio
async def test_a_fetch_that_waits_is_answered_when_the_broker_stops() -> None:
    broker = Broker(topics={"t": 1})
    await broker.start()
    async with Client(broker.bootstrap) as client:
        waiting = asyncio.ensure_future(client.ask(fetch_from(0, "t"), 11))
        async with Client(broker.bootstrap) as other:  # it is parked once another was answered
            await topics_of(other)
        await broker.stop()
        answer = await waiting
        assert answer.responses[0].partitions[0].error_code == 0
    with pytest.raises(OSError, match="onnect"):
        async with Client(broker.bootstrap):
            pass


@pytest.mark.asyncio
async def test_what_cannot_be_is_refused_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with Broker() as running:
        port = running.addresses[0].port
        with pytest.raises(ListenError, match=f"port {port} of 127.0.0.1: the port is in use"):
            await Broker(port=port, data_dir=tmp_path).start()
    with pytest.raises(TopicRefusedError, match="topic 'a b'"):
        await Broker(port=port, data_dir=tmp_path, topics={"a b": 1}).start()
    async with Broker(port=port, data_dir=tmp_path):  # neither the port nor the lock is held
        pass
    with pytest.raises(SettingsError, match=r"did you mean num\.partitions"):
        Broker(settings={"num.partitons": 3})


@pytest.mark.asyncio
async def test_time_that_moves_by_hand_lets_records_go() -> None:
    clock = StateClock(manual=True, at_ms=1_000_000)
    async with (
        Broker(topics=[f"t:1:retention.ms={LONG_MS}"], clock=clock) as broker,
        Client(broker.bootstrap) as client,
    ):
        await client.produce("t", 0, b"one", timestamp_ms=clock.now_ms())
        broker.clock.advance(ms=LONG_MS)
        assert await earliest(client, "t") == 0
        broker.clock.advance(minutes=10)
        assert await earliest(client, "t") == 1
        assert clock.now_ms() == 1_000_000 + LONG_MS + 600_000


@pytest.mark.asyncio
async def test_records_from_before_stay_until_they_are_old_by_the_clock() -> None:
    clock = StateClock(manual=True, at_ms=1_700_000_000_000)
    topic = "t:1:retention.ms=3600000"
    async with Broker(topics=[topic], clock=clock) as broker, Client(broker.bootstrap) as client:
        await client.produce("t", 0, b"one", timestamp_ms=clock.now_ms())
        clock.jump(hours=-1)
        clock.advance(ms=4_200_000)
        assert await earliest(client, "t") == 0
        clock.advance(hours=1)
        assert await earliest(client, "t") == 1
        clock.jump(hours=-100)
        await client.produce("t", 0, b"two", timestamp_ms=clock.now_ms())
        clock.advance(ms=4_200_000)
        assert await earliest(client, "t") == 2, "looks at retention come as often as before"


@pytest.mark.asyncio
async def test_time_that_moves_by_hand_lets_producers_go() -> None:
    async def producers() -> list[int]:
        request = DescribeProducersRequest([TopicRequest("t", [0])])
        answer = await client.ask(request, 0)
        return [each.producer_id for each in answer.topics[0].partitions[0].active_producers]

    clock = StateClock(manual=True)
    async with Broker(topics={"t": 1}, clock=clock) as broker, Client(broker.bootstrap) as client:
        producer = {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0}
        await client.produce("t", 0, b"one", timestamp_ms=clock.now_ms(), **producer)
        assert await producers() == [5]
        clock.advance(hours=23)
        assert await producers() == [5]
        clock.advance(hours=2)
        assert await producers() == []


@pytest.mark.asyncio
async def test_a_clock_serves_several_brokers_and_wakes_them_in_order() -> None:
    clock = StateClock(manual=True, at_ms=0)
    woken: list[tuple[str, int]] = []

    class Waking:
        def __init__(self, name: str, *deadlines: int) -> None:
            self.name, self.deadlines = name, list(deadlines)

        def deadline_ms(self) -> int | None:
            return self.deadlines[0] if self.deadlines else None

        def expire(self) -> None:
            while self.deadlines and self.deadlines[0] <= clock.now_ms():
                woken.append((self.name, clock.now_ms()))
                del self.deadlines[0]

        def catch_up(self) -> None:
            woken.append((f"{self.name} is up", clock.now_ms()))

        def jumped(self, by_ms: int) -> None:
            raise AssertionError

        def resumed(self) -> None:
            raise AssertionError

    one, other = Waking("one", 5, 30), Waking("other", 7, 20)
    clock.follow(one)
    clock.follow(other)
    clock.advance(ms=20)
    assert woken == [
        *(("one", 5), ("other", 7), ("other", 20)),
        *(("one is up", 20), ("other is up", 20)),
    ]
    clock.unfollow(one)
    clock.advance(ms=20)
    assert woken[5:] == [("other is up", 40)]
    with pytest.raises(ValueError, match="back"):
        clock.advance(ms=-1)


@pytest.mark.asyncio
async def test_time_that_runs_can_be_moved_too() -> None:
    clock = StateClock()
    before = clock.now_ms()
    clock.advance(days=1)
    day_ms = 24 * 3600 * 1000
    assert day_ms <= clock.now_ms() - before < 2 * day_ms


def test_the_package_alone_is_cheap_to_import() -> None:
    code = "import sys, fencepost_broker; print('asyncio' in sys.modules); fencepost_broker.Broker"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    exported: Any = fencepost_broker
    with pytest.raises(AttributeError, match="no attribute 'Brokers'"):
        _ = exported.Brokers
    assert set(fencepost_broker.__all__) <= set(dir(fencepost_broker))


def test_a_broker_without_faults_imports_no_types_of_them() -> None:
    code = (
        "import asyncio, sys, fencepost_broker\n"
        "async def main():\n"
        "    async with fencepost_broker.Broker(topics={'t': 1}): print('msgspec' in sys.modules)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.asyncio
async def test_a_broker_that_cannot_go_on_stops_and_says_why() -> None:
    """Its controller is configured anew, and gives it no producer ids any more (KIP-730)."""
    async with Broker(settings={"process.roles": "controller", "node.id": 100}) as controller:
        joining = {
            "process.roles": "broker",
            "controller.quorum.bootstrap.servers": controller.bootstrap,
        }
        async with Broker(settings=joining, log_level="error") as broker:
            await controller.stop()
            allowed = {"controller.producer.ids.brokers": "2"}
            controller.settings = controller.settings.with_overrides(allowed)
            await controller.start()
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                async with Client(broker.bootstrap) as client:
                    for _ in range(1000):
                        await client.ask(InitProducerIdRequest(None), 4)
            await until(lambda: bool(broker.failure))
            assert f"broker 1 stops: the controller at {controller.bootstrap}" in broker.failure
            with pytest.raises(RuntimeError, match="not running"):
                broker.stats()


@pytest.mark.asyncio
async def test_who_stops_a_broker_that_stops_by_itself_waits_for_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broker = Broker(log_level="error")
    await broker.start()
    address = broker.addresses[0]
    begun, may_go_on = asyncio.Event(), asyncio.Event()
    stop = BrokerProcess.stop

    async def stop_late(process: BrokerProcess) -> bool:
        begun.set()
        await may_go_on.wait()
        return await stop(process)

    monkeypatch.setattr(BrokerProcess, "stop", stop_late)
    broker.on_failure("a test says so")
    assert broker.failure == "a test says so"
    stopping = asyncio.ensure_future(broker.stop())
    try:
        await begun.wait()
        assert not stopping.done()
    finally:
        may_go_on.set()
    assert await stopping, "all is closed"
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(address.host, address.port)
