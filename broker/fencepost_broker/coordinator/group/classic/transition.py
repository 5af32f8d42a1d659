"""Construction of a decision about one classic group.

``Work`` changes a draft of the group, which becomes visible when ``decision`` is applied.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.join_group import JoinGroupResponse
from fencepost_protocol.generated.sync_group import SyncGroupResponse

from fencepost_broker.coordinator.effects import Reply, Tell
from fencepost_broker.coordinator.group.classic.group import ClassicGroup, Member
from fencepost_broker.coordinator.group.classic.records import group_record
from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.soft import Rebalanced, SetTimer, Timer, TimerKey
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.metadata.decision import Decision
from fencepost_broker.ports import Chance

NULL_PROTOCOL_NAME_SINCE = 7
"""The JoinGroup version from which the protocol name may be null."""


class Parked(NamedTuple):
    """A waiting JoinGroup or SyncGroup."""

    token: Any
    version: int

    @classmethod
    def of(cls, ask: Ask) -> Parked:
        """Return the data that a later answer to this request needs."""
        return cls(ask.token, ask.version)


class Work:
    """A draft of a group, with the records, replies and timers of the decision."""

    __slots__ = ("ctx", "group", "now_ms", "records", "replies", "soft", "tells", "timers")

    def __init__(self, ctx: Context, now_ms: int, group: ClassicGroup) -> None:
        self.ctx = ctx
        self.now_ms = now_ms
        self.group = group.draft()
        self.records: list[LogRecord] = []
        self.replies: list[Reply] = []
        self.tells: list[Tell] = []
        self.timers: dict[TimerKey, int | None] = {}
        self.soft: list[Rebalanced] = []

    def decision(self, answer: Any = None, token: Any = None) -> Decision[Any]:
        """Return the decision. A reply with ``token`` becomes the answer."""
        effects: list[Reply] = self.replies
        if token is not None and answer is None:
            effects = []
            for reply in self.replies:
                if reply.token is token:
                    answer = reply.answer
                else:
                    effects.append(reply)
        soft: list[Any] = [SetTimer(key, at_ms) for key, at_ms in self.timers.items()]
        soft += [self.group, *self.soft]
        return Decision(answer, tuple(self.records), (*effects, *self.tells), tuple(soft))

    def store(self) -> None:
        """Add a record of the group's current state."""
        self.records.append(group_record(self.group))
        self.group.stored = self.records[-1].value  # type: ignore[assignment]

    def tell(self, kind: str, text: str) -> None:
        """Add an event to the log."""
        self.tells.append(Tell(kind, f"group {self.group.group_id!r}: {text}"))

    # -- deadlines -------------------------------------------------------------------------------

    def set_timer(self, timer: Timer, after_ms: int) -> None:
        """Set a deadline of the group."""
        self.timers[TimerKey(timer, self.group.group_id)] = self.now_ms + after_ms

    def cancel_timer(self, timer: Timer) -> None:
        """Cancel a deadline of the group."""
        self.timers[TimerKey(timer, self.group.group_id)] = None

    def begin_session(self, member_id: str, timeout_ms: int) -> None:
        """Start a member's session, which its requests extend."""
        key = TimerKey(Timer.SESSION, self.group.group_id, member_id)
        self.timers[key] = self.now_ms + timeout_ms

    def end_session(self, member_id: str) -> None:
        """End a member's session."""
        self.timers[TimerKey(Timer.SESSION, self.group.group_id, member_id)] = None

    # -- answers ---------------------------------------------------------------------------------

    def answer_join(self, member: Member, answer: JoinGroupResponse) -> None:
        """Answer a member's waiting JoinGroup, if there is one."""
        parked = member.join_token
        if parked is not None:
            if parked.version < NULL_PROTOCOL_NAME_SINCE and answer.protocol_name is None:
                answer.protocol_name = ""
            self.replies.append(Reply(parked.token, answer))
            self.group.change(member.member_id, join_token=None)

    def supersede_join(self, member_id: str) -> None:
        """Answer a waiting JoinGroup because the member has sent another one.

        Kafka never answers it. This broker does, to release its state.
        """
        code = ErrorCode.REBALANCE_IN_PROGRESS
        answer = JoinGroupResponse(error_code=code, protocol_name=None, member_id=member_id)
        self.answer_join(self.group.members[member_id], answer)

    def supersede_sync(self, member_id: str) -> None:
        """Answer a waiting SyncGroup because the member has sent another one."""
        answer = SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)
        self.answer_sync(self.group.members[member_id], answer)

    def fence(self, member_id: str) -> None:
        """Answer a member's waiting requests with FENCED_INSTANCE_ID: it has been replaced."""
        code = ErrorCode.FENCED_INSTANCE_ID
        answer = JoinGroupResponse(error_code=code, protocol_name=None, member_id=member_id)
        self.answer_join(self.group.members[member_id], answer)
        self.answer_sync(self.group.members[member_id], SyncGroupResponse(error_code=code))

    def answer_sync(self, member: Member, answer: SyncGroupResponse) -> bool:
        """Answer a member's waiting SyncGroup; return whether there was one."""
        parked = member.sync_token
        if parked is None:
            return False
        self.replies.append(Reply(parked.token, answer))
        self.group.change(member.member_id, sync_token=None)
        return True


def join_refusal(code: ErrorCode, member_id: str, version: int) -> JoinGroupResponse:
    """Return a JoinGroup response with an error."""
    name = None if version >= NULL_PROTOCOL_NAME_SINCE else ""
    return JoinGroupResponse(error_code=code, protocol_name=name, member_id=member_id)


def random_uuid(chance: Chance) -> str:
    """Return a random UUID in the format of ``java.util.UUID``."""
    digits = chance.randbytes(16).hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
