"""What brokers keep of requests and connections that are gone.

If every broken connection left something behind, a broker would grow until its memory is full.
"""

from __future__ import annotations

from collections.abc import Iterator

from fencepost_broker.coordinator.runtime.shard import Shard
from fencepost_broker.network.socket_server import SocketServer
from fencepost_broker.replication.partition import PartitionTable
from fencepost_broker.simulation.network import Network
from fencepost_broker.simulation.process import Process


def accepted_ends(network: Network, process: Process) -> int:
    """Count the connections that a process has accepted and that are open at its end."""
    return sum(
        end.process is process and end.get_extra_info("sockname")[1] in network.servers
        for end in network.ends
    )


def kept_of_the_gone(server: SocketServer, table: PartitionTable, ends: int) -> Iterator[str]:
    """Tell what a broker keeps, though it waits for no request; it has ``ends`` open ends."""
    stats = server.stats()
    if stats["open"] > ends:
        yield f"it counts {stats['open']} connections, and has {ends}"
    parked = stats["parked_requests"]
    waiters = {
        id(waiter)
        for topic in table.by_name.values()
        for partition in topic.partitions
        for waiter in partition.waiters
        if not isinstance(waiter, Shard)
    }
    if len(waiters) > parked:
        yield f"{len(waiters)} requests wait for records, and {parked} are not answered"
    if stats["queued_bytes"] and not parked:
        yield f"it counts {stats['queued_bytes']} bytes of requests, and has answered all"
