"""A decision about one classic group while it is being made.

The group is a draft; what is done to it is seen by nobody until ``decision`` is applied.
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
from fencepost_broker.coordinator.group.soft import SetTimer, Timer, TimerKey
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.metadata.decision import Decision
from fencepost_broker.ports import Chance

NULL_PROTOCOL_NAME_SINCE = 7
"""JoinGroup version."""


class Parked(NamedTuple):
    """A JoinGroup or SyncGroup that waits."""

    token: Any
    version: int

    @classmethod
    def of(cls, ask: Ask) -> Parked:
        """What must be known of a request to answer it later."""
        return cls(ask.token, ask.version)


class Work:
    """The group as it will be, and what goes with it."""

    __slots__ = ("ctx", "group", "now_ms", "records", "replies", "tells", "timers")

    def __init__(self, ctx: Context, now_ms: int, group: ClassicGroup) -> None:
        self.ctx = ctx
        self.now_ms = now_ms
        self.group = group.draft()
        self.records: list[LogRecord] = []
        self.replies: list[Reply] = []
        self.tells: list[Tell] = []
        self.timers: dict[TimerKey, int | None] = {}

    def decision(self, answer: Any = None, token: Any = None) -> Decision[Any]:
        """What comes of it. A reply to the request that is being decided is its answer."""
        effects: list[Reply] = self.replies
        if token is not None and answer is None:
            effects = []
            for reply in self.replies:
                if reply.token is token:
                    answer = reply.answer
                else:
                    effects.append(reply)
        soft: list[Any] = [SetTimer(key, at_ms) for key, at_ms in self.timers.items()]
        soft.append(self.group)
        return Decision(answer, tuple(self.records), (*effects, *self.tells), tuple(soft))

    def store(self) -> None:
        """Writes the group as it is now."""
        self.records.append(group_record(self.group))
        self.group.stored = self.records[-1].value  # type: ignore[assignment]

    def tell(self, kind: str, text: str) -> None:
        """Lets a person hear of something."""
        self.tells.append(Tell(kind, f"group {self.group.group_id!r}: {text}"))

    # -- deadlines -------------------------------------------------------------------------------

    def set_timer(self, timer: Timer, after_ms: int) -> None:
        """The group's own deadline."""
        self.timers[TimerKey(timer, self.group.group_id)] = self.now_ms + after_ms

    def cancel_timer(self, timer: Timer) -> None:
        """The group waits for this no longer."""
        self.timers[TimerKey(timer, self.group.group_id)] = None

    def begin_session(self, member_id: str, timeout_ms: int) -> None:
        """From now on the member has to show itself within this time."""
        key = TimerKey(Timer.SESSION, self.group.group_id, member_id)
        self.timers[key] = self.now_ms + timeout_ms

    def end_session(self, member_id: str) -> None:
        """Nobody waits for this member."""
        self.timers[TimerKey(Timer.SESSION, self.group.group_id, member_id)] = None

    # -- answers ---------------------------------------------------------------------------------

    def answer_join(self, member: Member, answer: JoinGroupResponse) -> None:
        """Answers the member's JoinGroup, if it has one waiting."""
        parked = member.join_token
        if parked is not None:
            if parked.version < NULL_PROTOCOL_NAME_SINCE and answer.protocol_name is None:
                answer.protocol_name = ""
            self.replies.append(Reply(parked.token, answer))
            self.group.change(member.member_id, join_token=None)

    def supersede_join(self, member_id: str) -> None:
        """The member has sent another JoinGroup: nobody reads the answer to the one before.

        Kafka never answers it. It is answered here so that nothing is kept for it.
        """
        code = ErrorCode.REBALANCE_IN_PROGRESS
        answer = JoinGroupResponse(error_code=code, protocol_name=None, member_id=member_id)
        self.answer_join(self.group.members[member_id], answer)

    def supersede_sync(self, member_id: str) -> None:
        """The same of SyncGroup."""
        answer = SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)
        self.answer_sync(self.group.members[member_id], answer)

    def fence(self, member_id: str) -> None:
        """Whoever still waits in this member's name hears that another has taken its place."""
        code = ErrorCode.FENCED_INSTANCE_ID
        answer = JoinGroupResponse(error_code=code, protocol_name=None, member_id=member_id)
        self.answer_join(self.group.members[member_id], answer)
        self.answer_sync(self.group.members[member_id], SyncGroupResponse(error_code=code))

    def answer_sync(self, member: Member, answer: SyncGroupResponse) -> bool:
        """Answers the member's SyncGroup; False when it has none waiting."""
        parked = member.sync_token
        if parked is None:
            return False
        self.replies.append(Reply(parked.token, answer))
        self.group.change(member.member_id, sync_token=None)
        return True


def join_refusal(code: ErrorCode, member_id: str, version: int) -> JoinGroupResponse:
    """A JoinGroup that leads nowhere."""
    name = None if version >= NULL_PROTOCOL_NAME_SINCE else ""
    return JoinGroupResponse(error_code=code, protocol_name=name, member_id=member_id)


def random_uuid(chance: Chance) -> str:
    """As ``java.util.UUID`` prints one."""
    digits = chance.randbytes(16).hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
