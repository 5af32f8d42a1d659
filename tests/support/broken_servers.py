"""Brokers that are broken on purpose, to see that checks notice."""

from __future__ import annotations

from fencepost_broker.server.broker_server import BrokerServer
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsResponse


def gets_ids_again(leader: BrokerServer, _: BrokerServer) -> None:
    """Give a broker producer ids that another one has."""
    answer = AllocateProducerIdsResponse(producer_id_start=500, producer_id_len=1000)
    leader.producer_ids._take_in(answer)


def forgets(leader: BrokerServer, follower: BrokerServer) -> None:
    """Let the coordinators forget their transactions."""
    for server in (leader, follower):
        for shard in server.coordinators.runtime.shards.values():
            getattr(shard.machine, "_transactions", {}).clear()
