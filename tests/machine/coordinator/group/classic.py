"""Shorter ways to join, sync, beat and leave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.leave_group import LeaveGroupRequest, MemberIdentity
from fencepost_protocol.generated.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

from tests.machine.coordinator.group.offsets import subscription
from tests.machine.coordinator.group.partition import Partition, code

SESSION_MS = 10_000
REBALANCE_MS = 30_000


class Classic:
    """Clients of one classic group."""

    def __init__(self, partition: Partition, group_id: str = "g") -> None:
        self.partition = partition
        self.group_id = group_id

    def join(
        self,
        member: str = "",
        instance: str | None = None,
        version: int = 9,
        *,
        protocols: Iterable[str] = ("range",),
        topics: Iterable[str] = ("t",),
        protocol_type: str = "consumer",
        client: str = "c",
        **fields: Any,
    ) -> Any:
        """The answer, or the token of a request that waits."""
        values = {"session_timeout_ms": SESSION_MS, "rebalance_timeout_ms": REBALANCE_MS} | fields
        request = JoinGroupRequest(
            self.group_id,
            member_id=member,
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocols=[JoinGroupRequestProtocol(name, subscription(topics)) for name in protocols],
            **values,
        )
        answer = self.partition.ask(request, version, client)
        if not isinstance(answer, int):
            answer.encode(version, bytearray())
        return answer

    def join_twice(self, **arguments: Any) -> tuple[str, Any]:
        """As new clients do: for an id, and with the id. The id, and what came of it."""
        first = self.join(**arguments)
        assert code(first.error_code) == "MEMBER_ID_REQUIRED"
        return first.member_id, self.join(first.member_id, **arguments)

    def sync(
        self,
        member: str,
        generation: int,
        assignment: Mapping[str, bytes] | None = None,
        instance: str | None = None,
        **fields: Any,
    ) -> Any:
        values = {"protocol_type": "consumer", "protocol_name": "range"} | fields
        request = SyncGroupRequest(self.group_id, generation, member, instance, **values)
        request.assignments = [
            SyncGroupRequestAssignment(*each) for each in (assignment or {}).items()
        ]
        return self.partition.ask(request)

    def beat(self, member: str, generation: int, instance: str | None = None) -> str:
        request = HeartbeatRequest(self.group_id, generation, member, instance)
        return code(self.partition.ask(request).error_code)

    def leave(self, *members: tuple[str, str | None]) -> list[str]:
        request = LeaveGroupRequest(self.group_id)
        request.members = [MemberIdentity(*each) for each in members]
        answer = self.partition.ask(request)
        assert answer.error_code == 0
        return [code(each.error_code) for each in answer.members]

    def reply(self, token: Any) -> Any:
        """What a request got that has waited."""
        return self.partition.replies[token]

    @property
    def state(self) -> str:
        group = self.partition.group(self.group_id)
        return "Dead" if group is None else str(group.state_name)

    def stable(self, *instances: str | None) -> list[str]:
        """A group of so many members (instance ids, None for a dynamic one) in generation 1."""
        ids: list[str] = []
        tokens = []
        for instance in instances:
            if instance is None:
                member, token = self.join_twice()
                ids.append(member)
            else:
                token = self.join(instance=instance)
            tokens.append(token)
        self.partition.advance(self.partition.settings.group_initial_rebalance_delay_ms)
        answers = [self.reply(token) for token in tokens]
        members = [each.member_id for each in answers]
        leader = answers[0].leader
        self.sync(leader, 1, {each: each.encode() for each in members})
        for member in members:
            if member != leader:
                self.sync(member, 1)
        assert self.state == "Stable"
        return members
