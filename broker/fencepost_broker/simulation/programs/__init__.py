"""Programs that ``fencepost simulate`` has by itself.

transactions                writers commit and abort
consume-transform-produce   workers make an invoice of each order, exactly once
shares                      members of a share group accept, release and reject
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from fencepost_broker.simulation.programs.consume_transform_produce import consume_transform_produce
from fencepost_broker.simulation.programs.shares import shares
from fencepost_broker.simulation.programs.transactions import transactions
from fencepost_broker.simulation.simulation import Program

PROGRAMS: Final[Mapping[str, Callable[[int], Program]]] = {
    "transactions": lambda brokers: partial(transactions, brokers=brokers),
    "shares": lambda brokers: partial(shares, brokers=brokers),
    "consume-transform-produce": lambda brokers: partial(
        consume_transform_produce, brokers=brokers
    ),
}
"""By name; each is given the number of brokers."""
