"""In which order brokers are asked what each of them knows."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost_client.adapters.place import Place, whom_to_ask
from fencepost_client.backoff import Backoff
from fencepost_client.cluster import Cluster, Node
from fencepost_client.connection import Connection
from fencepost_protocol.generated.metadata import MetadataRequest

FIRST, SECOND = ("first", 9092), ("second", 9092)
A, B, C = Place("a", 1), Place("b", 2), Place("c", 3)
LATE_MS = 10_000


def cluster() -> Cluster:
    known = Cluster(Backoff(lambda: 0.5))
    known.nodes = {id_: Node(id_, place.host, place.port) for id_, place in enumerate((A, B, C))}
    return known


def link(requests: int = 0) -> Connection:
    """A connection, with requests that wait for their answers."""
    made = Connection("peer", "test")
    for _ in range(requests):
        made._frame(MetadataRequest(), 12, LATE_MS, None)
    return made


def asked(known: Cluster, links: dict[Place, Connection], now_ms: int = 0) -> list[str]:
    return names(whom_to_ask(links, known, [FIRST, SECOND], now_ms))


def names(places: Iterable[Place]) -> list[str]:
    return [place.host for place in places]


def test_the_least_busy_of_those_there_is_a_connection_to_is_the_first() -> None:
    links = {C: link(2), B: link(1), Place("a", 1, "group"): link()}
    assert asked(cluster(), links) == ["b", "c", "a", "first", "second"]


def test_who_owes_an_answer_is_the_last() -> None:
    assert asked(cluster(), {B: link(1)}, LATE_MS)[-1] == "b"


def test_who_may_be_cut_off_is_asked_behind_all_that_are_named() -> None:
    """And behind what may be another name of it."""
    known = cluster()
    known.doubt(1)
    known.doubt(9)  # nobody's
    links = {B: link(), Place(*FIRST): link()}
    assert asked(known, links) == ["a", "c", "first", "second", "b"]
    known.doubted.clear()
    assert asked(known, links)[0] == "b"


def test_who_has_lost_all_brokers_asks_by_turns_where_it_began() -> None:
    """If none of those that it knew is there, nobody waits for all of them."""
    assert asked(cluster(), {}) == ["a", "first", "b", "second", "c"]
    known = cluster()
    known.nodes.clear()
    assert asked(known, {}) == ["first", "second"]
