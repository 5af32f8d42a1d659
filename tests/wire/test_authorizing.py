"""Requests held to what their user may do: sessions, answers that come later, brokers between.

What each API answers is compared with Apache Kafka (`test_authorizer_differential.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fencepost_broker import Broker
from fencepost_broker.network.worker_threads import WorkerThreads
from fencepost_client import (
    AuthorizationError,
    Producer,
    Transaction,
)
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import read_response_head
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnTopic
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.conformance.envelope_cases import CASES
from tests.support.broker import Client, RunningBroker, log_in, running_broker
from tests.support.cluster import running_cluster
from tests.support.cluster_processes import FENCEPOST
from tests.support.secure_kafka import PASSWORD, plain_module
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

AUTHORIZER = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
TOPIC, GROUP, CLUSTER, TRANSACTION = 2, 3, 4, 5
READ, WRITE, DELETE = 3, 4, 6
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def rule(kind: int, name: str, operation: int, effect: int = 3) -> AclCreation:
    return AclCreation(kind, name, 3, "User:ANONYMOUS", "*", operation, effect)


def allow(broker: RunningBroker, *rules: AclCreation) -> None:
    answer = broker.command(CreateAclsRequest([*rules]))
    assert not any(each.error_code for each in answer.results), answer


def take_back(broker: RunningBroker, name: str) -> None:
    broker.command(DeleteAclsRequest([DeleteAclsFilter(TOPIC, name, 3, None, None, 1, 1)]))


@pytest_asyncio.fixture
async def broker() -> AsyncIterator[RunningBroker]:
    """Whose topic ``mine`` may be written and read, and ``shut`` not."""
    async with running_broker(AUTHORIZER, topics={"mine": 1, "shut": 1}) as running:
        allow(running, rule(TOPIC, "mine", READ), rule(TOPIC, "mine", WRITE))
        yield running


def produce(*topics: str, acks: int = -1) -> ProduceRequest:
    data = [PartitionProduceData(0, bytes(build_batch(None, [b"v"], 0)))]
    return ProduceRequest(
        acks=acks, timeout_ms=30_000,
        topic_data=[TopicProduceData(each, partition_data=data) for each in topics],
    )  # fmt: skip


def fetch(*topics: str, **more: Any) -> FetchRequest:
    wanted = [FetchPartition(0, partition_max_bytes=1 << 20)]
    named = [FetchTopic(each, partitions=wanted) for each in topics]
    return FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1 << 20, topics=named, **more)


def fetched(answer: Any) -> dict[str, int]:
    return {each.topic: each.partitions[0].error_code for each in answer.responses}


async def test_a_session_loses_and_gets_back_what_it_may_read(broker: RunningBroker) -> None:
    answer = await broker.ask(fetch("mine", "shut", session_epoch=0), 12)
    assert fetched(answer) == {"mine": 0, "shut": DENIED}
    session = answer.session_id
    assert session
    answer = await broker.ask(fetch(session_id=session, session_epoch=1), 12)
    assert fetched(answer) == {"shut": DENIED}
    take_back(broker, "mine")
    answer = await broker.ask(fetch(session_id=session, session_epoch=2), 12)
    assert fetched(answer) == {"mine": DENIED, "shut": DENIED}
    allow(broker, rule(TOPIC, "mine", READ), rule(TOPIC, "shut", READ))
    answer = await broker.ask(fetch(session_id=session, session_epoch=3), 12)
    assert fetched(answer) == {"mine": 0, "shut": 0}


async def test_an_answer_that_comes_later_has_what_is_denied(tmp_path: Path) -> None:
    settings = {**AUTHORIZER, "allow.everyone.if.no.acl.found": "true", "fsync": "always"}
    topics = {"mine": 1, "shut": 1}
    async with (
        Broker(data_dir=tmp_path, topics=topics, settings=settings) as running,
        Client(running.bootstrap) as client,
    ):
        await client.ask(CreateAclsRequest([rule(TOPIC, "shut", 2, effect=2)]), 3)
        answer = await client.ask(produce("shut", "mine"), 9)
    codes = {each.name: each.partition_responses[0].error_code for each in answer.responses}
    assert codes == {"mine": 0, "shut": DENIED}


async def test_a_large_request_is_held_to_it_too(broker: RunningBroker) -> None:
    allow(broker, *(rule(GROUP, f"mine-{number}", DELETE) for number in range(3)))
    names = [f"shut-{number}" for number in range(2000)] + [f"mine-{each}" for each in range(3)]
    answer = await broker.ask(DeleteGroupsRequest(names), 2)
    codes = {each.group_id: each.error_code for each in answer.results}
    assert len(codes) == 2003
    denied = {name for name, code in codes.items() if code == ErrorCode.GROUP_AUTHORIZATION_FAILED}
    assert denied == set(names[:2000])


async def test_a_large_answer_is_encoded_before_it_is_let_go(
    broker: RunningBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that empties it would leave out what the loop has not come to yet."""

    def run(_: WorkerThreads, work: Callable[[], None], done: Callable[[], None]) -> None:
        work()
        asyncio.get_running_loop().call_soon(done)

    mine = [f"mine-{number}" for number in range(300)]
    allow(broker, *(rule(GROUP, name, DELETE) for name in mine))
    monkeypatch.setattr(WorkerThreads, "run", run)
    names = [*mine, *(f"shut-{number}" for number in range(2000))]
    answer = await broker.ask(DeleteGroupsRequest(names), 2)
    assert {each.group_id for each in answer.results} == set(names)


