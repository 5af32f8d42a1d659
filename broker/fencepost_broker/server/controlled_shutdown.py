"""Controlled shutdown of a process with broker and controller: other brokers take over."""

from __future__ import annotations

import asyncio
from typing import Final

from fencepost_protocol.generated.broker_heartbeat import BrokerHeartbeatRequest

from fencepost_broker.controller.channel.local import LocalController
from fencepost_broker.controller.channel.registration import Registration

_LOOK_S: Final = 0.005


async def hand_over(
    controller: LocalController, registration: Registration, grace_s: float
) -> bool:
    """Move leaderships to other brokers; returns whether all brokers learned of it in time.

    Nothing is to be done if no other broker is up.
    """
    node_id, image = registration.node_id, controller.machine.image
    others = [each.broker_id for each in image.cluster.brokers.values() if each.is_active]
    if others in ([], [node_id]):
        return True
    is_let_go = False
    while not is_let_go:
        end = image.last_offset
        request = BrokerHeartbeatRequest(node_id, registration.epoch, end, want_shut_down=True)
        answer = controller.command(request)
        if answer.error_code:
            return False
        is_let_go = answer.should_shut_down
        if not is_let_go and image.last_offset == end:
            return False  # nothing moves any more
    try:
        async with asyncio.timeout(grace_s):
            while not _all_have_heard(controller, node_id):  # noqa: ASYNC110 - they fetch when they fetch
                await asyncio.sleep(_LOOK_S)
    except TimeoutError:
        return False
    return True


def _all_have_heard(controller: LocalController, node_id: int) -> bool:
    observers, image = controller.observers, controller.machine.image
    return all(
        each.broker_id in observers and observers[each.broker_id].end_offset >= image.next_offset
        for each in image.cluster.brokers.values()
        if each.is_active and each.broker_id != node_id
    )
