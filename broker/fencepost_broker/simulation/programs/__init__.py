"""Programs that ``fencepost simulate`` has by itself.

transactions                writers commit and abort
consume-transform-produce   workers make an invoice of each order, exactly once
shares                      members of a share group accept, release and reject
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from fencepost_broker.simulation.programs.consume_transform_produce import consume_transform_produce
from fencepost_broker.simulation.programs.shares import shares
from fencepost_broker.simulation.programs.transactions import transactions

PROGRAMS: Final[Mapping[str, Callable[..., Coroutine[Any, Any, None]]]] = {
    "transactions": transactions,
    "shares": shares,
    "consume-transform-produce": consume_transform_produce,
}
"""By name; each is given a simulation, and may be given ``brokers``, ``for_s``, ``intensity``."""
