"""Members of a consumer group, shorter than their requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequestTopicPartitions,
)

from tests.machine.coordinator.group.partition import Partition, code

REBALANCE_MS = 60_000


class Consumers:
    """Clients of one consumer group."""

    def __init__(self, partition: Partition, group_id: str = "g") -> None:
        self.partition = partition
        self.group_id = group_id

    def ask(self, member: str, epoch: int, version: int = 1, **fields: Any) -> Any:
        request = ConsumerGroupHeartbeatRequest(self.group_id, member, epoch, **fields)
        answer = self.partition.ask(request, version)
        answer.encode(version, bytearray())
        return answer

    def join(self, member: str, *topics: str, version: int = 1, **fields: Any) -> Any:
        """The first heartbeat."""
        values: dict[str, Any] = {
            "rebalance_timeout_ms": REBALANCE_MS,
            "topic_partitions": [],
            "subscribed_topic_names": list(topics),
        }
        return self.ask(member, 0, version, **(values | fields))

    def beat(
        self,
        member: str,
        epoch: int,
        owned: Mapping[str, Iterable[int]] | None = None,
        **fields: Any,
    ) -> Any:
        """A later one; ``owned`` by topic is what the member says that it has."""
        if owned is not None:
            fields["topic_partitions"] = [
                ConsumerGroupHeartbeatRequestTopicPartitions(
                    self.partition.topics.ids[topic], list(numbers)
                )
                for topic, numbers in owned.items()
            ]
        return self.ask(member, epoch, **fields)

    def leave(self, member: str, epoch: int = -1, **fields: Any) -> Any:
        return self.ask(member, epoch, **fields)

    def given(self, answer: Any) -> dict[str, list[int]] | None:
        """The assignment in an answer by topic; None when there is none."""
        assert answer.error_code == 0, f"{code(answer.error_code)}: {answer.error_message}"
        if answer.assignment is None:
            return None
        names = {value: key for key, value in self.partition.topics.ids.items()}
        return {
            names[each.topic_id]: list(each.partitions)
            for each in answer.assignment.topic_partitions
        }

    def described(self) -> Any:
        (group,) = self.partition.ask(ConsumerGroupDescribeRequest([self.group_id])).groups
        return group

    @property
    def state(self) -> str:
        group = self.partition.group(self.group_id)
        return "Dead" if group is None else str(group.state_name)

    def settle(self, *members: str) -> dict[str, dict[str, list[int]]]:
        """Lets members beat, giving up what they must, until the group is stable."""
        self.partition.advance(1000)
        for _ in range(10):
            for member in members:
                known = self.partition.group(self.group_id).members[member]
                names = {value: key for key, value in self.partition.topics.ids.items()}
                owned = {
                    names[each]: sorted(numbers)
                    for each, numbers in known.assigned.items()
                    if each in names
                }
                self.beat(member, known.member_epoch, owned)
            if self.state == "Stable":
                break
        assert self.state == "Stable"
        names = {value: key for key, value in self.partition.topics.ids.items()}
        return {
            member: {
                names[each]: sorted(numbers)
                for each, numbers in self.partition.group(self.group_id)
                .members[member]
                .assigned.items()
            }
            for member in members
        }
