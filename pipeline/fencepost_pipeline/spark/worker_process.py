"""Saves time between the tasks of one of Spark's Python workers."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from itertools import repeat
from typing import Final

from fencepost_pipeline.sink import connections

_TIMES: Final = 2
"""A first task imports some more while it runs: the second one has seen all."""
_calls: Iterator[bool] = repeat(True, _TIMES)


def is_worker() -> bool:
    """Whether this process is one of Spark's workers, which nobody else's program runs in."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and str(spec.name).startswith("pyspark.")


def keep_connections() -> None:
    """Keep the sink's connections in a worker: it has a task, or a call, for every micro-batch.

    A worker without work is ended by Spark after a minute, and they with it.
    """
    if is_worker():
        connections.keep()


def keep_modules() -> None:
    """Let the collector pass over what is there when tasks begin: modules, which stay for ever.

    A worker collects all garbage after each task, and looks at everything for it: 50 ms, most of
    what a small task takes, and a micro-batch has one for each partition and three of the driver's.
    """
    if next(_calls, False) and is_worker():
        gc.collect()
        gc.freeze()
