"""Cycles of transactions: by the order of writes (G0), and by what they read (G1c)."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict

from fencepost_client.histories.cycles import Graph, components, shortest_cycle
from fencepost_client.histories.facts import UNKNOWN, Facts, State
from fencepost_client.histories.findings import Finding, Kind, Report
from fencepost_client.histories.records import READ_UNCOMMITTED

_ISOLATION = "Kafka does not isolate transactions that write to the same partitions"


def check_cycles(facts: Facts, report: Report) -> None:
    """Find cycles among committed transactions."""
    writes = _write_order(facts)
    strict, all_reads = _reads(facts)
    reported: set[int] = set()
    for kind, graph, expected in (
        (Kind.G1C, strict, ""),
        (Kind.G1C, all_reads, READ_UNCOMMITTED),
        (Kind.G0, writes, _ISOLATION),
    ):
        for component in components(graph):
            if kind is Kind.G0 or reported.isdisjoint(component):
                _add(facts, kind, graph, component, expected, report)
            if kind is Kind.G1C:
                reported.update(component)
    if not all_reads:
        return
    both: dict[int, dict[int, str]] = {node: dict(edges) for node, edges in writes.items()}
    for node, edges in all_reads.items():
        both.setdefault(node, {}).update(edges)
    for component in components(both):
        inside = set(component)
        # A cycle of writes only is G0.
        reads = any(to in inside for node in component for to in all_reads.get(node, ()))
        if reads and reported.isdisjoint(component):
            _add(facts, Kind.G1C, both, component, f"writes take part: {_ISOLATION}", report)


def _add(
    facts: Facts, kind: Kind, graph: Graph, component: list[int], expected: str, report: Report
) -> None:
    cycle = shortest_cycle(graph, component)
    names = [facts.transactions[each] for each in cycle]
    edges = [graph[node][to] for node, to in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
    told = " and ".join(
        f"{name} was before {to} ({edge})"
        for name, to, edge in zip(names, [*names[1:], names[0]], edges, strict=True)
    )
    more = (
        f"; {len(component)} transactions are in such cycles" if len(component) > len(cycle) else ""
    )
    report.add(Finding(kind, f"{told}{more}", tuple(names), tuple(edges), expected))


def _write_order(facts: Facts) -> Graph:
    """From each transaction to the next one that wrote to a partition."""
    graph: dict[int, dict[int, str]] = defaultdict(dict)
    for partition in facts.partitions:
        before, before_offset = UNKNOWN, UNKNOWN
        log = partition.log
        for offset in sorted(log):
            transaction = facts.transaction[log[offset]]
            if transaction == UNKNOWN or facts.ends[transaction] != State.COMMITTED:
                continue
            if before not in (UNKNOWN, transaction) and transaction not in graph[before]:
                graph[before][transaction] = f"writes {partition.name} {before_offset}, {offset}"
            before, before_offset = transaction, offset
    return graph


def _reads(facts: Facts) -> tuple[Graph, Graph]:
    """From each transaction to those that read its records: of read-committed readers, of all."""
    strict: dict[int, dict[int, str]] = defaultdict(dict)
    everything: dict[int, dict[int, str]] = defaultdict(dict)
    for reader, partition, offset, read_committed in facts.reads_in:
        _add_read(facts, reader, partition, offset, everything)
        if read_committed:
            _add_read(facts, reader, partition, offset, strict)
    # A committed offset says that its transaction has read what is before it.
    commits: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for group, partition, offset, transaction in facts.commits:
        if transaction == UNKNOWN or facts.ends[transaction] == State.COMMITTED:
            commits[group, partition].append((offset, transaction))
    for (group, partition), offsets in commits.items():
        is_strict = facts.read_committed_groups.get(group, False)
        known = sorted(facts.partitions[partition].log)
        start = 0
        for end, transaction in sorted(offsets):
            stop = bisect_left(known, end)
            if transaction != UNKNOWN:
                for offset in known[start:stop]:
                    _add_read(facts, transaction, partition, offset, everything)
                    if is_strict:
                        _add_read(facts, transaction, partition, offset, strict)
            start = max(start, stop)
    return strict, everything


def _add_read(
    facts: Facts, reader: int, partition: int, offset: int, graph: dict[int, dict[int, str]]
) -> None:
    record = facts.partitions[partition].log.get(offset)
    if record is None:
        return
    writer = facts.transaction[record]
    # A reader that was aborted has no edge to another one, so it is in no cycle.
    if writer in (UNKNOWN, reader) or facts.ends[writer] != State.COMMITTED:
        return
    if reader not in graph[writer]:
        graph[writer][reader] = f"reads {facts.partitions[partition].name} {offset}"
