"""A node on a disk that fails at any operation: a command is carried out or refused as a whole."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.server.broker_server import BrokerServer
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.log import UpperBound
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

from tests.machine.server.harness import Clock, started
from tests.machine.storage.harness import Faults, faulty_disk

OK, FULL = ErrorCode.NONE, ErrorCode.KAFKA_STORAGE_ERROR
WRITES = frozenset({"write", "replace", "rename", "remove", "make_folder", "truncate", "reserve"})
TIMES_MAX = 50


def create(name: str, partitions: int) -> Any:
    return CreateTopicsRequest(topics=[CreatableTopic(name, partitions, 1)])


def delete(name: str) -> Any:
    return DeleteTopicsRequest(topics=[DeleteTopicState(name)])


def grow(name: str, partitions: int) -> Any:
    return CreatePartitionsRequest([CreatePartitionsTopic(name, partitions, None)])


def configure(name: str, value: str) -> Any:
    config = AlterableConfig("max.message.bytes", 0, value)
    return IncrementalAlterConfigsRequest([AlterConfigsResource(2, name, [config])])


SCRIPT: list[Any] = [
    create("a", 2), ("a", 0, b"lost with its topic"), ("a", 1, b"this, too"),
    create("b", 1), ("b", 0, b"b"), delete("a"), create("a", 1), ("a", 0, b"kept"),
    grow("a", 3), ("a", 2, b"grown"), configure("a", "5000"), delete("b"), create("c", 1),
    ("c", 0, b"c"), delete("c"), create("c", 2), ("c", 1, b"again"),
]  # fmt: skip
EXPECTED = {
    "a": (3, "5000", [[b"kept"], [], [b"grown"]]),
    "c": (2, None, [[], [b"again"]]),
}


def code_of(answer: Any) -> ErrorCode:
    (result,) = next(
        getattr(answer, name)
        for name in ("topics", "responses", "results")
        if hasattr(answer, name)
    )
    return ErrorCode(result.error_code)


def act(node: BrokerServer, step: Any) -> ErrorCode:
    if not isinstance(step, tuple):
        return code_of(node.controller.command(step))
    topic, number, value = step
    partition = node.table.by_name[topic].partitions[number]
    batch = memoryview(build_batch(None, [value], Clock.now))
    return partition.log.append_as_leader(batch, partition.leader_epoch, Clock.now).error


def carry_out(node: BrokerServer, step: Any, faults: Faults, lasting: int) -> None:
    """Try a step until it is done; the disk is well again after so many failures."""
    for attempt in range(TIMES_MAX):
        code = act(node, step)
        if faults.failed >= lasting:
            faults.countdown = None
        if code is OK:
            return
        assert code is FULL, (step, code)
        node.maintain(node.context.clock.now_ms() + 1_000 * (attempt + 1))
    pytest.fail(f"{step} is never carried out")


def state(node: BrokerServer) -> dict[str, Any]:
    found = {}
    for name, topic in node.table.by_name.items():
        contents = []
        for partition in topic.partitions:
            result = partition.log.read(0, 1 << 20, UpperBound.LOG_END)
            assert not result.error
            data = b"".join(result.pieces or [])
            contents.append(
                [bytes(each.value or b"") for each in iter_records(data)] if data else []
            )
        setting = node.image.configs.of_topic(name).get("max.message.bytes")
        found[name] = (len(topic.partitions), setting, contents)
    return found


@pytest.mark.parametrize("torn_bytes", [0, 70])
@pytest.mark.parametrize("lasting", [1, 2, 5, 12])
def test_any_failure_of_the_disk_is_survived(lasting: int, torn_bytes: int) -> None:
    """So many operations fail, beginning with any one of them."""
    first = 0
    while True:
        faults = Faults(only=WRITES, torn_bytes=torn_bytes, lasting=True)
        memory = MemoryDisk()
        node = started(faulty_disk(memory, faults))
        faults.countdown = first
        for step in SCRIPT:
            carry_out(node, step, faults, lasting)
        faults.countdown = None
        for later_ms in (60_000, 120_000, 180_000):
            node.maintain(node.context.clock.now_ms() + later_ms)
        assert state(node) == EXPECTED, first
        memory.unlock()  # as after a crash
        node = started(memory, seed=2)
        assert state(node) == EXPECTED, f"{first}, after a crash"
        assert node.stop()
        assert state(started(memory, seed=3)) == EXPECTED, f"{first}, after a clean stop"
        if not faults.failed:
            break
        first += 1
    assert first > len(SCRIPT)
