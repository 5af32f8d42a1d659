"""``fencepost topics|groups|configs`` against real brokers."""

from __future__ import annotations

import pytest
from fencepost_client import Consumer, Producer, ShareConsumer
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest

from tests.machine.coordinator.group.streams.members import beat, internal, join, part, topology
from tests.sdk.harness.commands import Shell
from tests.support.broker import Client
from tests.support.waiting import asked_until

pytestmark = pytest.mark.asyncio


async def test_topics(shell: Shell, bootstrap: str, topic: str) -> None:
    other = f"{topic}-other"
    [made] = await shell.json(
        "topics", "create", topic, "--partitions", "2", "--config", "retention.ms=60000"
    )
    assert (made["name"], made["partitions"]) == (topic, 2)
    assert made["configs"]["retention.ms"] == "60000"
    assert "TOPIC_ALREADY_EXISTS" in await shell.refused("topics", "create", topic, other)
    both = ("topics", "create", topic, other)
    assert (await shell.run(*both, "--if-not-exists"))[:2] == (0, "")
    while not {topic, other} <= set(await shell.lines("topics", "list")):
        pass  # brokers hear of it one after the other
    heading, *rows = await shell.lines("topics", "describe", topic)
    assert heading == "TOPIC PARTITION LEADER EPOCH REPLICAS IN SYNC OFFLINE"
    assert [row.split()[:2] for row in rows] == [[topic, "0"], [topic, "1"]]
    await shell.lines("topics", "grow", topic, "--partitions", "3")
    while len((await shell.json("topics", "describe", topic))[0]["partitions"]) != 3:
        pass
    async with Producer(bootstrap) as producer:
        await producer.send_and_wait(topic, b"", partition=1)
    assert (await shell.lines("topics", "offsets", topic))[2] == f"{topic} 1 0 1 1"
    [listed] = [each for each in await shell.json("topics", "list") if each["name"] == topic]
    assert listed["topic_id"] == made["topic_id"]
    await shell.lines("topics", "delete", topic, other)
    assert "UNKNOWN_TOPIC" in await shell.refused("topics", "delete", topic)
    assert (await shell.run("topics", "delete", topic, "--if-exists"))[:2] == (0, "")
    assert "INVALID_TOPIC_EXCEPTION" in await shell.refused("topics", "create", "a b")


async def test_groups(shell: Shell, bootstrap: str, topic: str) -> None:
    group = f"{topic}-group"
    await shell.lines("topics", "create", topic, "--partitions", "1")
    async with Producer(bootstrap) as producer:
        for timestamp_ms in (1000, 2000, 3000):
            await producer.send_and_wait(topic, b"", timestamp_ms=timestamp_ms)
    async with Consumer(
        bootstrap, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False
    ) as consumer:
        consumer.subscribe([topic])
        while not await consumer.getmany(timeout_ms=100, max_records=1):
            pass
        await consumer.commit()
        title, _, row = await shell.lines("groups", "describe", group)
        assert title.startswith(f"{group}: Stable, classic, 1 members, at broker ")
        assert row.startswith(f"{topic} 0 1 3 2 ")
        [member] = await shell.json("groups", "members", group)
        assert member["assignment"] == [{"topic": topic, "partition": 0}]
        assert (await shell.lines("groups", "members", group))[1].endswith(f" {topic}-0")
        reset = ("groups", "reset-offsets", group, "--topic", topic)
        err = await shell.refused(*reset, "--to-latest", "--execute")
        assert "has members" in err
    assert [group, "classic", "consumer", "Empty"] in [
        row.split()[:4] for row in await shell.lines("groups", "list", "--state", "Empty")
    ]
    lines = await shell.lines(*reset, "--to-earliest")
    assert lines[1:] == [f"{topic} 0 1 0", "nothing was changed; add --execute to apply"]
    for words, after in (
        (("--shift-by", "1"), 2), (("--to-time", "2500"), 2), (("--to-time", "9000"), 3),
        (("--to-earliest",), 0), (("--shift-by", "-5"), 0), (("--to-latest",), 3),
        (("--to-offset", "1", "--partition", "0"), 1),
    ):  # fmt: skip
        told = await shell.json(*reset, *words, "--execute")
        assert told["offsets"][0]["after"] == after, words
        described = await shell.json("groups", "describe", group)
        assert described["offsets"][0]["committed"] == after
    assert "no partition 7" in await shell.refused(*reset, "--to-latest", "--partition", "7")
    await shell.refused(*reset, code=2)
    await shell.refused("groups", "remove-members", group, code=2)
    delete_offsets = ("groups", "delete-offsets", group, "--topic")
    await shell.lines(*delete_offsets, topic)
    assert (await shell.json("groups", "describe", group))["offsets"] == []
    assert "no offsets of other" in await shell.refused(*delete_offsets, "other")
    await shell.lines("groups", "delete", group)
    assert "GROUP_ID_NOT_FOUND" in await shell.refused("groups", "delete", group)


