"""Rows about the coordinators with more and more of everything; how stands in growth*.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from tests.bench.broker.growth import Crowd, growth
from tests.bench.broker.growth_groups import (
    ClassicMembers,
    ClassicRebalance,
    ConsumerGroups,
    ConsumerMembers,
    ConsumersComeAndGo,
    GroupsWithOffsets,
)
from tests.bench.broker.growth_transactions import (
    PartitionsAtOnce,
    PartitionsOneByOne,
    TransactionalIds,
    restart,
)
from tests.bench.broker.peers import ON_DISK
from tests.bench.broker.rows import AtMost, Row, Run
from tests.bench.broker.rows_state import FLAT
from tests.bench.broker.rows_transactions import PAGE

ROUNDS: Final = 3
"""No peer is beside them."""
BY_COUNT: Final[tuple[tuple[str, str, Callable[[Run], Crowd], str, tuple[int, ...]], ...]] = (
    (
        "transactional-ids",
        "transactional ids: AddPartitionsToTxn and EndTxn by turns",
        TransactionalIds,
        "request",
        (10, 1_000, 10_000, 100_000),
    ),
    (
        "groups-offsets",
        "groups: OffsetCommit",
        GroupsWithOffsets,
        "request",
        (1, 100, 1_000, 10_000),
    ),
    (
        "groups-consumer",
        "consumer groups of one member: heartbeat (KIP-848)",
        ConsumerGroups,
        "request",
        (1, 100, 1_000, 10_000),
    ),
    (
        "members-classic",
        "members of a classic group: heartbeat",
        ClassicMembers,
        "request",
        (2, 10, 100, 1_000),
    ),
    (
        "members-rebalance",
        "members of a classic group: a rebalance of all",
        ClassicRebalance,
        "member",
        (2, 10, 100, 1_000),
    ),
    (
        "members-consumer",
        "members of a consumer group: heartbeat (KIP-848)",
        ConsumerMembers,
        "request",
        (2, 10, 100, 1_000),
    ),
    (
        "members-come-and-go",
        "members of a consumer group: another one joins and leaves",
        ConsumersComeAndGo,
        "request",
        (2, 10, 100, 1_000),
    ),
    (
        "partitions-at-once",
        "partitions in a transaction, entered at once",
        PartitionsAtOnce,
        "partition",
        (1, 10, 100, 1_000),
    ),
    (
        "partitions-one-by-one",
        "partitions in a transaction, entered one by one",
        PartitionsOneByOne,
        "partition",
        (1, 10, 100, 1_000),
    ),
)


def growth_rows() -> Iterator[Row]:
    """What grows, each on a broker of its own."""
    for name, title, kind, cost_of, steps in BY_COUNT:
        yield Row(
            f"growth-{name}",
            title,
            "What a request costs with how many of them",
            growth(kind, steps),
            shown=(*(f"step_{at}" for at in range(len(steps))), "slope"),
            cpu_of=cost_of,
            goals=(AtMost("times", FLAT),),
            ours=(ON_DISK,),
            without=ONLY_OURS,
            page=PAGE,
            rounds_max=ROUNDS,
            steps=steps,
        )


ONLY_OURS: Final = dict.fromkeys(("kafka", "kfake", "mock"), "")
RESTART: Final = Row(
    "restart-transactions",
    "kill -9, then start, for each 100,000 records of transactions",
    "Restart",
    restart,
    shown=("start_ms",),
    ours=(ON_DISK,),
    without=ONLY_OURS,
    page=PAGE,
    rounds_max=ROUNDS,
)
ROWS: Final = (*growth_rows(), RESTART)
