"""Components and shortest cycles, compared with a slow search over all paths."""

from __future__ import annotations

from fencepost_client.histories.cycles import Graph, components, shortest_cycle
from hypothesis import given
from hypothesis import strategies as st

EDGES = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda e: e[0] != e[1]))


def graph_of(edges: set[tuple[int, int]]) -> Graph:
    graph: dict[int, dict[int, str]] = {}
    for start, end in sorted(edges):
        graph.setdefault(start, {})[end] = f"{start}>{end}"
    return graph


def distances(edges: set[tuple[int, int]], start: int) -> dict[int, int]:
    """The number of edges from a node to each one, back to itself, too."""
    found: dict[int, int] = {}
    level, length = {start}, 0
    while level:
        length += 1
        level = {end for begin, end in edges if begin in level} - found.keys()
        found |= dict.fromkeys(level, length)
    return found


@given(EDGES)
def test_components_and_their_shortest_cycles(edges: set[tuple[int, int]]) -> None:
    reach = {node: distances(edges, node) for node in range(8)}
    slow = {
        frozenset(other for other in reach[node] if node in reach[other])
        for node in range(8)
        if node in reach[node]
    }
    graph = graph_of(edges)
    found = list(components(graph))
    assert {frozenset(each) for each in found} == slow
    for component in found:
        cycle = shortest_cycle(graph, component)
        assert all((a, b) in edges for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        assert len(cycle) == min(reach[node][node] for node in component)


def test_a_long_cycle_needs_no_deep_stack() -> None:
    count = 20_000
    graph = graph_of({(each, (each + 1) % count) for each in range(count)})
    (component,) = components(graph)
    assert len(component) == count
