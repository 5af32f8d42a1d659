"""The order in which brokers are asked for something that any broker can answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest

from fencepost_client.metadata.cluster import Cluster
from fencepost_client.network.client_settings import Address
from fencepost_client.network.endpoint import Endpoint
from fencepost_client.requests.connection import Connection


def least_loaded_first(
    links: Mapping[Endpoint, Connection],
    cluster: Cluster,
    bootstrap: Iterable[Address],
    now_ms: int,
) -> list[Endpoint]:
    """The least busy broker first; last those that may be out of date, or that owe an answer.

    Without any connection, known brokers and bootstrap addresses take turns, because all known
    brokers may be gone (KIP-899). Each silent address costs a second.
    While a broker is doubted, an address that no broker has may be that broker's other name.
    """
    named = {(node.host, node.port) for node in cluster.nodes.values()}

    def rank(endpoint: Endpoint) -> tuple[bool, bool, bool]:
        is_strange = bool(cluster.doubted) and endpoint.address not in named
        return endpoint in silent, endpoint.address in cluster.doubted, is_strange

    busy = {
        endpoint: machine.under_way for endpoint, machine in links.items() if not endpoint.channel
    }
    silent = {endpoint for endpoint in busy if links[endpoint].is_silent(now_ms)}
    nodes = [Endpoint(node.host, node.port) for node in cluster.nodes.values()]
    first = [Endpoint(*address) for address in bootstrap]
    if busy:
        known = [*sorted(busy, key=busy.__getitem__), *nodes, *first]
    else:
        by_turns = zip_longest(nodes, first)
        known = [endpoint for pair in by_turns for endpoint in pair if endpoint is not None]
    return sorted(dict.fromkeys(known), key=rank)
