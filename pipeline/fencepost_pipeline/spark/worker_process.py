"""What a Python process of Spark's costs between its tasks."""

from __future__ import annotations

import gc
import sys
from functools import cache


def is_worker() -> bool:
    """Whether this process is one of Spark's workers, which nobody else's program runs in."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and str(spec.name).startswith("pyspark.")


@cache
def keep_modules() -> None:
    """Let the collector pass over what is there now, once a process: modules, which stay for ever.

    A worker collects all garbage behind each task, and looks at everything for it: 50 ms, most of
    what a small task takes, and a micro-batch has one for each partition and three of the driver's.
    """
    if is_worker():
        gc.collect()
        gc.freeze()
