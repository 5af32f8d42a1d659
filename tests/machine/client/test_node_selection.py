"""In which order brokers are asked what each of them knows."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost_client.metadata.cluster import Cluster, Node
from fencepost_client.network.endpoint import Endpoint
from fencepost_client.network.node_selection import least_loaded_first
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.connection import Connection

from tests.machine.client.harness.connection import ready, submit

FIRST, SECOND = ("first", 9092), ("second", 9092)
A, B, C = Endpoint("a", 1), Endpoint("b", 2), Endpoint("c", 3)
LATE_MS = 10_000


def cluster() -> Cluster:
    known = Cluster(Backoff(lambda: 0.5))
    known.nodes = {
        id_: Node(id_, endpoint.host, endpoint.port) for id_, endpoint in enumerate((A, B, C))
    }
    return known


def link(requests: int = 0) -> Connection:
    """A connection, with requests that wait for their answers."""
    made = ready()
    for _ in range(requests):
        submit(made, None, LATE_MS)
    return made


def asked(known: Cluster, links: dict[Endpoint, Connection], now_ms: int = 0) -> list[str]:
    return names(least_loaded_first(links, known, [FIRST, SECOND], now_ms))


def names(endpoints: Iterable[Endpoint]) -> list[str]:
    return [endpoint.host for endpoint in endpoints]


def test_the_least_busy_of_those_there_is_a_connection_to_is_the_first() -> None:
    links = {C: link(2), B: link(1), Endpoint("a", 1, "group"): link()}
    assert asked(cluster(), links) == ["b", "c", "a", "first", "second"]


def test_who_owes_an_answer_is_the_last() -> None:
    assert asked(cluster(), {B: link(1)}, LATE_MS)[-1] == "b"


def test_who_may_be_cut_off_is_asked_behind_all_that_are_named() -> None:
    """And behind what may be another name of it."""
    known = cluster()
    known.doubt(1)
    known.doubt(9)  # nobody's
    links = {B: link(), Endpoint(*FIRST): link()}
    assert asked(known, links) == ["a", "c", "first", "second", "b"]
    known.doubted.clear()
    assert asked(known, links)[0] == "b"


def test_who_has_lost_all_brokers_asks_by_turns_where_it_began() -> None:
    """If none of those that it knew is there, nobody waits for all of them."""
    assert asked(cluster(), {}) == ["a", "first", "b", "second", "c"]
    known = cluster()
    known.nodes.clear()
    assert asked(known, {}) == ["first", "second"]
