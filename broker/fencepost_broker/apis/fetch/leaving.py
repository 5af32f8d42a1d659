"""Fetches of a consumer that leaves its group, which have nothing to wait for any more.

Behaviour: Java's consumer sends LeaveGroup as it closes, and then waits for the answer to its last
Fetch: up to ``fetch.max.wait.ms``, 500 ms. Here the answer comes at once. A consumer is known by
its client id and its host, as the group knows it; another one with the same two gets an empty
answer early, and asks again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_broker.apis.fetch.fetching import Fetching
from fencepost_broker.replication.partition import Waiter

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.apis.request import Request


def answer_fetches_of(context: BrokerContext, leaving: Request) -> None:
    """Answer the parked Fetch requests of the client that sends this request."""
    if not context.config.settings.group_leave_answers_fetches:
        return

    def is_its_own(waiter: Waiter) -> bool:
        return (
            isinstance(waiter, Fetching)
            and waiter.request.client_id == leaving.client_id
            and waiter.request.peer.client_host == leaving.peer.client_host
        )

    for topic in context.replicas.table.by_name.values():
        for partition in topic.partitions:
            partition.release_waiting(is_its_own)
