"""A recording is replayed to another broker, and what it answers otherwise is told by name."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_broker.config.setting import Value
from fencepost_broker.server.embedded.cluster import Cluster
from fencepost_broker.server.proxy.proxy import Proxy
from fencepost_client import Consumer, NetworkError, Producer
from fencepost_client.config.settings import GroupProtocol
from fencepost_client.recordings import replay_async
from fencepost_client.recordings.file import (
    EntryKind,
    RecordingError,
    read_entries,
    write_entry,
    write_start,
)
from fencepost_client.recordings.replaying import Replay, replay_file
from fencepost_client.recordings.result import Difference

from tests.support.sessions import ORDERS, play_session
from tests.support.waiting import until

EAGER: Mapping[str, Value] = {
    "group.consumer.min.heartbeat.interval.ms": 50,
    "group.consumer.heartbeat.interval.ms": 50,
}
pytestmark = pytest.mark.asyncio


async def recorded(path: Path) -> Path:
    async with Broker(topics={ORDERS: 2}) as broker:
        with broker.record(path):
            await play_session(broker.bootstrap)
    return path


async def differences(path: Path, broker: Broker) -> list[Difference]:
    """Replay without patience."""
    return (await replay_file(path, Replay(broker.bootstrap, retry_s=0.05))).differences


async def test_a_fresh_broker_answers_as_recorded(tmp_path: Path) -> None:
    path = await recorded(tmp_path / "session.fprec")
    async with Broker(topics={ORDERS: 2}) as broker:
        # other ids than those of the recording
        async with Producer(broker.bootstrap, enable_idempotence=True) as other:
            await other.send_and_wait("other", b"")
        found = await replay_file(path, Replay(broker.bootstrap))
    assert found.differences == []
    assert found.notes == []
    assert found.compared > 20


@pytest.mark.parametrize(
    ("api", "code", "path", "recorded_code"),
    [
        (
            "Produce",
            "MESSAGE_TOO_LARGE",
            "responses[orders].partition_responses[0].error_code",
            "NONE",
        ),
        ("EndTxn", "PRODUCER_FENCED", "error_code", "NONE"),
        ("JoinGroup", "GROUP_AUTHORIZATION_FAILED", "error_code", "MEMBER_ID_REQUIRED"),
        (
            "OffsetCommit",
            "GROUP_AUTHORIZATION_FAILED",
            "topics[orders].partitions[0].error_code",
            "NONE",
        ),
    ],
)
async def test_another_answer_is_found(
    api: str, code: str, path: str, recorded_code: str, tmp_path: Path
) -> None:
    recording = await recorded(tmp_path / "session.fprec")
    async with Broker(topics={ORDERS: 2}) as broker:
        broker.faults.error(code, api=api, times=1)
        found = await differences(recording, broker)
    first = found[0]
    assert (first.api, first.path) == (api, path)
    assert (first.recorded, first.got) == (recorded_code, code)


async def test_a_lost_record_is_found(tmp_path: Path) -> None:
    recording = await recorded(tmp_path / "session.fprec")
    async with Broker(topics={ORDERS: 2}) as broker:
        broker.faults.change_request({"topics[].partitions[].fetch_offset": 1}, api="Fetch")
        found = await differences(recording, broker)
    assert {each.api for each in found} == {"Fetch"}
    (lost,) = (each for each in found if "records" in each.path)
    assert lost.path == "responses[orders].partitions[0].records[0]"
    assert lost.got == "nothing"


async def test_an_error_that_passes_is_waited_for(tmp_path: Path) -> None:
    recording = await recorded(tmp_path / "session.fprec")
    async with Broker(topics={ORDERS: 2}) as broker:
        rule = broker.faults.error("COORDINATOR_LOAD_IN_PROGRESS", api="InitProducerId", times=2)
        assert await replay_async(recording, broker.bootstrap) == []
        assert rule.fired == 2


async def test_offsets_are_relative_to_those_of_the_first_produce(tmp_path: Path) -> None:
    path = tmp_path / "produce.fprec"
    async with Broker(topics={ORDERS: 2}) as broker:
        with broker.record(path):
            async with Producer(broker.bootstrap) as producer:
                await producer.send_and_wait(ORDERS, b"1", partition=0)
                await producer.send_and_wait(ORDERS, b"2", partition=0)
    async with Broker(topics={ORDERS: 2}) as broker:
        async with Producer(broker.bootstrap) as producer:
            await producer.send_and_wait(ORDERS, b"before", partition=0)
        found = await replay_file(path, Replay(broker.bootstrap))
    assert found.differences == []
    assert found.notes == ["offsets of orders-0 are recorded ones +1"]


async def test_hidden_logins_are_told_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "login.fprec"
    async with Broker(topics={ORDERS: 2}, users={"ada": "engine-42"}) as broker:
        with broker.record(path):
            async with Producer(
                broker.bootstrap, security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN",
                sasl_plain_username="ada", sasl_plain_password="engine-42",
            ) as producer:  # fmt: skip
                await producer.send_and_wait(ORDERS, b"1", partition=0)
    async with Broker(topics={ORDERS: 2}) as broker:
        found = await replay_file(path, Replay(broker.bootstrap))
    assert found.differences == []
    assert found.notes == [
        "SaslHandshake was left out: it has secrets, which recordings hide",
        "SaslAuthenticate was left out: it has secrets, which recordings hide",
    ]


async def test_an_api_that_the_target_does_not_serve_is_a_difference(tmp_path: Path) -> None:
    path = tmp_path / "unknown.fprec"
    with path.open("wb") as file:
        write_start(file)
        write_entry(file, EntryKind.REQUEST, 1, 0, bytes.fromhex("0034 0001 00000007 ffff 00"))
        write_entry(file, EntryKind.ANSWER, 1, 1, bytes.fromhex("00000007 00"))
    async with Broker() as broker:
        found = await replay_async(path, broker.bootstrap)
    assert list(map(str, found)) == [
        "request 1, Vote: recorded Vote v1, got the target does not serve it"
    ]


async def test_nothing_is_sent_of_a_damaged_file(tmp_path: Path) -> None:
    path = await recorded(tmp_path / "session.fprec")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    async with Broker() as broker:
        with pytest.raises(RecordingError, match="checksum"):
            await replay_async(path, broker.bootstrap)


async def test_what_a_cluster_has_answered_is_replayed_to_one_broker(tmp_path: Path) -> None:
    path = tmp_path / "cluster.fprec"
    async with (
        Cluster(brokers=2, topics={ORDERS: 2}) as cluster,
        Proxy(cluster.bootstrap, record=path) as proxy,
    ):
        async with Producer(proxy.bootstrap) as producer:
            for partition in range(2):
                await producer.send_and_wait(ORDERS, b"1", partition=partition)
        await play_session(proxy.bootstrap)
    async with Broker(topics={ORDERS: 2}) as broker:
        found = await replay_file(path, Replay(broker.bootstrap))
    assert found.differences == []
    assert found.compared > 20


@pytest.mark.parametrize("seed", range(8))
async def test_a_recording_with_wrong_content_is_replayed_to_its_end(
    seed: int, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    path = await recorded(tmp_path / "session.fprec")
    with path.open("rb") as file:
        entries = list(read_entries(file))
    with path.open("wb") as out:
        write_start(out)
        for each in entries:
            data = bytearray(each.data)
            if data and chance.random() < 0.3:
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            write_entry(out, each.kind, chance.choice([each.connection] * 9 + [1]), 0, data)
    async with Broker(topics={ORDERS: 2}) as broker:
        replay = Replay(broker.bootstrap, timeout_s=0.1, retry_s=0.05)
        found = await replay_file(path, replay)
    assert found.requests == sum(each.kind is EntryKind.REQUEST for each in entries)


async def test_a_target_that_cannot_be_reached_is_an_error(tmp_path: Path) -> None:
    path = await recorded(tmp_path / "session.fprec")
    with pytest.raises(NetworkError, match="No connection to 127"):
        await replay_async(path, "127.0.0.1:1")


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_members_of_a_group_get_the_same_partitions(
    protocol: GroupProtocol, tmp_path: Path
) -> None:
    path = tmp_path / "group.fprec"
    async with Broker(topics={ORDERS: 2}, settings=EAGER) as broker:
        with broker.record(path):
            async with Producer(broker.bootstrap) as producer:
                for number in range(4):
                    await producer.send_and_wait(ORDERS, b"1", partition=number % 2)
            await share(broker.bootstrap, protocol)
    async with Broker(topics={ORDERS: 2}, settings=EAGER) as broker:
        assert await replay_async(path, broker.bootstrap) == []


async def share(bootstrap: str, protocol: GroupProtocol) -> None:
    """Read with two members until each has a partition."""

    def member() -> Consumer:
        return Consumer(
            bootstrap, group_id="both", group_protocol=protocol, auto_offset_reset="earliest",
            client_id="member", heartbeat_interval_ms=100,
        )  # fmt: skip

    async with member() as first, member() as second:
        first.subscribe([ORDERS])
        reading = [asyncio.ensure_future(read(first))]
        await until(lambda: len(first.assignment()) == 2)
        second.subscribe([ORDERS])
        reading.append(asyncio.ensure_future(read(second)))
        await until(lambda: len(second.assignment()) == 1)
        await until(lambda: len(first.assignment()) == 1)
        for task in reading:
            task.cancel()


async def read(consumer: Consumer) -> None:
    """Read until cancelled."""
    async for _ in consumer:
        pass
