"""Spark's data sources. PySpark is imported by this package only.

``format("fencepost")`` reads and writes topics of a cluster; ``format("fencepost-log")`` reads log
files.

::

    from fencepost_pipeline.spark import register

    register(spark)
    orders = (
        spark.read.format("fencepost")
        .option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "orders")
        .load()
    )
    written = spark.read.format("fencepost-log").option("topics", "orders").load("/var/lib/kafka")
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fencepost_pipeline.spark.exactly_once import by_partition, exactly_once_sink

__all__ = ["by_partition", "exactly_once_sink", "register"]


def __getattr__(name: str) -> Any:
    """Import a name that needs PySpark on its first use (PEP 562)."""
    if name in {"by_partition", "exactly_once_sink"}:
        from fencepost_pipeline.spark import exactly_once

        return getattr(exactly_once, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_PYTHON_S_MAX = 60
"""A Python that has not imported Fencepost by then is not waited for."""


def register(spark: SparkSession) -> None:
    """Register the data sources with a session.

    Warns if the Python of Spark's workers does not have Fencepost.
    """
    from fencepost_pipeline.spark.data_source import FencepostDataSource
    from fencepost_pipeline.spark.log_source import LogDataSource

    spark.dataSource.register(FencepostDataSource)
    spark.dataSource.register(LogDataSource)
    _check_python(getattr(getattr(spark, "sparkContext", None), "pythonExec", None))


def _check_python(command: str | None) -> None:
    """Without Fencepost all that workers say is ``No module named 'fencepost_pipeline'``.

    Those that plan run here, next to the driver, by ``PYSPARK_PYTHON`` or the first python3 of the
    PATH: another one than ours where a virtual environment is not activated.
    """
    if not command or shutil.which(command) == sys.executable:
        return
    asked = [command, "-c", "import fencepost_pipeline.spark"]
    try:
        done = subprocess.run(  # noqa: S603
            asked, capture_output=True, check=False, timeout=_PYTHON_S_MAX
        )
        found = done.returncode == 0
    except OSError:
        found = False
    except subprocess.TimeoutExpired:
        return  # it says nothing, and so nothing is known: workers will tell
    if not found:
        warnings.warn(
            f"Spark runs its Python workers by {command!r} ({shutil.which(command)}), which has "
            f"no Fencepost: set PYSPARK_PYTHON={sys.executable} before the session is made, or "
            "activate that environment.",
            stacklevel=3,
        )
