"""Where a connection leads, and whom to ask what any broker knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import NamedTuple

from fencepost_client.adapters.client_settings import Address
from fencepost_client.cluster import Cluster
from fencepost_client.connection import Connection
from fencepost_client.errors import NetworkError


class Place(NamedTuple):
    """Where a connection leads, and what it is kept for."""

    host: str
    port: int
    channel: str = ""

    @property
    def address(self) -> Address:
        """Of whatever broker is there."""
        return self.host, self.port

    def gone(self) -> NetworkError:
        """What to tell those who want to go there in vain."""
        return NetworkError(f"{self.host}:{self.port} is no broker of the cluster any more.")


def told_of_silence(peer: str, asked: str, for_s: float, cluster: Cluster) -> str:
    """What to tell of a broker that owes an answer: for how long, and what the cluster knows."""
    known = "no broker of the cluster is known by this address"
    for node in cluster.nodes.values():
        if peer == f"{node.host}:{node.port}":
            known = (
                f"the cluster counts it, broker {node.id}, as alive: it may be paused or overloaded"
            )
    if any(peer == f"{host}:{port}" for host, port in cluster.deserted):
        known = "the cluster does not name it any more: it is fenced, or has stopped"
    return f"{peer} has not answered {asked} for {for_s:.1f} s; {known}."


def whom_to_ask(
    links: Mapping[Place, Connection], cluster: Cluster, bootstrap: Iterable[Address], now_ms: int
) -> list[Place]:
    """The least busy first; last who may not know it any more, and who owes an answer.

    Who has lost all brokers asks where it began, too, at once: those that it knows may all be gone
    (KIP-899). Who is silent takes a second each.
    While somebody is doubted, an address that no broker names may be theirs under another name.
    """
    named = {(node.host, node.port) for node in cluster.nodes.values()}

    def worth(place: Place) -> tuple[bool, bool, bool]:
        is_strange = bool(cluster.doubted) and place.address not in named
        return place in silent, place.address in cluster.doubted, is_strange

    busy = {place: machine.under_way for place, machine in links.items() if not place.channel}
    silent = {place for place in busy if links[place].is_silent(now_ms)}
    nodes = [Place(node.host, node.port) for node in cluster.nodes.values()]
    first = [Place(*address) for address in bootstrap]
    if busy:
        known = [*sorted(busy, key=busy.__getitem__), *nodes, *first]
    else:
        by_turns = zip_longest(nodes, first)
        known = [place for pair in by_turns for place in pair if place is not None]
    return sorted(dict.fromkeys(known), key=worth)
