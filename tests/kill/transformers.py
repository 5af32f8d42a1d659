"""Consume, transform, produce, over and over: the load, in threads that outlive the broker.

A transformer has a partition of the input for itself. Each transaction takes some records, writes
one for each of them to several partitions of the output, and commits how far it has read; a fifth
of them it aborts on purpose. When the broker dies it goes on where it was when the broker is back,
with the very request that was not answered, or it begins anew, as its seed says.
"""

from __future__ import annotations

import json
import random
import subprocess
import threading
from collections.abc import Sequence
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import iter_records

from tests.kill.attempts import Attempt, Attempts, Outcome
from tests.kill.transactional import (
    FENCED,
    INPUT,
    FencedError,
    Gate,
    Link,
    LostError,
    Transactional,
    committed_offset,
)
from tests.support.up import FETCH_VERSION

OUTPUT_PARTITIONS: Final = 4
RECORDS_MAX: Final = 5
ABORTED_OF_ALL: Final = 0.2
ANEW_OF_ALL: Final = 0.4
OLD_PRODUCES: Final = (9, 11)
NEW_PRODUCE: Final = 12
SHORT_TIMEOUT_MS: Final = 300
INPUT_BYTES: Final = 100
SUPERVISOR_SECONDS: Final = 1.5
"""Until an application that does not say anything is started again."""


class Transformer(threading.Thread):
    """One of them. ``style`` is "old", "new", or "mixed": which requests it uses."""

    may_be_fenced = False
    """Whether its producer may be told that it is over; it begins anew then."""
    timeout_ms = 60_000

    def __init__(self, gate: Gate, name: str, partition: int, style: str, seed: str) -> None:
        super().__init__(name=name, daemon=True)
        self.gate = gate
        self.rng = random.Random(seed)
        self.style = style
        self.partition = partition
        self.link = Link(gate)
        self.producer = Transactional(self.link, name, timeout_ms=self.timeout_ms)
        self.attempts = Attempts(name)
        self.is_idle = threading.Event()
        self.failure: BaseException | None = None
        self.position = 0
        self.begins_anew = True
        self.times_fenced = 0
        self.zombies_refused = 0

    # -- for the round -------------------------------------------------------------------------

    def expect_loss(self) -> None:
        """The broker is about to die: decide what to do about it."""
        self.link.gives_up = self.rng.random() < ANEW_OF_ALL

    def committed(self) -> int:
        """How far its group has read."""
        return committed_offset(self.gate, self.name, self.partition)

    # -- the thread ----------------------------------------------------------------------------

    def run(self) -> None:
        """Transform until the gate is closed, which nothing but the end of the round does."""
        try:
            while not self.gate.is_closed:
                self.is_idle.clear()
                if self.begins_anew:
                    self._begin_anew()
                elif self.gate.goes_on.is_set():
                    self._transform()
                else:
                    self.is_idle.set()
                    self.gate.goes_on.wait()
        except LostError:
            assert self.gate.is_closed
        except BaseException as error:  # noqa: BLE001 (the round raises it)
            self.failure = error
        finally:
            self.link.close()
            self.is_idle.set()

    def _transform(self) -> None:
        try:
            self.one_transaction()
        except LostError:
            self.begins_anew = True
        except FencedError as error:
            if not self.may_be_fenced:
                raise AssertionError(f"{self.name}: {error}") from error
            self.times_fenced += 1
            self.begins_anew = True

    def _begin_anew(self) -> None:
        """As a new process would: what was open is aborted, and the old producer is a zombie."""
        self.link.gives_up = False
        zombie = self.producer.id, self.producer.epoch
        self.producer.initialize()
        self.position = self.producer.committed(self.partition)
        self.begins_anew = False
        if zombie[0] >= 0:
            self._must_be_refused(zombie)

    def _must_be_refused(self, zombie: tuple[int, int]) -> None:
        code = self.producer.hears_of_end(zombie, commits=True, new=self.is_new())
        assert code in FENCED, f"{self.name}: a zombie may commit: {code.name}"
        self.zombies_refused += 1

    def is_new(self) -> bool:
        """Whether the next request is one of the new protocol."""
        return self.style == "new" or (self.style == "mixed" and self.rng.random() < 0.5)

    # -- one transaction -----------------------------------------------------------------------

    def one_transaction(self) -> None:
        """Read, write, commit or abort."""
        attempt = self._write()
        commits = self.rng.random() >= ABORTED_OF_ALL
        attempt.outcome = Outcome.COMMIT_SENT if commits else Outcome.OPEN
        self.producer.end(commits=commits, new=self.is_new())
        attempt.outcome = Outcome.COMMITTED if commits else Outcome.ABORTED
        if commits:
            self.position = attempt.next

    def _write(self) -> Attempt:
        """All of a transaction but its end."""
        count = self._read(self.rng.randint(1, RECORDS_MAX))
        partitions = self.rng.sample(range(OUTPUT_PARTITIONS), self.rng.choice([2, 2, 3]))
        attempt = self.attempts.begin(self.position, self.position + count, partitions)
        steps: list[int | None] = [*partitions, None]
        self.rng.shuffle(steps)
        for step in steps:
            if step is None:
                self.producer.send_offset(self.partition, attempt.next, new=self.is_new())
            else:
                version = NEW_PRODUCE if self.is_new() else self.rng.choice(OLD_PRODUCES)
                self.producer.send(step, attempt.output[step], version)
        return attempt

    def _read(self, count: int) -> int:
        """How many records there are from the position on, at most ``count``."""
        wanted = FetchPartition(
            self.partition, fetch_offset=self.position, partition_max_bytes=INPUT_BYTES
        )
        request = FetchRequest(
            max_bytes=INPUT_BYTES, topics=[FetchTopic(INPUT, partitions=[wanted])]
        )
        data = self.link.ask(request, FETCH_VERSION).responses[0].partitions[0]
        assert not data.error_code, ErrorCode(data.error_code).name
        offsets: list[int] = []
        for _, batch in split_batches(data.records, tolerate_partial=True):
            offsets += [each.offset for each in iter_records(batch)]
        found = [offset for offset in offsets if offset >= self.position][:count]
        return len(found)