async def test_streams_groups(shell: Shell, bootstrap: str, topic: str) -> None:
    group, other, changelog = f"{topic}-group", f"{topic}-other", f"{topic}-group-store-changelog"
    for name, partitions in ((topic, 2), (other, 1), (changelog, 2)):
        await shell.lines("topics", "create", name, "--partitions", str(partitions))
    await shell.lines(
        "configs", "alter", "group", group, "--set", "streams.initial.rebalance.delay.ms=0"
    )
    describe = ("groups", "describe", group)
    parts = topology(part("0", topic, other, changelogs=[internal(changelog)]))
    async with Client(bootstrap) as member:
        epoch = 0

        async def joins() -> bool:
            nonlocal epoch
            await member.ask(FindCoordinatorRequest(coordinator_keys=[group]), 4)
            joined = await member.ask(join("m", parts, "process", group), 0)
            epoch = joined.member_epoch
            return not joined.error_code

        await asked_until(joins)

        async def has_tasks() -> bool:
            nonlocal epoch
            told = await member.ask(beat("m", epoch, {"0": [0, 1]}, group=group), 0)
            epoch = told.member_epoch
            [seen] = await shell.json("groups", "members", group)
            return bool(seen["streams"]["tasks"]["active"])

        await asked_until(has_tasks)
        title, *rows = await shell.lines(*describe)
        assert title.startswith(f"{group}: Stable, streams, 1 members, at broker ")
        assert title.endswith(f", epoch {epoch}, assignment of epoch {epoch}, topology of epoch 0")
        assert rows[0] == "SUBTOPOLOGY SOURCES REPARTITION SINKS CHANGELOGS"
        assert rows[1].split() == ["0", ",".join(sorted((topic, other))), "-", changelog]
        assert [row.split()[:6] for row in rows[3:]] == [
            [topic, "0", "-", "0", "-", "m"],
            [topic, "1", "-", "0", "-", "m"],
            [other, "0", "-", "0", "-", "m"],
        ]
        heading, row = await shell.lines("groups", "members", group)
        assert heading == "MEMBER PROCESS CLIENT HOST EPOCH ACTIVE STANDBY WARMUP TARGET"
        assert row.split()[:2] == ["m", "process"]
        assert row.split()[4:] == [str(epoch), "0_0,0_1", "-", "-", "-"]
        await member.ask(beat("m", -1, group=group), 0)
    assert [group, "streams", "streams", "Empty"] in [
        row.split()[:4] for row in await shell.lines("groups", "list", "--type", "streams")
    ]
    reset = ("groups", "reset-offsets", group, "--topic", topic, "--to-latest", "--execute")
    assert [each["after"] for each in (await shell.json(*reset))["offsets"]] == [0, 0]
    described = await shell.json(*describe)
    assert [each["committed"] for each in described["offsets"]] == [0, 0]
    await shell.lines("groups", "delete-offsets", group, "--topic", topic)
    await shell.lines("groups", "delete", group)
    assert "GROUP_ID_NOT_FOUND" in await shell.refused("groups", "delete", group)


