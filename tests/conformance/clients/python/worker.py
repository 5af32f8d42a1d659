"""What the Python workers share: how they are called, what they are told, and what they say.

A worker reads a topic in a group and writes each record's value, in transactions with its offsets,
to the partition of the same number of another topic. `transforming.py` beside this folder calls
several of them, and tells what they are asked for.
"""

import argparse
import sys
import threading
from collections.abc import Iterable

# Short, so that a worker that was killed is soon missed.
SESSION_MS = 4_000
HEARTBEAT_MS = 500

# Small transactions: there shall be many.
RECORDS_PER_TRANSACTION = 5
POLL_SECONDS = 0.1
GIVE_UP_SECONDS = 30.0


class Worker:
    """One call of a worker: what it was told, on the command line and since."""

    def __init__(self) -> None:
        parser = argparse.ArgumentParser(description="reads, and writes in transactions")
        parser.add_argument("bootstrap", metavar="BOOTSTRAP", help="host:port")
        for name in ("rebalance", "group", "source", "sink", "transactional-id"):
            parser.add_argument(f"--{name}", required=True)
        parser.add_argument("--transaction-timeout-ms", type=int, required=True)
        arguments = parser.parse_args()
        self.bootstrap: str = arguments.bootstrap
        self.rebalance: str = arguments.rebalance
        self.group: str = arguments.group
        self.source: str = arguments.source
        self.sink: str = arguments.sink
        self.transactional_id: str = arguments.transactional_id
        self.transaction_timeout_ms: int = arguments.transaction_timeout_ms
        self.leaving = False
        self._assigned: set[int] = set()
        self._hold_at = ""
        self._released = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def assigned(self, partitions: Iterable[int]) -> None:
        """Tells which partitions are the worker's now, if it did not say so before."""
        now = set(partitions)
        if now != self._assigned:
            self._assigned = now
            self._say("assigned " + ",".join(map(str, sorted(now))))

    def committed(self, records: int) -> None:
        self._say(f"committed {records}")

    def aborted(self, error: Exception) -> None:
        self._say(f"aborted {type(error).__name__}: {error}".replace("\n", " "))

    def hold(self, stage: str) -> None:
        """Stands still in an open transaction, if that was asked for, until told to go on."""
        if self._hold_at == stage:
            self._hold_at = ""
            self._released.clear()
            self._say(f"holding {stage}")
            self._released.wait()

    def _listen(self) -> None:
        for line in sys.stdin:
            word, _, stage = line.strip().partition(" ")
            if word == "hold":
                self._hold_at = stage
                self._say(f"will hold {stage}")
            elif word == "go":
                self._released.set()
            elif word == "leave":
                break
        self.leaving = True
        self._released.set()

    def _say(self, line: str) -> None:
        print(line, flush=True)
