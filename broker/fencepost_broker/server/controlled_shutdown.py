"""A broker stops, and its controller with it: others take over while they still can be told."""

from __future__ import annotations

import asyncio
from typing import Final

from fencepost_protocol.generated.broker_heartbeat import BrokerHeartbeatRequest

from fencepost_broker.server.broker_server import Node

_LOOK_S: Final = 0.005


async def hand_over(node: Node, grace_s: float) -> bool:
    """Have other brokers lead; says whether all of them have heard of it in time.

    Where nobody else is up there is nobody to tell.
    """
    others = [each.broker_id for each in node.image.cluster.brokers.values() if each.is_active]
    if others in ([], [node.node_id]):
        return True
    is_let_go = False
    while not is_let_go:
        end = node.image.last_offset
        request = BrokerHeartbeatRequest(node.node_id, node.broker_epoch, end, want_shut_down=True)
        answer = node.command(request)
        if answer.error_code:
            return False
        is_let_go = answer.should_shut_down
        if not is_let_go and node.image.last_offset == end:
            return False  # nothing moves any more
    try:
        async with asyncio.timeout(grace_s):
            while not _all_have_heard(node):  # noqa: ASYNC110 - they fetch when they fetch
                await asyncio.sleep(_LOOK_S)
    except TimeoutError:
        return False
    return True


def _all_have_heard(node: Node) -> bool:
    observers = node.decider.observers
    return all(
        each.broker_id in observers
        and observers[each.broker_id].end_offset >= node.image.next_offset
        for each in node.image.cluster.brokers.values()
        if each.is_active and each.broker_id != node.node_id
    )
