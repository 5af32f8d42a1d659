"""Measures the checker of histories: ``python -m tests.bench.checker [OPERATIONS]``.

The history is that of four transactional writers and two readers: each transaction sends two
batches of three records to two of eight partitions, and each reader polls both. In the second one,
each hundredth transaction is read too early. In the third one, nobody reads and transactions
overlap, so that all are in one component of cycles.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final, TextIO

from fencepost_client.histories import Kind, check, read_files

PARTITIONS: Final = 8
WRITERS: Final = 4
READERS: Final = ("r0", "r1")
CYCLES: Final = "cycles"
OPEN: Final = 20
"""Transactions that are open at the same time, in the history with cycles."""


class Writing:
    """Writes a history of so many operations; an invoke line and its end are one."""

    def __init__(self, file: TextIO, wrong: str) -> None:
        self._file = file
        self._wrong = wrong
        self._chance = random.Random(1)
        self._ends = [0] * PARTITIONS
        self._number = 0
        self.operations = 0
        self._line(fencepost_history=1)
        for writer in range(WRITERS):
            self._line(op="open", process=f"w{writer}", transactional_id=f"t{writer}")
        for reader in READERS:
            self._line(op="open", process=reader, isolation="read_committed")

    def _line(self, **fields: Any) -> None:
        self._file.write(json.dumps(fields) + "\n")

    def _twice(self, **fields: Any) -> None:
        self._number += 1
        self.operations += 1
        self._line(**fields, id=self._number, type="invoke")
        self._line(op=fields["op"], process=fields["process"], id=self._number)

    def transaction(self, number: int) -> None:
        """Two batches, a commit, and what both readers are given."""
        process, name = f"w{number % WRITERS}", f"transaction-{number}"
        given = [
            self._send(process, name, partition)
            for partition in self._chance.sample(range(PARTITIONS), 2)
        ]
        is_early = self._wrong == "early reads" and number % 100 == 7
        if not is_early:
            self._twice(op="commit", process=process, transaction=name)
        for reader in READERS:
            for poll in given:
                self.operations += 1
                self._line(op="poll", process=reader, **poll)
        if is_early:
            self._twice(op="commit", process=process, transaction=name)

    def overlapping(self, number: int) -> None:
        """A first batch of this transaction, and the second one of an earlier transaction."""
        for each, is_end in ((number, False), (number - OPEN, True)):
            process, name = f"w{each % WRITERS}", f"transaction-{each}"
            self._send(process, name, self._chance.randrange(PARTITIONS))
            if is_end:
                self._twice(op="commit", process=process, transaction=name)

    def _send(self, process: str, name: str, partition: int) -> dict[str, Any]:
        offset = self._ends[partition]
        end = self._ends[partition] = offset + 4
        batch = {
            "topic": "orders",
            "partition": partition,
            "offsets": [offset, offset + 1, offset + 2],
            "values": [f"value-{partition}-{offset + each}" for each in range(3)],
        }
        self._twice(op="send", process=process, **batch, transaction=name)
        return batch | {"high_watermark": end, "last_stable_offset": end}


def measure(operations: int, wrong: str, path: Path) -> str:
    """A row of the table."""
    with path.open("w", encoding="utf-8") as file:
        writing = Writing(file, wrong)
        number = 0
        while writing.operations < operations:
            number += 1
            step = writing.overlapping if wrong == CYCLES else writing.transaction
            step(number)
    started = time.process_time()
    report = check(read_files([path]))
    took = time.process_time() - started
    found = sum(
        tally.unexpected + tally.expected
        for kind, tally in report.tallies.items()
        if kind is not Kind.UNSEEN_WRITE
    )
    size = path.stat().st_size
    return (
        f"| {wrong or 'nothing wrong'} | {writing.operations:,} | {report.operations:,} "
        f"| {size / 1e6:.0f} | {found:,} | {took:.1f} | {writing.operations / took * 60:,.0f} |"
    )


def main() -> None:
    """The command line."""
    operations = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print("| history | operations | lines | MB | findings | s of CPU | operations a minute |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for wrong in ("", "early reads", CYCLES):
            print(measure(operations, wrong, Path(folder) / "history.jsonl"), flush=True)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"at most {memory} MB of memory")


if __name__ == "__main__":
    main()