async def test_share_groups(shell: Shell, bootstrap: str, topic: str) -> None:
    group = f"{topic}-group"
    await shell.lines("topics", "create", topic, "--partitions", "1")
    await shell.lines(
        "configs", "alter", "group", group, "--set", "share.auto.offset.reset=earliest"
    )
    async with Producer(bootstrap) as producer:
        for _ in range(3):
            await producer.send_and_wait(topic, b"")
    describe, reset = (
        ("groups", "describe", group),
        ("groups", "reset-offsets", group, "--topic", topic),
    )
    async with ShareConsumer(bootstrap, group_id=group) as consumer:
        consumer.subscribe([topic])
        assert await consumer.getmany(timeout_ms=30_000)
        await consumer.commit()
        title, heading, row = await shell.lines(*describe)
        assert title.startswith(f"{group}: Stable, share, 1 members, at broker ")
        assert heading == "TOPIC PARTITION START LAG"
        assert row in (f"{topic} 0 3 0", f"{topic} 0 0 0")  # Apache Kafka moves the start later
        [member] = await shell.json("groups", "members", group)
        assert member["assignment"] == [{"topic": topic, "partition": 0}]
        assert "NON_EMPTY_GROUP" in await shell.refused(*reset, "--to-earliest", "--execute")
    assert [group, "share", "share"] in [
        row.split()[:3] for row in await shell.lines("groups", "list", "--type", "share")
    ]
    for words, after in ((("--to-offset", "2"), 2), (("--shift-by", "-1"), 1)):
        told = await shell.json(*reset, *words, "--execute")
        assert told["offsets"][0]["after"] == after
        [offset] = (await shell.json(*describe))["offsets"]
        assert (offset["start"], offset["lag"]) == (after, 3 - after)
    delete_offsets = ("groups", "delete-offsets", group, "--topic", topic)
    await shell.lines(*delete_offsets)
    assert (await shell.json(*describe))["offsets"] == []
    assert "UNKNOWN_TOPIC" in await shell.refused(*delete_offsets)
    await shell.lines("groups", "delete", group)
    assert "GROUP_ID_NOT_FOUND" in await shell.refused(*describe)


async def test_configs(shell: Shell, topic: str) -> None:
    await shell.lines("topics", "create", topic)
    resource = ("topic", topic)

    async def set_there() -> dict[str, str]:
        found = await shell.json("configs", "describe", *resource)
        return {each["name"]: each["value"] for each in found if each["source"] == "DYNAMIC_TOPIC"}

    while topic not in await shell.lines("topics", "list"):
        pass  # brokers hear of it one after the other
    assert await set_there() == {}
    changes = ("--set", "retention.ms=60000", "--append", "cleanup.policy=compact")
    await shell.lines("configs", "alter", *resource, *changes)
    while not (found := await set_there()):
        pass
    assert found == {"cleanup.policy": "delete,compact", "retention.ms": "60000"}
    lines = await shell.lines("configs", "describe", *resource, "--all")
    assert "retention.ms 60000 DYNAMIC_TOPIC" in lines
    assert "segment.bytes 1073741824 DEFAULT" in lines
    back = ("--default", "retention.ms", "--subtract", "cleanup.policy=compact", "--dry-run")
    await shell.lines("configs", "alter", *resource, *back)
    assert await set_there() == found
    assert f"TOPIC {topic}" in await shell.lines("configs", "list", "topic")
    assert "INVALID_CONFIG" in await shell.refused(
        "configs", "alter", *resource, "--set", "retention.ms=soon"
    )
    twice = ("--set", "retention.ms=1", "--default", "retention.ms")
    assert "twice" in await shell.refused("configs", "alter", *resource, *twice, code=2)
    assert "no change is given" in await shell.refused("configs", "alter", *resource, code=2)
    assert "not a broker id" in await shell.refused("configs", "describe", "broker", "x", code=2)
    assert "no broker 77" in await shell.refused("configs", "describe", "broker", "77")


async def test_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    err = await Shell("127.0.0.1:1", capsys).refused("topics", "list")
    assert "No connection to 127.0.0.1:1: connection refused" in err
    assert "host:port" in await Shell("a:b", capsys).refused("groups", "list", code=2)
