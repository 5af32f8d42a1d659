"""The partitions that a client may create and delete (KIP-599)."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.controller.mutation_quotas import MutationQuotas
from fencepost_broker.controller.ports import TopicCommand
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_client_quotas import AlterClientQuotasRequest
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState

from tests.machine.controller.cluster import Cluster
from tests.support.client_quotas import Names, entry

RATE = "controller_mutation_rate"
EXCEEDED = ErrorCode.THROTTLING_QUOTA_EXCEEDED
USER: Names = [("user", "u")]


def limited(rate: float, names: Names = USER) -> Cluster:
    cluster = Cluster().up(1)
    cluster.ask(AlterClientQuotasRequest([entry(names, **{RATE: rate})]))
    return cluster


def ask(
    cluster: Cluster, request: Message, *, strict: bool = True, user: str = "u", client: str = "c"
) -> Any:
    return cluster.ask(TopicCommand(user, client, strict, request))


def created(cluster: Cluster, *partitions: int, **who: Any) -> tuple[list[int], int]:
    names = [f"t{len(cluster.image.topics.by_name) + number}" for number in range(len(partitions))]
    topics = [CreatableTopic(name, count, 1) for name, count in zip(names, partitions, strict=True)]
    answer = ask(cluster, CreateTopicsRequest(topics), **who)
    return [each.error_code for each in answer.topics], answer.throttle_time_ms


def test_a_bucket_holds_eleven_seconds_and_fills_at_the_rate() -> None:
    cluster = limited(2.0)
    assert created(cluster, 22) == ([0], 0)
    assert created(cluster, 3) == ([0], 0), "it is empty, but nothing is owed"
    assert created(cluster, 1) == ([EXCEEDED], 1500)
    cluster.now_ms += 1499
    assert created(cluster, 1) == ([EXCEEDED], 1)
    cluster.now_ms += 1
    assert created(cluster, 1) == ([0], 0)
    cluster.now_ms += 3_600_000
    assert created(cluster, 30) == ([0], 0)
    assert created(cluster, 1) == ([EXCEEDED], 4000), "it holds no more than 22"


def test_one_request_is_refused_from_where_nothing_is_left() -> None:
    cluster = limited(1.0)
    assert created(cluster, 12, 5, 1) == ([0, EXCEEDED, EXCEEDED], 1000)
    assert len(cluster.image.topics.by_name) == 1


def test_an_old_client_is_told_to_wait_and_not_refused() -> None:
    cluster = limited(1.0)
    assert created(cluster, 12, strict=False) == ([0], 1000)
    assert created(cluster, 5, strict=False) == ([0], 6000)
    assert created(cluster, 1) == ([EXCEEDED], 6000)


@pytest.mark.parametrize(
    ("names", "user", "client", "shared"),
    [
        ([("user", "u")], "u", "d", True),
        ([("user", None)], "v", "c", False),
        ([("client-id", "c")], "v", "c", True),
        ([("user", "u"), ("client-id", None)], "u", "d", False),
    ],
)
def test_who_shares_a_bucket(names: Names, user: str, client: str, *, shared: bool) -> None:
    cluster = limited(1.0, names)
    created(cluster, 12)
    assert created(cluster, 1, user=user, client=client)[0] == ([EXCEEDED] if shared else [0])


def test_without_a_quota_nothing_is_counted() -> None:
    cluster = limited(1.0)
    created(cluster, 500, user="another")
    assert created(cluster, 1, user="another") == ([0], 0)


def test_deleted_partitions_count_as_created_ones_do() -> None:
    cluster = limited(1.0)
    created(cluster, 12, 3, user="another")
    first, second = cluster.image.topics.by_name
    request = DeleteTopicsRequest([DeleteTopicState(first), DeleteTopicState(second)])
    answer = ask(cluster, request)
    assert [each.error_code for each in answer.responses] == [0, EXCEEDED]
    assert answer.throttle_time_ms == 1000
    assert list(cluster.image.topics.by_name) == [second]


def test_a_clock_that_is_set_changes_nothing() -> None:
    cluster = limited(1.0)
    created(cluster, 13)
    for jump_ms in (3_600_000, -7_200_000):
        cluster.now_ms += jump_ms
        cluster.controller.jumped(jump_ms)
        assert created(cluster, 1) == ([EXCEEDED], 2000)


def test_full_buckets_are_forgotten() -> None:
    cluster = limited(1.0, [("user", None)])
    quotas = MutationQuotas(11_000)
    for number in range(3000):
        command = TopicCommand(f"user {number}", "c", True, CreateTopicsRequest())
        permits = quotas.permits(cluster.image, command, number * 1000)
        assert permits is not None
        permits.take(1)
        quotas.apply(permits.charged())
    assert len(vars(quotas)["_left"]) <= 1001
