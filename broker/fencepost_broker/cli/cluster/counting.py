"""How brokers of a cluster have the requests counted that fault rules match.

The process that has started them counts for all; they ask it at its control socket.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from fencepost_broker.cli.cluster.control_socket import LOOPBACK, question
from fencepost_broker.faults.rule import Verdict
from fencepost_broker.faults.rules import CounterError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fencepost_broker.faults.rules import Counter


def counter_at(run_dir: Path) -> Counter:
    """Return what counts the requests that fault rules match, for all brokers of a cluster."""

    async def count(names: Sequence[str]) -> Sequence[Verdict | None]:
        try:
            port, asked = question(run_dir, "count", rules=list(names))
            reader, writer = await asyncio.open_connection(LOOPBACK, port)
            try:
                writer.write(asked)
                line = await reader.readline()
            finally:
                writer.close()
        except OSError as error:
            raise CounterError(f"the cluster cannot count: {error.strerror}") from None
        if not line:
            raise CounterError("the cluster ended before it had counted")
        return msgspec.json.decode(line, type=_Verdicts).verdicts

    return count


class _Verdicts(msgspec.Struct):
    verdicts: list[Verdict | None]
