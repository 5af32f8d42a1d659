"""How a run of the matrix talks to its programs, of either client, in lines of words.

A copier is called as

    COPIER BOOTSTRAP --group=NAME --source=TOPIC --sink=TOPIC --transactional-id=ID --partition=N
           --records=N --pace-ms=N --member=true|false --session-ms=N --transaction-timeout-ms=N

It reads from the source and writes each value to the partition of the same number of the sink, in
transactions of at most so many records, together with the group's offsets. A member subscribes, so
that its offsets go with its generation and its member id; who is none reads its partition, and its
offsets go with the group's name alone. In the middle of each transaction it waits for its pace. It
says

    at PARTITION OFFSET    how far the group has come there: at its start, and after each commit
    begun, committed, aborted WHY

and is told ``hurry`` (wait no more) and ``leave`` (end behind the transaction that is open, as when
its input ends); ours also ``explain`` (write to standard error what its tasks wait for, and say
``explained``). SIGTERM is a clean end at once: what is open is aborted.

A reader is called as READER BOOTSTRAP --sink=TOPIC --partitions=N. It reads committed records from
the beginning of all partitions, says ``values PARTITION VALUE VALUE...``, and ends when it is told
``finish`` and has come to the end that the partitions have then.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import threading
from collections.abc import Callable


def say(*words: object) -> None:
    """One line to the run."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def read_arguments(*numbers: str, texts: tuple[str, ...] = ()) -> argparse.Namespace:
    """Where the cluster is, and these options, all of them required."""
    parser = argparse.ArgumentParser()
    parser.add_argument("bootstrap")
    for name in numbers:
        parser.add_argument(f"--{name}", type=int, required=True)
    for name in texts:
        parser.add_argument(f"--{name}", required=True)
    return parser.parse_args()


def hear(heard: Callable[[str], None]) -> None:
    """Have each line of the input told in the loop that runs; ``leave`` when it ends."""
    loop = asyncio.get_running_loop()

    def listen() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(heard, line.strip())
        loop.call_soon_threadsafe(heard, "leave")

    threading.Thread(target=listen, daemon=True).start()