class Leaver(Transformer):
    """Leaves each transaction open, until time is over; then it must not commit any more."""

    may_be_fenced = True
    timeout_ms = SHORT_TIMEOUT_MS

    def expect_loss(self) -> None:
        """It waits for the timer in any case, whether the broker dies meanwhile or not."""

    def one_transaction(self) -> None:
        """Write, and wait to be aborted."""
        self._write()
        self.producer.wait_for("CompleteAbort", "Empty", "")
        self._must_be_refused((self.producer.id, self.producer.epoch))
        raise FencedError


class Librdkafka:
    """A transformer in a process of its own: an application with confluent-kafka.

    It is ended and started again when it does not come to an end of its transaction: librdkafka
    2.16 may wait for ever for a group's coordinator that went away (its issues 5456 and 5511).
    """

    def __init__(self, command: Sequence[str], gate: Gate, name: str, partition: int) -> None:
        self.name = name
        self.partition = partition
        self.gate = gate
        self.attempts = Attempts(name)
        self.is_idle = threading.Event()
        self.failure: BaseException | None = None
        self.times_restarted = 0
        self._command = command
        self._start()

    def _start(self) -> None:
        places = [f"127.0.0.1:{self.gate.port}", self.name]
        numbers = [self.partition, OUTPUT_PARTITIONS, len(self.attempts.all)]
        self._process = subprocess.Popen(
            [*self._command, *places, *map(str, numbers)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def go(self) -> None:
        """Transform."""
        self._order("go")

    def hold(self) -> None:
        """Finish what is begun and be idle; it is started again if it cannot."""
        self.is_idle.clear()
        self._order("hold")
        if not self.is_idle.wait(SUPERVISOR_SECONDS):
            self.close()
            self.times_restarted += 1
            self.is_idle.clear()
            self._start()
            self._order("hold")

    def committed(self) -> int:
        """How far its group has read."""
        return committed_offset(self.gate, self.name, self.partition)

    def _order(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._hear(json.loads(line))
        except BaseException as error:  # noqa: BLE001 (the round raises it)
            self.failure = error
        self.is_idle.set()

    def _hear(self, told: dict[str, Any]) -> None:
        if "begin" in told:
            attempt = self.attempts.begin(told["begin"], told["next"], told["partitions"])
            assert attempt.number == told["number"]
        elif "outcome" in told:
            self.attempts.all[told["number"]].outcome = Outcome[told["outcome"]]
        else:
            self.is_idle.set()

    def close(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
