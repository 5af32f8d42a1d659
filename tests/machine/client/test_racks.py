"""Racks of members and replicas (KIP-881); ranges are compared with Apache Kafka's elsewhere."""

from __future__ import annotations

import pytest
from fencepost_client import TopicPartition
from fencepost_client.consumer.assignors import ASSIGNORS
from fencepost_client.consumer.group_members import Member
from fencepost_client.consumer.group_protocol import Holding, Subscription, write_subscription
from fencepost_client.metadata.cluster import Cluster
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import PartitionCounts, PartitionRacks
from fencepost_protocol.generated.join_group import JoinGroupResponse, JoinGroupResponseMember
from fencepost_protocol.generated.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

from tests.machine.client.harness.classic_member import NOTHING, member, synced
from tests.machine.client.scripts import Script

BY_RANGE, STICKY = ASSIGNORS["range"], ASSIGNORS["sticky"]


def racks(*each: str) -> list[frozenset[str]]:
    """Racks of partitions, a letter for each replica."""
    return [frozenset(letters) for letters in each]


def assigned(assignor: str, members: list[Member], counts: dict[str, int], **of: str) -> object:
    """Who gets which partitions; ``of`` has the racks of each topic's."""
    found = {topic: racks(*words.split()) for topic, words in of.items()}
    told = ASSIGNORS[assignor].assign(members, counts, found)
    return {name: " ".join(f"{t}{p}" for t, p in sorted(parts)) for name, parts in told.items()}


def one(name: str, rack: str | None, *owned: str, topics: tuple[str, ...] = ("t",)) -> Member:
    holding = Holding(tuple(TopicPartition(each[0], int(each[1:])) for each in owned), 1)
    return Member(name, None, topics, holding, rack)


@pytest.mark.parametrize("assignor", ["range", "sticky"])
def test_members_get_what_is_near(assignor: str) -> None:
    members = [one("a", "y"), one("b", "x")]
    near = {"a": "t1 t3", "b": "t0 t2"}
    assert assigned(assignor, members, {"t": 4}, t="x y x y") == near
    assert assigned(assignor, members, {"t": 4}, t="x x x x") in (
        {"a": "t2 t3", "b": "t0 t1"},
        {"a": "t0 t1", "b": "t2 t3"},
        {"a": "t0 t2", "b": "t1 t3"},
    ), "it is even all the same"


@pytest.mark.parametrize("assignor", ["range", "sticky"])
@pytest.mark.parametrize("of", ["xy xy xy xy", "z z y y"])
def test_racks_that_make_no_difference_change_nothing(assignor: str, of: str) -> None:
    rack = {"xy xy xy xy": "x", "z z y y": "elsewhere"}[of]
    members = [one("a", rack), one("b", None)]
    without = [one("a", None), one("b", None)]
    assert assigned(assignor, members, {"t": 4}, t=of) == assigned(assignor, without, {"t": 4})


def test_topics_that_are_joined_stay_together() -> None:
    members = [one("a", "y", topics=("t", "u")), one("b", "x", topics=("t", "u"))]
    told = assigned("range", members, {"t": 2, "u": 2}, t="x y", u="xy xy")
    assert told == {"a": "t1 u1", "b": "t0 u0"}


def test_a_member_keeps_what_is_far_unless_another_is_nearer() -> None:
    members = [one("a", "x", "t0", "t1"), one("b", "y", "t2", "t3")]
    assert assigned("sticky", members, {"t": 4}, t="x z y z") == {"a": "t0 t1", "b": "t2 t3"}
    assert assigned("sticky", members, {"t": 4}, t="x y y x") == {"a": "t0 t3", "b": "t1 t2"}


def test_where_members_read_different_topics_racks_decide_between_equals() -> None:
    members = [one("a", "x", topics=("t", "u")), one("b", "y")]
    assert assigned("sticky", members, {"t": 2, "u": 0}, t="y x") == {"a": "t1", "b": "t0"}


def test_racks_come_from_brokers() -> None:
    cluster = Cluster(Backoff(lambda: 0.5, 1, 1))
    parts = [
        MetadataResponsePartition(0, 1, 1, 0, [1, 2]),
        MetadataResponsePartition(0, 0, 1, 0, [2, 3]),
    ]
    brokers = [
        MetadataResponseBroker(number, "h", number, rack)
        for number, rack in ((1, "x"), (2, "y"), (3, None))
    ]
    cluster.answered(
        MetadataResponse(0, brokers, topics=[MetadataResponseTopic(0, "t", partitions=parts)]), 0
    )
    assert cluster.racks_of(["t", "gone"]) == {"t": racks("y", "xy")}


@pytest.mark.parametrize("rack", [None, "x"])
def test_the_leader_asks_for_racks_if_a_member_has_one(rack: str | None) -> None:
    told = JoinGroupResponse(
        0, 0, 3, "consumer", "range", "me", False, "me",
        [JoinGroupResponseMember("me", None, write_subscription(Subscription(("t",), rack=rack)))],
    )  # fmt: skip
    script = Script([told, synced()], counts={"t": 2})
    made = member("range", rack="mine")
    script.play(made.join(NOTHING))
    assert b"mine" in script.asked[0].protocols[0].metadata
    kinds = [
        type(step) for step in script.steps if isinstance(step, PartitionCounts | PartitionRacks)
    ]
    assert kinds == [PartitionCounts, PartitionRacks][: 1 if rack is None else 2]
