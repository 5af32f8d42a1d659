"""Scripts for both group coordinators: what members of streams groups can do, and must not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from fencepost_protocol.generated.share_group_heartbeat import ShareGroupHeartbeatRequest
from fencepost_protocol.generated.streams_group_describe import StreamsGroupDescribeRequest
from fencepost_protocol.generated.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatRequestEndpoint,
    Topology,
)

from tests.conformance.groups_peer import KafkaSide
from tests.machine.coordinator.group.streams.members import (
    SIMPLE,
    beat,
    internal,
    join,
    part,
    tasks,
    topology,
)
from tests.support.waiting import polled

ALL = {"0": [0, 1, 2, 3]}
GROUP_RESOURCE = 32


class StreamsSide(KafkaSide):
    """What a ``KafkaSide`` can; texts of a status and the order of endpoints do not count."""

    def plain(self, value: Any) -> Any:
        found = super().plain(value)
        if isinstance(found, dict):
            found.pop("status_detail", None)
            for name in ("partitions_by_user_endpoint", "results"):
                if found.get(name):
                    found[name] = sorted(found[name], key=repr)
        return found

    def ask_until_made(self, heartbeat: StreamsGroupHeartbeatRequest) -> Any:
        """Send a heartbeat until the coordinator knows of the internal topics."""
        answers: list[Any] = []

        def is_made() -> bool:
            answers.append(self.ask(heartbeat))
            return not answers[-1].status

        polled(is_made, "internal topics are not created")
        return answers[-1]

    def set(self, group: str, name: str, value: int) -> Any:
        """Change a setting of a group."""
        config = AlterableConfig(name, 0, str(value))
        resource = AlterConfigsResource(GROUP_RESOURCE, group, [config])
        return self.ask(IncrementalAlterConfigsRequest([resource]), 1)


def described(side: KafkaSide, group: str) -> Any:
    return side.ask(StreamsGroupDescribeRequest([group]))


def requests_that_are_refused(side: StreamsSide, group: str) -> Iterator[Any]:
    task = tasks({"0": [0]})
    for request in (
        join("", group=group), join("m", group=""), join("m", group=group, rebalance_timeout_ms=-1),
        join("m", group=group, topology=None), join("m", group=group, active_tasks=None),
        join("m", group=group, active_tasks=task), join("m", group=group, standby_tasks=task),
        join("m", group=group, warmup_tasks=task), join("m", group=group, rack_id=""),
        join("m", group=group, instance_id="i"), beat("m", -2, group=group, instance_id="i"),
        beat("m", -3, group=group), beat("m", -1, group=group), beat("m", 4, group=group),
    ):  # fmt: skip
        yield side.ask(request)
    regular: Topology = topology(replace(part("0"), source_topic_regex=["t.*"]))
    yield side.ask(join("m", regular, group=group))
    yield described(side, group)
    yield side.ask(join("m", group=group))
    yield side.ask(beat("m", 2, group=group, topology=SIMPLE))
    yield side.ask(join("n", topology(part("0", "u")), group=group))
    yield side.ask(join("n", topology(part("0", "t"), epoch=1), group=group))


def a_rebalance(side: StreamsSide, group: str) -> Iterator[Any]:
    yield side.ask(join("a", group=group))
    yield side.ask(beat("a", 2, group=group))
    yield side.ask(beat("a", 2, ALL, group=group))
    yield side.ask(join("b", group=group))
    yield side.ask(beat("b", 3, {}, group=group))
    yield side.ask(beat("a", 2, group=group))
    yield described(side, group)
    yield side.ask(beat("a", 2, ALL, group=group))
    yield side.ask(beat("a", 2, {"0": [0, 1]}, group=group))
    yield side.ask(beat("b", 3, {}, group=group))
    yield described(side, group)
    for epoch, owned in ((2, {"0": [0]}), (2, {"0": [3]}), (2, None), (1, None), (9, None)):
        yield side.ask(beat("a", epoch, owned, group=group))
    yield side.ask(join("a", group=group))
    yield side.ask(join("a", process="other", group=group))
    yield side.ask(beat("a", 4, group=group, rack_id="r"))
    yield side.ask(beat("a", 5, group=group, rebalance_timeout_ms=7000))
    yield side.ask(beat("a", -1, group=group))
    yield described(side, group)
    yield side.ask(beat("b", -1, group=group))
    yield side.ask(beat("b", -1, group=group))
    yield described(side, group)
    yield side.ask(join("c", topology(part("0", "u")), group=group))
    yield side.ask(DeleteGroupsRequest([group]))
    yield described(side, group)


def endpoints(side: StreamsSide, group: str) -> Iterator[Any]:
    one, two = (StreamsGroupHeartbeatRequestEndpoint(*each) for each in (("h", 80), ("i", 81)))
    given: dict[str, Any] = {"group": group, "endpoint_information_epoch": -1}
    yield side.ask(join("m", **given, user_endpoint=one))
    yield side.ask(beat("m", 2, **{**given, "endpoint_information_epoch": 0}))
    yield side.ask(join("n", **given, user_endpoint=two))
    yield side.ask(beat("m", 2, ALL, **{**given, "endpoint_information_epoch": 0}))
    yield side.ask(beat("m", 2, {"0": [0, 1]}, **{**given, "endpoint_information_epoch": 2}))
    yield side.ask(beat("n", 3, {}, **{**given, "endpoint_information_epoch": 1}))
    yield side.ask(beat("m", 3, {"0": [0, 1]}, **{**given, "endpoint_information_epoch": 2}))
    yield side.ask(beat("m", 3, group=group, shutdown_application=True))
    yield side.ask(beat("n", 3, group=group))


def topics_that_are_wrong(side: StreamsSide, group: str) -> Iterator[Any]:
    yield side.ask(join("m", topology(part("0", "nowhere")), group=group))
    yield side.ask(beat("m", 2, group=group))
    yield described(side, group)
    yield side.ask(beat("m", -1, group=group))
    yield side.ask(DeleteGroupsRequest([group]))
    together = topology(part("0", "t", "u", together=[([0, 1], [])]))
    yield side.ask(join("m", together, group=group))
    yield described(side, group)


def internal_topics(side: StreamsSide, group: str) -> Iterator[Any]:
    again, store = f"{group}-again", f"{group}-store-changelog"
    told = topology(
        part("0", "t", "u", sinks=[again]),
        part(
            "1", "u", repartitions=[internal(again, cleanup_policy="delete")],
            changelogs=[internal(store, cleanup_policy="compact")], together=[([0], [0])],
        ),
    )  # fmt: skip
    yield side.ask(join("m", told, group=group))
    yield side.ask_until_made(beat("m", 2, {}, group=group))
    yield side.ask(beat("m", 3, {**ALL, "1": [0, 1]}, group=group))
    yield described(side, group)


def standby_tasks(side: StreamsSide, group: str) -> Iterator[Any]:
    told = topology(part("0", "t", changelogs=[internal(f"{group}-store")]))
    yield side.set(group, "streams.num.standby.replicas", 1)
    yield side.ask(join("a", told, group=group))
    yield side.ask_until_made(beat("a", 2, {}, group=group))
    yield side.ask(join("b", told, group=group))
    yield side.ask(beat("a", 3, ALL, group=group))
    yield side.ask(beat("a", 3, {"0": [0, 1]}, group=group))
    yield side.ask(beat("a", 4, {"0": [0, 1]}, group=group))
    yield side.ask(beat("b", 4, {}, {"0": [0, 1]}, group=group))
    yield described(side, group)
    yield side.set(group, "streams.num.standby.replicas", 0)
    yield side.ask(beat("b", 4, group=group))
    yield side.set(group, "streams.num.standby.replicas", 3)


def _commit(group: str, member: str, epoch: int, number: int = 0) -> OffsetCommitRequest:
    row = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(number, 5)])
    return OffsetCommitRequest(group, epoch, member, None, topics=[row])


def offsets_of_members(side: StreamsSide, group: str) -> Iterator[Any]:
    yield side.ask(join("a", group=group))
    yield side.ask(join("b", group=group))
    yield side.ask(beat("a", 2, ALL, group=group))
    yield side.ask(beat("a", 2, {"0": [0, 1]}, group=group))
    yield side.ask(beat("b", 3, {}, group=group))
    for epoch, member, number, version in (
        (3, "a", 0, 9), (2, "a", 0, 9), (2, "a", 3, 9), (2, "b", 2, 9), (3, "a", 0, 8),
        (9, "a", 0, 9), (-1, "", 0, 9), (3, "x", 0, 9),
    ):  # fmt: skip
        yield side.ask(_commit(group, member, epoch, number), version)
    topics = [
        OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(0)]) for name in ("t", "u")
    ]
    yield side.ask(OffsetDeleteRequest(group, topics))
    yield side.ask(DeleteGroupsRequest([group]))


def groups_of_other_types(side: StreamsSide, group: str) -> Iterator[Any]:
    consumer = ConsumerGroupHeartbeatRequest(
        group, "x", 0, rebalance_timeout_ms=5000, subscribed_topic_names=["t"], topic_partitions=[]
    )
    yield side.ask(_commit(group, "", -1), 9)
    yield side.ask(join("m", group=group))
    yield side.ask(consumer)
    yield side.ask(ShareGroupHeartbeatRequest(group, "x", 0, subscribed_topic_names=["t"]))
    yield side.ask(DescribeGroupsRequest([group]))
    listed = side.ask(ListGroupsRequest(types_filter=["streams"])).groups
    yield [each for each in listed if each.group_id == group]
    yield side.ask(beat("m", -1, group=group))
    yield side.ask(consumer)
    yield side.ask(DeleteGroupsRequest([group]))
    yield side.ask(consumer)
    yield side.ask(join("m", group=group))


GROUP_CASES = [
    requests_that_are_refused,
    a_rebalance,
    endpoints,
    topics_that_are_wrong,
    internal_topics,
    standby_tasks,
    offsets_of_members,
    groups_of_other_types,
]
