"""Consume, transform, produce: workers of one client in one group, while members come, go and die.

A worker reads the records of a source and writes each one's value, in a transaction together with
the group's offsets, to the partition of the same number of a sink. It is called as

    WORKER BOOTSTRAP --rebalance=KIND --group=NAME --source=TOPIC --sink=TOPIC
           --transactional-id=ID --transaction-timeout-ms=N

and told by lines on its standard input:

    hold STAGE   in the next transaction, stand still before its offsets are sent (STAGE: written)
                 or after that (offsets), before it is committed
    go           go on
    leave        end the transaction that is open, leave the group and end, as when input ends

It says, in lines on its standard output: `assigned 0,2` (its partitions, whenever they are others),
`will hold STAGE`, `holding STAGE`, `committed N` (records), `aborted WHY`.

Workers whose client sends the group's generation with the offsets (KIP-447) have a transactional id
each. The others have a producer for each partition, with the transactional id ID-PARTITION: who
gets a partition fences whoever had it before it looks where to go on.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final

from tests.conformance.clients import brokers
from tests.conformance.clients.clients import CLIENTS, CLIENTS_DIR
from tests.conformance.clients.harness import REPOSITORY_DIR, Check, ScriptRun
from tests.conformance.clients.source_and_sink import (
    PARTITIONS,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    Source,
    committed_offsets,
    create_topics,
    read,
    value_of,
)

GIVE_UP_SECONDS: Final = 90.0
_LOOK_AGAIN_SECONDS: Final = 0.05

# Soon missed, so that others soon go on; what the workers themselves are told stands with them.
BROKER_SETTINGS: Final[Mapping[str, str]] = {
    **brokers.BROKER_SETTINGS,
    "group.min.session.timeout.ms": "1000",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "4000",
}
# The transaction of a worker that is killed ends by its timeout. The one of a worker that stands
# still is open yet when the worker goes on: others must have its partitions nevertheless.
SHORT_TIMEOUT_MS: Final = 3_000
LONG_TIMEOUT_MS: Final = 120_000

# What is checked of each leg, in this order.
CHECKS: Final[Mapping[str, str]] = {
    "shared": "two workers share the partitions, and both commit",
    "killed": (
        "one is killed (kill -9) with records written and offsets sent: its transaction ends by"
        " its timeout, and the other goes on where the last committed one ended"
    ),
    "zombie": (
        "one stands still with records written until others have its partitions: going on, it is"
        " refused, and says so"
    ),
    "moved": "one more comes and one leaves, and all that was fed is worked off",
    "exactly-once": (
        "a read_committed reader finds each record once, in order; the group's offsets are at the"
        " end; a read_uncommitted reader finds the aborted ones too"
    ),
}


REBALANCES: Final = ("eager", "cooperative", "consumer-protocol")


@dataclass(frozen=True, slots=True)
class Transforming:
    """How a client is called as a worker: the last word of its command, and what it can."""

    last_word: str
    rebalances: Sequence[str]
    # Whether it needs a producer for each partition.
    per_partition: bool = False

    def command(self, client: str) -> list[str]:
        command = CLIENTS[client].prepare()
        return [*command, self.last_word] if len(command) == 1 else [*command[:-1], self.last_word]


_PYTHON: Final = "tests.conformance.clients.python"
WORKERS: Final[Mapping[str, Transforming]] = {
    "java": Transforming("fencepost.clients.Transform", REBALANCES),
    "confluent-kafka": Transforming(f"{_PYTHON}.confluent_transform", REBALANCES),
    "aiokafka": Transforming(f"{_PYTHON}.aiokafka_transform", ("eager",), per_partition=True),
    "kafka-python": Transforming(f"{_PYTHON}.kafka_python_transform", ("eager", "cooperative")),
    "kafkajs": Transforming(
        str(CLIENTS_DIR / "kafkajs" / "transform.mjs"), ("eager",), per_partition=True
    ),
    "franz-go": Transforming("transform", REBALANCES),
}
LEGS: Final = [(client, kind) for client, one in WORKERS.items() for kind in one.rebalances]


def scenario_of(rebalance: str) -> str:
    return f"transform-{rebalance}"


class TransformFailedError(Exception):
    """Something else happened than what should."""


class Worker:
    """A worker's process, and what it has said."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self.said: list[str] = []
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (close does it)
        self._process = subprocess.Popen(
            command,
            cwd=REPOSITORY_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    @property
    def partitions(self) -> set[int]:
        told = [line for line in self.said if line.startswith("assigned ")]
        numbers = told[-1].removeprefix("assigned ") if told else ""
        return {int(one) for one in numbers.split(",") if one}

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()

    def signal(self, number: int) -> None:
        os.killpg(self._process.pid, number)

    def end(self) -> None:
        """Ends it at once, if it still runs."""
        with contextlib.suppress(ProcessLookupError):
            self.signal(signal.SIGKILL)
        self._process.wait()
        self._listener.join()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def close(self) -> str:
        """Ends it; what it said last on its standard error."""
        self.end()
        with self._stderr as stderr:
            stderr.seek(0)
            said = stderr.read()[-2000:].decode(errors="replace")
        return f"{self.name} ended with {self.exit_code}; it said:\n{self.said[-40:]}\n{said}"

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            self.said.extend(line.rstrip("\n") for line in lines)


def run(client: str, rebalance: str, bootstrap: str, prefix: str) -> ScriptRun:
    """Everything above for one client and one kind of rebalance, against this broker."""
    leg = _Leg(client, rebalance, bootstrap, prefix)
    with ExitStack() as workers:
        leg.run(workers)
    result = ScriptRun(client, ending="ended", stderr="\n".join(leg.last_words))
    result.checks[scenario_of(rebalance)] = leg.checks
    return result


class _Leg:
    def __init__(self, client: str, rebalance: str, bootstrap: str, prefix: str) -> None:
        self._command = [*WORKERS[client].command(client), bootstrap, f"--rebalance={rebalance}"]
        self._port = int(bootstrap.rpartition(":")[2])
        self._name = f"{prefix}-{scenario_of(rebalance)}"
        self._per_partition = WORKERS[client].per_partition
        self._workers: list[Worker] = []
        self.checks: list[Check] = []
        self.last_words: list[str] = []

    @property
    def _source(self) -> str:
        return f"{self._name}-source"

    @property
    def _sink(self) -> str:
        return f"{self._name}-sink"

    def run(self, workers: ExitStack) -> None:
        """One check after the other, until one fails: those behind it have no ground then."""
        create_topics(self._port, self._source, self._sink)
        workers.callback(lambda: self.last_words.extend(one.close() for one in self._workers))
        with contextlib.suppress(TransformFailedError), Source(self._port, self._source) as source:
            with self._check("shared"):
                first, second = self._start("first", SHORT_TIMEOUT_MS), self._start("second")
                self._until_shared()
                self._until_all([first, second], lambda one: _has(one, "committed"), "both commit")
            with self._check("killed"):
                self._hold(first, "offsets")
                first.end()
                self._until_taken_over(source, second)
            with self._check("zombie"):
                third = self._start("third")
                self._until_shared()
                self._hold(second, "written")
                second.signal(signal.SIGSTOP)
                self._until_taken_over(source, third)
                before = len(second.said)
                second.signal(signal.SIGCONT)
                second.tell("go")
                self._until(lambda: _has(second, "aborted", "committed", since=before), "it ends")
                if not _has(second, "aborted", since=before):
                    raise TransformFailedError(f"it could commit: {second.said[before:]}")
            with self._check("moved"):
                self._start("fourth")
                self._until_shared()
                third.tell("leave")
                self._until(lambda: third.exit_code is not None, "the third ends")
                _expect(third.exit_code, 0, "how the third ended")
                self._until_shared()
                fed = source.end()
                self._until_worked_off(fed)
            with self._check("exactly-once"):
                running = [one for one in self._workers if one.exit_code is None]
                for one in running:
                    one.tell("leave")
                self._until(lambda: None not in [one.exit_code for one in running], "all end")
                self._verify(fed)

    def _verify(self, fed: int) -> None:
        offsets = committed_offsets(self._port, self._name)
        _expect(offsets, dict.fromkeys(range(PARTITIONS), fed), "the group's offsets")
        uncommitted = 0
        for partition in range(PARTITIONS):
            wanted = [value_of(partition, number) for number in range(fed)]
            found = read(self._port, self._sink, partition, READ_COMMITTED)
            if found != wanted:
                lost = [one for one in wanted if one not in found]
                twice = sorted({one for one in found if found.count(one) > 1})
                raise TransformFailedError(
                    f"partition {partition} of {self._sink}: lost {lost}, twice {twice},"
                    f" {len(found)} records instead of {fed}"
                )
            uncommitted += len(read(self._port, self._sink, partition, READ_UNCOMMITTED))
        if uncommitted <= PARTITIONS * fed:
            raise TransformFailedError("nothing was aborted: this has tried nothing")

    def _start(self, name: str, transaction_timeout_ms: int = LONG_TIMEOUT_MS) -> Worker:
        transactional_id = self._name if self._per_partition else f"{self._name}-{name}"
        worker = Worker(
            name,
            [
                *self._command,
                *(f"--group={self._name}", f"--source={self._source}", f"--sink={self._sink}"),
                f"--transactional-id={transactional_id}",
                f"--transaction-timeout-ms={transaction_timeout_ms}",
            ],
        )
        self._workers.append(worker)
        return worker

    def _hold(self, worker: Worker, stage: str) -> None:
        worker.tell(f"hold {stage}")
        self._until(lambda: _has(worker, f"holding {stage}"), f"{worker.name} holds at {stage}")

    def _until_shared(self) -> None:
        """Each worker that runs has partitions, and together they have each once."""

        def shared() -> bool:
            places = [one.partitions for one in self._workers if one.exit_code is None]
            return all(places) and sorted(p for one in places for p in one) == list(
                range(PARTITIONS)
            )

        self._until(shared, "the workers share the partitions")

    def _until_taken_over(self, source: Source, worker: Worker) -> None:
        everything = set(range(PARTITIONS))
        self._until(lambda: worker.partitions == everything, f"{worker.name} has everything")
        self._until_worked_off(source.fed)

    def _until_worked_off(self, fed: int) -> None:
        def worked_off() -> bool:
            offsets = committed_offsets(self._port, self._name)
            return all(offsets.get(partition, 0) >= fed for partition in range(PARTITIONS))

        self._until(worked_off, f"the first {fed} records of each partition are worked off")

    def _until_all(
        self, workers: Iterable[Worker], condition: Callable[[Worker], bool], what: str
    ) -> None:
        self._until(lambda: all(condition(one) for one in workers), what)

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + GIVE_UP_SECONDS
        pause = threading.Event()
        while not condition():
            if time.monotonic() > deadline:
                offsets = committed_offsets(self._port, self._name)
                said = {one.name: one.said[-6:] for one in self._workers}
                raise TransformFailedError(f"not in time: {what}; offsets {offsets}, said {said}")
            pause.wait(_LOOK_AGAIN_SECONDS)

    @contextmanager
    def _check(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.checks.append(Check(name, ok=False, detail=f"{type(error).__name__}: {error}"))
            raise TransformFailedError(name) from error
        self.checks.append(Check(name, ok=True))


def _has(worker: Worker, *words: str, since: int = 0) -> bool:
    return any(line.startswith(words) for line in worker.said[since:])


def _expect(actual: object, wanted: object, what: str) -> None:
    if actual != wanted:
        raise TransformFailedError(f"{what}: {actual} instead of {wanted}")
