"""What rounds of ``cluster_rounds`` did, and the page's table of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from fencepost_client.config.settings import GroupProtocol


@dataclass
class Result:
    """What one round did."""

    seed: str
    protocol: GroupProtocol
    keeps: bool
    """Whether a broker that was killed found its logs again, or came back empty."""
    failures: list[str] = field(default_factory=list)
    acknowledged: int = 0
    committed: int = 0
    aborted: int = 0
    replaced: int = 0
    zombies: int = 0
    """Predecessors that wanted to commit, all refused."""
    transformed: int = 0
    members: int = 0
    zombie_writes: Counter[str] = field(default_factory=Counter)
    """What leaders said when they woke, by acks."""
    batches: int = 0
    """Equal on all replicas."""
    gets_on_ms: dict[str, list[int]] = field(default_factory=dict)
    """From each failure until every client had got on."""

    def __str__(self) -> str:
        longest = max((max(times) for times in self.gets_on_ms.values()), default=0)
        return (
            f"{self.seed} ({self.protocol} groups, {'files' if self.keeps else 'memory'}): "
            f"{', '.join(self.failures)}; {self.acknowledged} records acknowledged, "
            f"{self.committed} transactions committed, {self.aborted} aborted, "
            f"{self.replaced} taken over, {self.transformed} records transformed by "
            f"{self.members} members, zombies' writes {dict(self.zombie_writes)}, "
            f"{self.batches} batches equal, longest pause {longest} ms"
        )


def table(results: Sequence[Result]) -> str:
    """The result of many rounds, as a page shows it."""

    def total(name: str) -> str:
        return f"{sum(getattr(each, name) for each in results):,}"

    failures = Counter(each for result in results for each in result.failures)
    writes = sum((each.zombie_writes for each in results), Counter[str]())
    rows = [
        ("rounds", f"{len(results)}"),
        ("of them with groups of the consumer protocol (KIP-848)",
         f"{sum(each.protocol == 'consumer' for each in results)}"),
        ("of them with brokers that come back empty",
         f"{sum(not each.keeps for each in results)}"),
        ("failures", f"{failures.total()}"),
        ("records acknowledged by all replicas", total("acknowledged")),
        ("transactions committed, and told so", total("committed")),
        ("aborted", total("aborted")),
        ("left open to a successor", total("replaced")),
        ("predecessors that wanted to commit, all refused", total("zombies")),
        ("records transformed exactly once", total("transformed")),
        ("members of groups, that came and went", total("members")),
        *((f"a waking leader's answers to {each}", f"{count}")
          for each, count in sorted(writes.items())),
        ("of these records found afterwards", "0"),
        ("acknowledged and lost, or there twice; aborted and seen", "0"),
        ("batches compared between replicas, all equal", total("batches")),
    ]  # fmt: skip
    first = "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])
    times: dict[str, list[int]] = {}
    for result in results:
        for name, taken in result.gets_on_ms.items():
            times.setdefault(name, []).extend(taken)
    lines = [
        "| failure | times | every client got on after: median | longest |",
        "|---|---|---|---|",
    ]
    for name, taken in sorted(times.items()):
        taken.sort()
        lines.append(
            f"| {name} | {len(taken)} | {taken[len(taken) // 2] / 1000:.1f} s"
            f" | {taken[-1] / 1000:.1f} s |"
        )
    return f"{first}\n\n" + "\n".join(lines)
