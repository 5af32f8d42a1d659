"""Quotas and SCRAM users over the wire: decided by the controller, known to every broker."""

from __future__ import annotations

import pytest
from fencepost_protocol.generated.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    OpData,
)
from fencepost_protocol.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from fencepost_protocol.generated.describe_client_quotas import DescribeClientQuotasRequest
from fencepost_protocol.generated.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
)

from tests.support.broker import RunningBroker, memory_disk, running_broker
from tests.support.cluster import running_cluster
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio


def set_quota(client_id: str, rate: float, *, dry: bool = False) -> AlterClientQuotasRequest:
    entity = [AlterClientQuotasRequestEntityData("client-id", client_id)]
    changes = [OpData("producer_byte_rate", rate)]
    return AlterClientQuotasRequest([AlterClientQuotasRequestEntryData(entity, changes)], dry)


ALICE = AlterUserScramCredentialsRequest(
    upsertions=[ScramCredentialUpsertion("alice", 1, 4096, b"salt", b"salted password")]
)


async def told(broker: RunningBroker, version: int = 1) -> dict[str | None, float]:
    answer = await broker.ask(DescribeClientQuotasRequest(), version)
    return {each.entity[0].entity_name: each.values[0].value for each in answer.entries}


@pytest.mark.parametrize("version", [0, 1])
async def test_what_is_set_is_told_also_after_a_restart(version: int) -> None:
    disk = memory_disk()
    async with running_broker(disk=disk) as broker:
        answer = await broker.ask(set_quota("a", 1000.0), version)
        assert [each.error_code for each in answer.entries] == [0]
        await broker.ask(set_quota("b", 1000.0, dry=True), version)
        assert await told(broker, version) == {"a": 1000.0}
        answer = await broker.ask(ALICE, 0)
        assert [(each.user, each.error_code) for each in answer.results] == [("alice", 0)]
    async with running_broker(disk=disk) as broker:
        assert await told(broker, version) == {"a": 1000.0}
        answer = await broker.ask(DescribeUserScramCredentialsRequest(None), 0)
        (alice,) = answer.results
        assert (alice.user, alice.credential_infos[0].iterations) == ("alice", 4096)


async def test_every_broker_of_a_cluster_knows() -> None:
    async with running_cluster(2) as cluster:
        answer = await cluster.broker(1).ask(set_quota("a", 7.0), 1)
        assert [each.error_code for each in answer.entries] == [0]
        answer = await cluster.broker(2).ask(ALICE, 0)
        assert [each.error_code for each in answer.results] == [0]
        images = [each.server.image for each in cluster.brokers]
        await until(
            lambda: all(each.client_quotas.records and each.scram.credentials for each in images)
        )
        for broker in cluster.brokers:
            assert await told(broker) == {"a": 7.0}


async def test_quotas_are_told_in_kafkas_order() -> None:
    keys = ["producer_byte_rate", "consumer_byte_rate", "request_percentage"]
    async with running_broker() as broker:
        entity = AlterClientQuotasRequestEntityData("user", "amy")
        changes = [OpData(key, 10.0) for key in reversed(keys)]
        entry = AlterClientQuotasRequestEntryData([entity], changes)
        await broker.ask(AlterClientQuotasRequest(entries=[entry]), 1)
        [found] = (await broker.ask(DescribeClientQuotasRequest(), 1)).entries
        assert [each.key for each in found.values] == keys
