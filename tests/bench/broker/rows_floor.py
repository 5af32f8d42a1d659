"""What any server in Python on uvloop costs: the floor under small requests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Final

from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from tests.bench.broker.loader import Load, replay
from tests.bench.broker.peers import IN_MEMORY, ProcessPeer
from tests.bench.broker.rows import Row, Run, Sample
from tests.bench.broker.rows_raw import CONNECTIONS, look, sample_of

REMARK: Final = (
    "the empty loop: a server on the same uvloop that sends back as many zeros as Fencepost's "
    "Metadata answer has bytes. What it costs is the loop's and the kernel's part."
)


class EmptyLoop(ProcessPeer):
    """A server that reads nothing of what it is asked."""

    name = "empty loop"

    def __init__(self, core: int | None, answer_size: int) -> None:
        super().__init__(core)
        self._answer_size = answer_size

    def version(self) -> str:
        return ""

    def command(self) -> list[str]:
        return [sys.executable, "-m", "tests.bench.broker.empty_loop", str(self._answer_size)]


def floor(depth: int) -> Callable[[Run], Sample]:
    """The requests of the row \"metadata\", answered without a broker."""

    def measure(run: Run) -> Sample:
        asked = look(run, MetadataRequest([MetadataRequestTopic(name=run.topic())]))
        load = Load(run.count(40_000 if depth == 1 else 80_000), CONNECTIONS, depth)
        with EmptyLoop(run.peer.core, asked.answer_size) as server:
            return sample_of(replay([asked], load, server.port, server.pid, run.client_core))

    return measure


def floor_rows() -> Iterator[Row]:
    """Alone and pipelined, as the small requests are."""
    for depth in (1, 16):
        yield Row(
            f"empty-loop-{depth}",
            f"an empty loop, no broker, depth {depth}",
            f"Small requests, {CONNECTIONS} connections",
            floor(depth),
            unit="requests/s",
            ours=(IN_MEMORY,),
            without=dict.fromkeys(("kafka", "kfake", "mock"), ""),
            remark=REMARK,
        )


ROWS: Final = tuple(floor_rows())
