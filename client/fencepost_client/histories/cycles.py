"""Cycles in a graph of numbers: strongly connected components, and a shortest cycle in each."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

Graph: TypeAlias = Mapping[int, Mapping[int, str]]
"""For each node, the nodes that its edges lead to, with a text for each edge."""
_EDGES_SEARCHED: Final = 2_000_000
"""In a component, after so many edges the shortest cycle so far is taken."""


def components(graph: Graph) -> Iterator[list[int]]:
    """The strongly connected components with more than one node (Tarjan, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    for root in graph:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        work = [(root, iter(graph[root]))]
        while work:
            node, edges = work[-1]
            for to in edges:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on_stack.add(to)
                    work.append((to, iter(graph.get(to, ()))))
                    break
                if to in on_stack:
                    low[node] = min(low[node], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found: list[int] = []
                    while not found or found[-1] != node:
                        found.append(stack.pop())
                    on_stack.difference_update(found)
                    if len(found) > 1:
                        yield found


def shortest_cycle(graph: Graph, component: list[int]) -> list[int]:
    """A shortest cycle through a component, without its first node at the end again."""
    inside = set(component)
    best: list[int] = []
    left = _EDGES_SEARCHED
    for start in sorted(component):
        cycle, searched = _cycle_through(graph, inside, start)
        left -= searched
        if not best or len(cycle) < len(best):
            best = cycle
        if len(best) == 2 or left < 0:
            break
    return best


def _cycle_through(graph: Graph, inside: set[int], start: int) -> tuple[list[int], int]:
    """The shortest cycle through a node, by breadth, and the number of edges looked at."""
    before = {start: start}
    queue = deque([start])
    searched = 0
    while queue:
        node = queue.popleft()
        for to in graph[node]:
            searched += 1
            if to == start:
                cycle = [node]
                while cycle[-1] != start:
                    cycle.append(before[cycle[-1]])
                return cycle[::-1], searched
            if to in inside and to not in before:
                before[to] = node
                queue.append(to)
    raise AssertionError(f"{start} is in a component and on no cycle")
