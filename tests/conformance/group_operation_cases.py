"""What a client may do with groups (KIP-430), as a broker without an authorizer tells it."""

from __future__ import annotations

from typing import Any, Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.share_group_describe import ShareGroupDescribeRequest
from fencepost_protocol.generated.share_group_heartbeat import ShareGroupHeartbeatRequest
from fencepost_protocol.generated.streams_group_describe import StreamsGroupDescribeRequest

from tests.machine.coordinator.group.streams.members import join
from tests.support.broker import Client
from tests.support.waiting import asked_until

CLASSIC, CONSUMER, SHARE, STREAMS, MISSING = "classic", "consumer", "share", "streams", "missing"
MEMBER: Final = "AAAAAAAAAAAAAAAAAAAAAQ"
_DESCRIBED: Final[tuple[tuple[Message, int], ...]] = (
    (DescribeGroupsRequest([CLASSIC, MISSING], True), 5),
    (DescribeGroupsRequest([CLASSIC, MISSING], True), 6),
    (DescribeGroupsRequest([CLASSIC], False), 6),
    (ConsumerGroupDescribeRequest([CONSUMER, MISSING], True), 1),
    (ConsumerGroupDescribeRequest([CONSUMER], False), 1),
    (ShareGroupDescribeRequest([SHARE, MISSING], True), 1),
    (StreamsGroupDescribeRequest([STREAMS, MISSING], True), 0),
)  # fmt: skip


async def script(bootstrap: str) -> list[str]:
    """Make groups, and return what is told about them."""
    async with Client(bootstrap) as client:
        asked: tuple[tuple[Message, int], ...] = (
            (ConsumerGroupHeartbeatRequest(
                CONSUMER, MEMBER, 0, rebalance_timeout_ms=60_000, subscribed_topic_names=["t"],
                topic_partitions=[]), 1),
            (ShareGroupHeartbeatRequest(SHARE, MEMBER, 0, subscribed_topic_names=["t"]), 1),
            (join(MEMBER, group=STREAMS), 0),
        )  # fmt: skip

        async def are_made() -> bool:
            groups = [CLASSIC, CONSUMER, SHARE, STREAMS, MISSING]
            await client.ask(FindCoordinatorRequest(coordinator_keys=groups), 4)
            protocols = [JoinGroupRequestProtocol("range", b"")]
            made = JoinGroupRequest(CLASSIC, 60_000, 60_000, "", None, "consumer", protocols)
            codes = [(await client.ask(made, 5)).error_code]
            codes += [(await client.ask(*each)).error_code for each in asked]
            return codes == [ErrorCode.MEMBER_ID_REQUIRED, 0, 0, 0]

        await asked_until(are_made)
        lines = []
        for request, version in _DESCRIBED:
            told: list[Any] = (await client.ask(request, version)).groups
            found = ", ".join(
                f"{each.group_id} {ErrorCode(each.error_code).name} {each.authorized_operations}"
                for each in sorted(told, key=lambda each: each.group_id)
            )
            lines.append(f"{request.NAME} {version}: {found}")
        return lines
