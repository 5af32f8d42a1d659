"""How a suite's program is run: in a folder of its own, with a time limit."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.conformance.suites.outcomes import Outcomes
from tests.conformance.suites.places import Place, start

SUITES_DIR: Final = Path(__file__).parent
REPOSITORY_DIR: Final = SUITES_DIR.parents[2]
NETWORK_OF_ITS_OWN: Final = ["unshare", "--map-root-user", "--net"]
TARGET: Final = REPOSITORY_DIR / "build" / "suites" / "fetched"
"""What others have written is kept out of the folders of tests."""


@dataclass(frozen=True, slots=True, eq=False)
class Suite:
    """A test suite of another project."""

    name: str
    version: str
    prepare: Callable[[], Path]
    """Fetches and builds what it needs, unless it is there. Gives the folder."""
    run: Callable[[Place, Run], Outcomes]
    """Runs the tests, and reads what they say. There is no network but the broker's."""
    seconds: int
    """The time limit of a run."""
    places: Sequence[str] = ("fencepost", "fencepost-cluster", "kafka")
    begin: Callable[[str, Mapping[str, str]], AbstractContextManager[Place]] = start
    """Starts the brokers of a place."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What its own project sets for its tests, in Kafka's names."""
    left_out: str = "nothing"
    """What of its tests is not run, beside those that skip themselves."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a suite: what is asked for, and where it writes what the program says."""

    suite: Suite
    folder: Path
    log: Path
    only: str = ""
    """A pattern for names of tests; empty: all of them."""

    def execute(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None, below: str = ""
    ) -> str:
        """What the program prints on both streams; it is ended at the suite's time limit."""
        with self.log.open("w+b") as log:
            process = subprocess.Popen(
                command,
                cwd=self.folder / below,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                process.wait(self.suite.seconds)
            except subprocess.TimeoutExpired:
                log.write(b"\nthe time limit ended it\n")
            finally:
                # The group: what the program has started ends, too.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return self.log.read_text(encoding="utf-8", errors="replace")
