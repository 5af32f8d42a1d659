"""A member of a classic group, and the answers that it gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fencepost_client import (
    TopicPartition,
)
from fencepost_client.consumer.assignors import assignors_of
from fencepost_client.consumer.classic_member import ClassicMember, MemberSettings
from fencepost_client.consumer.group_protocol import (
    Subscription,
    write_assignment,
    write_subscription,
)
from fencepost_client.consumer.rebalance import AssignmentChange
from fencepost_protocol.generated.join_group import (
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from fencepost_protocol.generated.sync_group import SyncGroupResponse

from tests.machine.client.scripts import Script

MINE = [TopicPartition("t", 0), TopicPartition("t", 1)]
NOTHING: frozenset[TopicPartition] = frozenset()


def member(*assignors: str, **settings: Any) -> ClassicMember:
    if assignors:
        settings["assignors"] = assignors_of(assignors)
    made = ClassicMember(MemberSettings("g", **settings), lambda: 0.5)
    made.subscribe(["t"])
    return made


def joined(
    code: int = 0, member_id: str = "me", leader: str = "other", members: Sequence[str] = ()
) -> JoinGroupResponse:
    subscription = write_subscription(Subscription(("t",)))
    return JoinGroupResponse(
        0, code, 3, "consumer", "range", leader, False, member_id,
        [JoinGroupResponseMember(name, None, subscription) for name in members],
    )  # fmt: skip


def synced(code: int = 0, told: Sequence[TopicPartition] = MINE) -> SyncGroupResponse:
    return SyncGroupResponse(0, code, "consumer", "range", write_assignment(told))


def stable(*assignors: str, **settings: Any) -> ClassicMember:
    made = member(*assignors, **settings)
    Script([joined(), synced()]).play(made.join(NOTHING))
    assert made.change(NOTHING) == AssignmentChange(assigned=frozenset(MINE))
    return made
