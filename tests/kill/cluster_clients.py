"""What keeps a cluster busy while its processes die, and what these clients were told.

Idempotent producers write the input; transactional producers write, commit, abort, and are replaced
by a successor in the middle of a transaction; members of a group read the input, and write a record
for each of its records, with the group's offsets in the same transaction. All of them are the SDK's
and work on whatever happens: an error that reaches one of these programs and is not of those that
say what to do next is a fault.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from fencepost_client import (
    AbortableTransactionError,
    Consumer,
    ConsumerRecord,
    FencedError,
    KafkaError,
    Producer,
    RetriableError,
    Transaction,
    exactly_once,
)
from fencepost_client.clients.delivery import Delivery
from fencepost_client.config.settings import GroupProtocol
from fencepost_client.producer.stages import Stage

from tests.kill.attempts import Attempts, Outcome
from tests.support.up import PATIENCE_SECONDS

INPUT, OUTPUT = "input", "output"
PARTITIONS: Final = 3
GROUP: Final = "transformers"
TRANSFORMED: Final = "transformed"
RECORDS_AT_ONCE: Final = (1, 1, 5, 20)
IN_FLIGHT: Final = 60
PAUSE_SECONDS: Final = 0.05
ABORTED, REPLACED = 0.2, 0.05
MEMBERS_MAX: Final = 3
QUICK: Final[dict[str, Any]] = {"request_timeout_ms": 4000}
"""A broker that stands still is given up after so long; dead ones hang up by themselves."""
MEMBER: Final[dict[str, Any]] = {
    **QUICK,
    "group_id": GROUP,
    "isolation_level": "read_committed",
    "auto_offset_reset": "earliest",
    "enable_auto_commit": False,
    "session_timeout_ms": 6000,
    "heartbeat_interval_ms": 500,
    "fetch_max_wait_ms": 100,
}
PROTOCOLS: Final = ("classic", "consumer")


class Program(ABC):
    """One client, over whatever happens."""

    def __init__(self, name: str, bootstrap: str) -> None:
        self.name = name
        self.bootstrap = bootstrap
        self.steps = 0
        """Grows as long as it gets on."""
        self._is_stopping = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Run it in the background."""
        self._task = asyncio.create_task(self._run(), name=self.name)

    def stop(self) -> None:
        """Let it end behind what is under way."""
        self._is_stopping = True

    async def ended(self) -> None:
        """Wait for it; raises what it failed of."""
        assert self._task is not None
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await asyncio.shield(self._task)
        except TimeoutError:
            raise AssertionError(f"{self.name} does not come to an end") from None

    async def cancel(self) -> None:
        """End it now."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def check(self) -> None:
        """Raise what it failed of."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            error = self._task.exception()
            if error is not None:
                raise AssertionError(f"{self.name} failed: {error!r}") from error

    @abstractmethod
    async def _run(self) -> None: ...


class Steady(Program):
    """An idempotent producer that waits for all replicas; no error is right for it."""

    def __init__(self, name: str, bootstrap: str, rng: random.Random) -> None:
        super().__init__(name, bootstrap)
        self._rng = rng
        self.sent = [0] * PARTITIONS
        self.acknowledged: list[dict[int, bytes]] = [{} for _ in range(PARTITIONS)]

    async def _run(self) -> None:
        rng = self._rng
        waiting: deque[tuple[int, bytes, Delivery]] = deque()
        async with Producer(self.bootstrap, linger_ms=rng.choice([0, 5]), **QUICK) as producer:
            while not self._is_stopping:
                partition = rng.randrange(PARTITIONS)
                for _ in range(rng.choice(RECORDS_AT_ONCE)):
                    value = b"%s/%d/%d" % (self.name.encode(), partition, self.sent[partition])
                    self.sent[partition] += 1
                    delivery = await producer.send(INPUT, value, partition=partition)
                    waiting.append((partition, value, delivery))
                while len(waiting) > IN_FLIGHT:
                    await self._keep(*waiting.popleft())
                await asyncio.sleep(PAUSE_SECONDS)
            while waiting:
                await self._keep(*waiting.popleft())

    async def _keep(self, partition: int, value: bytes, delivery: Delivery) -> None:
        told = await delivery
        known = self.acknowledged[partition]
        assert told.offset not in known, f"offset {told.offset} was given away twice"
        known[told.offset] = value
        self.steps += 1


class Committer(Program):
    """A transactional producer: commits, aborts, and is replaced by its successor."""

    def __init__(self, name: str, bootstrap: str, rng: random.Random) -> None:
        super().__init__(name, bootstrap)
        self._rng = rng
        self.attempts = Attempts(name)
        self.place = 0
        self.zombies_refused = 0
        self._producer = self._made()

    def _made(self) -> Producer:
        return Producer(
            self.bootstrap, transactional_id=self.name, transaction_timeout_ms=60_000, **QUICK
        )

    async def _run(self) -> None:
        await until_told(self._producer.start)
        try:
            while not self._is_stopping:
                await self._transaction()
                self.steps += 1
        finally:
            await self._producer.close(flush=False)

    async def _transaction(self) -> None:
        rng, producer = self._rng, self._producer
        partitions = sorted(rng.sample(range(PARTITIONS), rng.randint(1, PARTITIONS)))
        following = self.place + rng.choice(RECORDS_AT_ONCE)
        attempt = self.attempts.begin(self.place, following, partitions)
        try:
            producer.begin()
            for partition, values in attempt.output.items():
                for value in values:
                    await producer.send(OUTPUT, value, partition=partition)
            await asyncio.sleep(rng.random() * PAUSE_SECONDS)
            choice = rng.random()
            if choice < REPLACED:
                await producer.flush()
                await self._replace()
                return
            if choice < REPLACED + ABORTED:
                await until_told(producer.abort)
                attempt.outcome = Outcome.ABORTED
                return
            attempt.outcome = Outcome.COMMIT_SENT
            await self._commit()
        except (AbortableTransactionError, RetriableError):
            await until_told(producer.abort)
            attempt.outcome = Outcome.ABORTED
        else:
            attempt.outcome = Outcome.COMMITTED
            self.place = following

    async def _commit(self) -> None:
        while True:
            try:
                await self._producer.commit()
            except RetriableError:
                if self._producer.stage is not Stage.COMMITTING:
                    raise
            else:
                return

    async def _replace(self) -> None:
        """A successor takes over; who was there before must not commit any more."""
        zombie, self._producer = self._producer, self._made()
        await until_told(self._producer.start)
        try:
            await until_told(zombie.commit)
        except FencedError:
            self.zombies_refused += 1
        else:
            raise AssertionError(f"{self.name}: the predecessor could commit")
        finally:
            with suppress(KafkaError):
                await zombie.close(flush=False)


