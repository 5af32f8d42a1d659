"""The functions of the subcommands of ``fencepost bench``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Coroutine
from typing import Any, Final

from fencepost_client.commands.bench.consumer import bench_consumer
from fencepost_client.commands.bench.eos import bench_eos
from fencepost_client.commands.bench.producer import bench_producer
from fencepost_client.commands.runner import run_to_exit_code

_BENCHES: Final[dict[str, Callable[[argparse.Namespace], Coroutine[Any, Any, None]]]] = {
    "producer": bench_producer,
    "consumer": bench_consumer,
    "eos": bench_eos,
}


def measure(options: argparse.Namespace) -> int:
    """Run a benchmark; returns the exit code."""
    return run_to_exit_code(options, lambda: _BENCHES[options.subcommand](options))