async def test_acks_0_and_no_right_close_the_connection(broker: RunningBroker) -> None:
    with pytest.raises(asyncio.IncompleteReadError):
        await broker.ask(produce("mine", "shut", acks=0), 9)
    await broker.disconnect()
    answer = await broker.ask(fetch("mine", session_epoch=-1), 12)
    assert answer.responses[0].partitions[0].high_watermark == 1  # as in Kafka, the rest is done


async def test_the_controller_asks_about_who_is_behind_an_envelope() -> None:
    settings = {"process.roles": "controller", "super.users": "User:ANONYMOUS", **AUTHORIZER}
    async with Broker(settings=settings) as running, Client(running.bootstrap) as client:
        answer = await client.ask(CASES["alice"][0], 0)
    data = memoryview(bytes(answer.response_data))
    _, body = read_response_head(data, ApiKey.DELETE_TOPICS, 6)
    response, _ = DeleteTopicsResponse.decode(data, 6, body)
    assert [each.error_code for each in response.responses] == [DENIED]


async def test_who_may_not_act_for_the_cluster_is_no_broker() -> None:
    settings = {"process.roles": "controller", **AUTHORIZER}
    async with Broker(settings=settings) as running, Client(running.bootstrap) as client:
        answer = await client.ask(CASES["alice"][0], 0)
        words = [*FENCEPOST, "up", "--port", "0", "-c", "process.roles=broker"]
        words += ["-c", "node.id=2", "--log-level", "error"]
        words += ["-c", f"controller.quorum.bootstrap.servers={running.bootstrap}"]
        process = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE)
        _, told = await process.communicate()
    assert answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert process.returncode == 1
    assert told.decode().splitlines() == [
        "fencepost up: the controller does not register this broker: CLUSTER_AUTHORIZATION_FAILED"
    ]


async def test_a_super_user_needs_no_acl() -> None:
    settings = {"super.users": "User:ANONYMOUS", **AUTHORIZER}
    async with running_broker(settings, topics={"shut": 1}) as running:
        allow(running, rule(TOPIC, "shut", 2, effect=2))
        answer = await running.ask(fetch("shut", session_epoch=-1), 12)
    assert fetched(answer) == {"shut": 0}


async def test_an_answer_to_one_user_is_kept_for_no_other() -> None:
    """The same bytes, asked by who may see all topics first."""
    settings: dict[str, Any] = {
        **AUTHORIZER,
        "super.users": "User:alice",
        "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": ("PLAIN",),
        "plain.sasl.jaas.config": plain_module("alice", "bob"),
    }
    async with running_broker(settings, topics={"shut": 1}) as broker:
        seen = []
        for user in ("alice", "bob"):
            async with Client(f"{broker.host}:{broker.port}") as client:
                await log_in(client, user, PASSWORD)
                answers = [await client.ask(MetadataRequest(None), 12) for _ in range(2)]
                seen.append([[topic.name for topic in each.topics] for each in answers])
    assert seen == [[["shut"], ["shut"]], [[], []]]


async def write(transaction: Transaction) -> None:
    async with transaction:
        await transaction.send("mine", b"v")
        await transaction.send("shut", b"v")


async def test_a_transaction_meets_what_it_may_not_do(broker: RunningBroker) -> None:
    bootstrap = f"127.0.0.1:{broker.port}"
    producer = Producer(bootstrap, transactional_id="mine")
    with pytest.raises(AuthorizationError) as refused:
        await producer.start()
    assert refused.value.code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    await producer.close()
    allow(broker, rule(TRANSACTION, "mine", WRITE))
    async with Producer(bootstrap, transactional_id="mine") as producer:
        with pytest.raises(AuthorizationError) as refused:
            await write(producer.transaction())
        assert refused.value.code == DENIED
    answer = await broker.ask(fetch("mine", session_epoch=-1), 12)
    assert fetched(answer) == {"mine": 0}


async def test_what_is_registered_early_is_asked_about(broker: RunningBroker) -> None:
    """KIP-609: topics in EndTxn, and a group in AddPartitionsToTxn."""
    allow(broker, rule(TRANSACTION, "mine", WRITE))
    added = AddPartitionsToTxnRequest([], "mine", 0, 0, [AddPartitionsToTxnTopic("mine", [0])])
    added.group_id = "shut"
    answer = await broker.ask(added, 3)
    (topic,) = answer.results_by_topic_v3_and_below
    codes = [each.partition_error_code for each in topic.results_by_partition]
    assert codes == [ErrorCode.GROUP_AUTHORIZATION_FAILED]
    end = EndTxnRequest("mine", 0, 0, True, [EndTxnTopic("mine", [0]), EndTxnTopic("shut", [0])])
    assert (await broker.ask(end, 3)).error_code == DENIED


async def test_what_a_broker_passes_on_the_controller_refuses() -> None:
    settings: dict[str, Any] = {
        "authorizer_class_name": AUTHORIZER["authorizer.class.name"],
        "allow_everyone_if_no_acl_found": True,
    }
    resources = [
        AlterConfigsResource(2, name, [AlterableConfig("retention.ms", 0, "7")])
        for name in ("open", "shut")
    ]
    async with running_cluster(1, **settings) as cluster:
        broker = cluster.broker(1)
        for name in ("open", "shut"):
            await cluster.create(name)
        await broker.ask(CreateAclsRequest([rule(TOPIC, "shut", 2, effect=2)]), 3)
        await until(lambda: bool(broker.server.image.acls.by_id))
        altered = await broker.ask(IncrementalAlterConfigsRequest(resources), 1)
        deleted = await broker.ask(DeleteTopicsRequest(topic_names=["open", "shut"]), 5)
    assert {each.resource_name: each.error_code for each in altered.responses} == {
        "open": 0,
        "shut": DENIED,
    }
    assert {each.name: each.error_code for each in deleted.responses} == {"open": 0, "shut": DENIED}