class Transformer(Program):
    """A member of the group: a record of output for each record of input, exactly once."""

    def __init__(self, name: str, bootstrap: str, protocol: GroupProtocol) -> None:
        super().__init__(name, bootstrap)
        self._protocol = protocol
        self.committed: dict[int, int] = {}
        """Where it was told that the group's offsets are, by partition."""
        self._work: Any = None

    async def _run(self) -> None:
        settings = dict(MEMBER)
        if self._protocol == "consumer":
            del settings["session_timeout_ms"], settings["heartbeat_interval_ms"]
        consumer = Consumer(self.bootstrap, group_protocol=self._protocol, **settings)
        producer = Producer(self.bootstrap, transactional_id=self.name, **QUICK)
        self._work = exactly_once(
            consumer, producer, self._transform, poll_timeout_ms=200, attempts_max=1000
        )
        async with consumer, self._work as transactions:
            consumer.subscribe([INPUT])
            async for done in transactions:
                for where, offset in done.offsets.items():
                    self.committed[where.partition] = offset
                self.steps += len(done.records)

    @staticmethod
    async def _transform(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        for each in records:
            value = b"%s/%d/%d" % (TRANSFORMED.encode(), each.partition, each.offset)
            await transaction.send(OUTPUT, value, partition=each.partition)

    def stop(self) -> None:
        """Let it end behind its transaction."""
        super().stop()
        if self._work is not None:
            self._work.stop()


class Clients:
    """All of them."""

    def __init__(self, bootstrap: str, seed: str, protocol: GroupProtocol) -> None:
        self.bootstrap = bootstrap
        self.protocol = protocol
        self._rng = random.Random(f"{seed}/clients")
        self.steady = [Steady(f"steady-{n}", bootstrap, self._new_rng()) for n in range(2)]
        self.committers = [
            Committer(f"committer-{n}", bootstrap, self._new_rng()) for n in range(2)
        ]
        self.members: list[Transformer] = []
        self.gone: list[Transformer] = []

    def _new_rng(self) -> random.Random:
        return random.Random(self._rng.random())

    def start(self) -> None:
        """Begin."""
        for each in (*self.steady, *self.committers):
            each.start()
        for _ in range(MEMBERS_MAX - 1):
            self._join()

    def rebalance(self) -> None:
        """Another member comes, or one goes; nobody waits for it."""
        if len(self.members) < MEMBERS_MAX:
            self._join()
            return
        leaving = self.members.pop(self._rng.randrange(len(self.members)))
        self.gone.append(leaving)
        leaving.stop()

    def _join(self) -> None:
        number = len(self.members) + len(self.gone)
        member = Transformer(f"transformer-{number}", self.bootstrap, self.protocol)
        self.members.append(member)
        member.start()

    async def until_all_get_on(self) -> None:
        """Until every one of them has got on from here; the group as a whole."""
        before = self._steps()

        def get_on() -> bool:
            return all(now > then for now, then in zip(self._steps(), before, strict=True))

        await self._until(get_on, lambda: f"who does not get on? {before} is {self._steps()} now")

    def _steps(self) -> list[int]:
        group = sum(each.steps for each in (*self.members, *self.gone))
        return [*(each.steps for each in (*self.steady, *self.committers)), group]

    async def finish(self) -> None:
        """Stop the writers, let the group come to the end of the input, stop it."""
        writers: list[Program] = [*self.steady, *self.committers]
        for each in writers:
            each.stop()
        for each in writers:
            await each.ended()
        ends = [sum(each.sent[number] for each in self.steady) for number in range(PARTITIONS)]
        await self._until(
            lambda: self.committed() == ends,
            lambda: f"the group is at {self.committed()} of {ends}",
        )
        for member in self.members:
            member.stop()
        for member in (*self.members, *self.gone):
            await member.ended()

    def committed(self) -> list[int]:
        """The group's offsets as its members were told."""
        members = (*self.members, *self.gone)
        return [
            max((each.committed.get(number, 0) for each in members), default=0)
            for number in range(PARTITIONS)
        ]

    async def cancel(self) -> None:
        """End all of them, whatever they do."""
        for each in (*self.steady, *self.committers, *self.members, *self.gone):
            await each.cancel()

    async def _until(self, is_so: Callable[[], bool], otherwise: Callable[[], str]) -> None:
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        while not is_so():
            for each in (*self.steady, *self.committers, *self.members, *self.gone):
                each.check()
            assert asyncio.get_running_loop().time() < deadline, otherwise()
            await asyncio.sleep(PAUSE_SECONDS)


async def until_told(do: Callable[[], Awaitable[None]]) -> None:
    """Again and again, until it is known what became of it."""
    while True:
        with suppress(RetriableError):
            await do()
            return
