"""What the subcommands of ``fencepost bench`` are."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Coroutine
from typing import Any, Final

from fencepost_client.adapters.bench.consume import bench_consumer
from fencepost_client.adapters.bench.eos import bench_eos
from fencepost_client.adapters.bench.produce import bench_producer
from fencepost_client.adapters.running import conclude

_BENCHES: Final[dict[str, Callable[[argparse.Namespace], Coroutine[Any, Any, None]]]] = {
    "producer": bench_producer,
    "consumer": bench_consumer,
    "eos": bench_eos,
}


def measure(options: argparse.Namespace) -> int:
    """Run one to its end; gives the exit code."""
    return conclude(options, lambda: _BENCHES[options.subcommand](options))
