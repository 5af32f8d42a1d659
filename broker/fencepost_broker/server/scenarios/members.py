"""Members of a group that send exactly what a scenario says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.leave_group import LeaveGroupRequest
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

from fencepost_broker.server.scenarios.wire import TOPIC, Connection

GROUP: Final = "readers"
SESSION_MS: Final = 10_000
AT_ONCE: Final = {"group.initial.rebalance.delay.ms": 0}
"""Settings with which a member that joins an empty group need not wait for others."""
_JOIN_DYNAMIC, _JOIN_STATIC, _SYNC, _HEARTBEAT, _COMMIT, _LEAVE = 2, 5, 3, 3, 7, 1
"""Versions of requests."""


class Member:
    """A member of the group, on a connection of its own."""

    def __init__(
        self, connection: Connection, instance: str | None = None, protocol: str = "range"
    ) -> None:
        self.connection = connection
        self._instance = instance
        self._protocol = protocol
        self.id = ""
        self.generation = -1

    async def join(self) -> None:
        """Join; answered when all members have joined again."""
        request = JoinGroupRequest(
            GROUP,
            SESSION_MS,
            SESSION_MS,
            self.id,
            group_instance_id=self._instance,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(self._protocol, b"")],
        )
        version = _JOIN_DYNAMIC if self._instance is None else _JOIN_STATIC
        answer = await self.connection.ask(request, version)
        self.id, self.generation = answer.member_id, answer.generation_id

    async def sync(self, shares: Mapping[str, bytes] | None = None) -> bytes:
        """Return this member's share; the leader gives those of all members."""
        request = SyncGroupRequest(
            GROUP,
            self.generation,
            self.id,
            group_instance_id=self._instance,
            assignments=[SyncGroupRequestAssignment(*each) for each in (shares or {}).items()],
        )
        return bytes((await self.connection.ask(request, _SYNC)).assignment)

    async def join_alone(self) -> None:
        """Join as the only member."""
        await self.join()
        await self.sync()

    async def heartbeat(self) -> str:
        """Send a heartbeat; return the error by its name, or NONE."""
        request = HeartbeatRequest(
            GROUP, self.generation, self.id, group_instance_id=self._instance
        )
        return ErrorCode((await self.connection.ask(request, _HEARTBEAT)).error_code).name

    async def until_rebalance(self) -> None:
        """Send heartbeats until one is told that the members have to join again."""
        while await self.heartbeat() != ErrorCode.REBALANCE_IN_PROGRESS.name:
            pass

    async def commit(self, offset: int) -> str:
        """Commit the offset of the topic; return the error by its name, or NONE."""
        committed = OffsetCommitRequestPartition(0, offset, committed_metadata="")
        request = OffsetCommitRequest(
            GROUP,
            self.generation,
            self.id,
            self._instance,
            topics=[OffsetCommitRequestTopic(TOPIC, partitions=[committed])],
        )
        answer = await self.connection.ask(request, _COMMIT)
        return ErrorCode(answer.topics[0].partitions[0].error_code).name

    async def leave(self) -> None:
        """Leave the group."""
        await self.connection.ask(LeaveGroupRequest(GROUP, self.id), _LEAVE)
