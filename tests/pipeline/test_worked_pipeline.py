"""``examples/pipeline`` once, with few orders: its proof holds, and none of its processes stays.

``make worked-pipeline`` runs it: not CI, where two lives of Spark with two queries each, beside
other tests, would take minutes of its budget.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.waiting import polled

ROOT = Path(__file__).parents[2]
ENVIRONMENT = "FENCEPOST_TEST_WORKED_PIPELINE"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.conformance,  # Spark needs a JVM
    pytest.mark.skipif(ENVIRONMENT not in os.environ, reason="it is run by: make worked-pipeline"),
]


def test_killed_in_the_middle_every_order_is_counted_once(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install fencepost[spark]")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java runtime: there is no 'java' on the PATH")
    command = [sys.executable, "examples/pipeline", "--folder", str(tmp_path), "--rate", "50"]
    if os.environ.get("FENCEPOST_TEST_BROKER") == "kafka":
        command += ["--broker", f"{sys.executable} -m tests.support.kafka_up"]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | {ENVIRONMENT: str(tmp_path)},
    )  # fmt: skip
    print(run.stdout, run.stderr)
    assert (run.returncode, run.stderr) == (0, ""), logs(tmp_path)
    assert "the broker was killed" in run.stdout
    assert "Spark was killed" in run.stdout
    assert "0 lost, 0 there twice or from nowhere, 0 minutes with a wrong total" in run.stdout
    assert "inside the broker: yes\n" in run.stdout
    # The kill was in the middle: what Spark had written was aborted by its next life.
    transactions = pq.read_table(tmp_path / "audit" / "transactions.parquet").to_pylist()
    aborted = [each["records"] for each in transactions if each["outcome"] == "abort"]
    assert any(aborted), transactions
    # Spark's Python processes end when they notice that the JVM is gone.
    polled(lambda: not processes_of(tmp_path), "processes stay")


def processes_of(folder: Path) -> list[str]:
    """Processes that the run has started, by the environment that they have inherited."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"{ENVIRONMENT}={folder}".encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
    return found


def logs(folder: Path) -> str:
    """What the programs have said."""
    return "\n".join(path.read_text(errors="replace")[-4000:] for path in folder.glob("*.log"))
