"""What the Python scripts share: the records they write, the lines they print, how they are called.

What a script is asked for stands in `scenarios.toml` beside this folder.
"""

import argparse
import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

# How long a script waits for one thing before it gives it up.
GIVE_UP_SECONDS = 30.0

RECORDS = 300
PARTITIONS = 3
FIRST_TIMESTAMP = 1_600_000_000_000

# What a client without such calls, and one without KIP-848, reports as unsupported.
CLUSTER_CHECKS = (
    *("describe-features", "describe-quorum", "elect-leaders", "describe-producers"),
    *("list-config-resources", "alter-replica-log-dirs"),
)
GROUP_CHECKS = ("share", "commit", "describe", "leave", "resume", "delete", "static")

Header: TypeAlias = tuple[str, bytes | None]


class MismatchError(Exception):
    """Something else came than what was expected."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it is written, or as it was read."""

    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    timestamp: int = FIRST_TIMESTAMP


def record(i: int) -> Record:
    """Record number i of those that every script writes and expects."""
    tail = bytes((31 * i + 7 * j) % 256 for j in range(i % 200))
    headers: tuple[Header, ...] = ()
    if i % 3 == 1:
        headers = (("seq", str(i).encode()), ("seq", b"again"))
    elif i % 3 == 2:
        headers = (("binary", bytes([0, 255, 10, 195, 40])), ("empty", b""))
    return Record(
        key=None if i % 6 == 4 else f"key-{i}".encode(),
        value=None if i % 6 == 5 else f"value-{i}-".encode() + tail,
        headers=headers,
        timestamp=FIRST_TIMESTAMP + 1000 * i,
    )


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def expect(actual: object, wanted: object, what: str) -> None:
    if actual != wanted:
        raise MismatchError(f"{what}: {_short(actual)} instead of {_short(wanted)}")


def expect_records(
    read: Mapping[int, Sequence[tuple[int, Record]]], wanted: Mapping[int, Sequence[Record]]
) -> None:
    """Exactly the wanted records by partition, at the offsets 0, 1, 2, ..."""
    for partition, records in wanted.items():
        got = read.get(partition, [])
        for offset, ((actual_offset, actual), wanted_record) in enumerate(
            zip(got, records, strict=False)
        ):
            expect(actual_offset, offset, f"partition {partition}, an offset")
            expect(actual, wanted_record, f"partition {partition}, offset {offset}")
        expect(len(got), len(records), f"partition {partition}, the number of records")


def by_partition(numbers: range) -> dict[int, list[Record]]:
    """The records of these numbers in the order of their partitions."""
    spread: dict[int, list[Record]] = {partition: [] for partition in range(PARTITIONS)}
    for i in numbers:
        spread[i % PARTITIONS].append(record(i))
    return spread


def eventually(condition: Callable[[], bool], what: str) -> None:
    """Asks again until it is so; for what a broker makes true a moment after its answer."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise MismatchError(f"not within {GIVE_UP_SECONDS:.0f} s: {what}")
        time.sleep(0.02)


class Script:
    """One call of a script: where the broker is, and what its checks report."""

    def __init__(self, bootstrap: str, prefix: str) -> None:
        self.bootstrap = bootstrap
        self.prefix = prefix
        self.scenario = ""
        self.failed = False

    def name(self, suffix: str) -> str:
        """The name of a topic, a group or a transactional id."""
        return f"{self.prefix}-{suffix}"

    @contextmanager
    def check(self, name: str) -> Iterator[None]:
        """Reports the block as ok, or as failed with the exception that ended it."""
        started = time.monotonic()
        ok, detail = True, ""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever ends a check is its result
            ok = False
            detail = str(error) if isinstance(error, MismatchError) else _where(error)
        self._print(name, ok, detail, ms=round(1000 * (time.monotonic() - started)))

    def unsupported(self, name: str, reason: str) -> None:
        """Reports a check for which the client has no means."""
        self._print(name, True, reason, unsupported=True)

    def unsupported_cluster(self, *supported: str) -> None:
        """Reports what there is no call for, of what only administrators ask."""
        for name in CLUSTER_CHECKS:
            if name not in supported:
                self.unsupported(name, "the client has no such call")

    def failed_to_set_up(self, error: Exception) -> None:
        """Reports what ended a scenario between its checks."""
        self._print("set-up", False, _where(error))

    def _print(self, name: str, ok: bool, detail: str, **more: int) -> None:
        self.failed = self.failed or not ok
        line = {"scenario": self.scenario, "check": name, "ok": ok, "detail": detail, **more}
        print(json.dumps(line), flush=True)


def main(client: str, scenarios: Mapping[str, Callable[[Script], None]]) -> None:
    """Runs the scenarios that the command line names, and ends the process."""
    parser = argparse.ArgumentParser(description=f"asks a broker what {client} needs")
    parser.add_argument("bootstrap", metavar="BOOTSTRAP", help="host:port")
    parser.add_argument("scenarios", metavar="SCENARIO", nargs="+", choices=sorted(scenarios))
    parser.add_argument("--prefix", default=client, help="begins all names (%(default)s)")
    arguments = parser.parse_args()
    script = Script(arguments.bootstrap, arguments.prefix)
    for script.scenario in arguments.scenarios:
        try:
            scenarios[script.scenario](script)
        except Exception as error:  # noqa: BLE001 - the next scenario has its chance
            script.failed_to_set_up(error)
    sys.exit(1 if script.failed else 0)


def _where(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/clients/python/" in frame.filename.replace("\\", "/")]
    line = f" (line {ours[-1].lineno})" if ours else ""
    return f"{type(error).__name__}: {error}{line}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 500 else f"{text[:400]}... ({len(text)} characters)"
