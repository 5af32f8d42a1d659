"""Where a connection leads."""

from __future__ import annotations

from typing import NamedTuple

from fencepost_client.errors import NetworkError
from fencepost_client.metadata.cluster import Cluster
from fencepost_client.network.client_settings import Address


class Endpoint(NamedTuple):
    """A broker's address, and the purpose of a connection to it."""

    host: str
    port: int
    channel: str = ""

    @property
    def address(self) -> Address:
        """The address without the purpose."""
        return self.host, self.port

    def removed(self) -> NetworkError:
        """The error for requests to a broker that has left the cluster."""
        return NetworkError(f"{self.host}:{self.port} is no longer a broker of the cluster.")


def explain_silence(peer: str, asked: str, for_s: float, cluster: Cluster) -> str:
    """A sentence about a broker that owes an answer: for how long, and what the cluster knows."""
    known = "no broker of the cluster has this address"
    for node in cluster.nodes.values():
        if peer == f"{node.host}:{node.port}":
            known = (
                f"the cluster counts it, broker {node.id}, as alive: it may be paused or overloaded"
            )
    if any(peer == f"{host}:{port}" for host, port in cluster.deserted):
        known = "the cluster no longer lists it: it is fenced, or has stopped"
    return f"{peer} has not answered {asked} for {for_s:.1f} s; {known}."
