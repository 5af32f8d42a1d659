"""Consume, transform, produce on a cluster, while its brokers and its controller die.

The workers are those of `transforming.py`, and of our own SDK. Two of them share a source that is
fed all the time. When a process of the cluster is about to be killed, one stands still in an open
transaction (its records written, or its offsets sent, too), or a third one comes and the group is
in the middle of a rebalance. Thereafter they have to work off what was fed while that process is
dead. A worker that ends is started again, and so is one that says nothing for too long: as whoever
runs such a program would do. That is counted.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from fencepost_client.blocking import Producer
from fencepost_protocol.generated.list_groups import ListGroupsRequest

from tests.conformance.clients.source_and_sink import (
    PARTITIONS,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    committed_offsets,
    read,
    value_of,
)
from tests.conformance.clients.transforming import REBALANCES, WORKERS, Worker
from tests.support.cluster_processes import ClusterProcesses
from tests.support.up import ClosedError

SDK: Final = "fencepost"
LEGS: Final = [
    *((client, kind) for client, one in WORKERS.items() for kind in one.rebalances),
    *((SDK, kind) for kind in REBALANCES),
]
CONTROLLER, LEADER, TRANSACTIONS, GROUP = (
    "controller",
    "leader",
    "transaction coordinator",
    "group coordinator",
)
ROLES: Final = (LEADER, TRANSACTIONS, GROUP, CONTROLLER)
REBALANCE: Final = "rebalance"
STAGES: Final = ("written", "offsets", REBALANCE)
"""Where a leg is when something dies; the first two are those of a worker that holds."""

FEED_SECONDS: Final = 0.2
TRANSACTION_TIMEOUT_MS: Final = 20_000
SILENCE_SECONDS: Final = 30.0
GIVE_UP_SECONDS: Final = 240.0
_LOOK_AGAIN_SECONDS: Final = 0.1
_LIST_GROUPS_VERSION: Final = 5


class LegError(Exception):
    """Something else happened than what should."""


@dataclass
class Result:
    """What came out of a leg."""

    client: str
    rebalance: str
    rounds: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    """How often somebody died who had this role for this leg."""
    records: int = 0
    transactions: int = 0
    aborted: int = 0
    """How many records only a read_uncommitted reader sees."""
    restarts: int = 0
    """How many workers ended by themselves, or said nothing any more, and were started again."""
    lost: list[bytes] = field(default_factory=list)
    doubled: list[bytes] = field(default_factory=list)
    problem: str = ""

    @property
    def is_good(self) -> bool:
        """Nothing is lost, nothing is there twice, everything is where it should be."""
        return not (self.lost or self.doubled or self.problem)


class Member:
    """A worker that is started again when it ends."""

    def __init__(self, name: str, start: Callable[[], Worker]) -> None:
        self.name = name
        self.worker = start()
        self.restarts = 0
        self.is_holding = False
        """Whether it stands still because it was told to."""
        self.past_words: list[str] = []
        self.past_transactions = 0
        self._start = start
        self._has_ended = False
        self._heard = 0
        self._heard_at = time.monotonic()

    @property
    def transactions(self) -> int:
        """How many it has committed."""
        now = (
            0 if self._has_ended else sum(each.startswith("committed") for each in self.worker.said)
        )
        return self.past_transactions + now

    def tend(self) -> None:
        """Start it again if it has ended or is stuck."""
        if self.worker.exit_code is not None or self.is_stuck():
            self.is_holding = False
            self.end()
            self.restarts += 1
            self.worker, self._has_ended = self._start(), False
            self._heard, self._heard_at = 0, time.monotonic()

    def end(self) -> None:
        """End it at once, if it still runs; what it said is kept."""
        if not self._has_ended:
            self.past_transactions = self.transactions
            self._has_ended = True
            self.past_words.append(self.worker.close())

    def is_stuck(self) -> bool:
        """Whether it has said nothing for long, though there is always something to do."""
        said = len(self.worker.said)
        if said != self._heard or self.is_holding:
            self._heard, self._heard_at = said, time.monotonic()
        return time.monotonic() - self._heard_at > SILENCE_SECONDS


class Feed:
    """Numbered records in every partition of a topic, by an idempotent producer."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._servers = bootstrap
        self._topic = topic
        self._ending = threading.Event()
        self._error: Exception | None = None
        self._fed = 0

    @property
    def fed(self) -> int:
        """How many records of each partition are acknowledged."""
        if self._error is not None:
            raise self._error
        return self._fed

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def _run(self) -> None:
        try:
            with Producer(self._servers) as producer:
                while not self._ending.wait(FEED_SECONDS):
                    for partition in range(PARTITIONS):
                        value = value_of(partition, self._fed)
                        producer.send(self._topic, value, partition=partition)
                    producer.flush()
                    self._fed += 1
        except Exception as error:  # noqa: BLE001 (raised by whoever asks)
            self._error = error

    def end(self) -> int:
        """Feed no more; how many there are in each partition."""
        self._ending.set()
        self._thread.join()
        return self.fed


class Leg:
    """One client with one kind of rebalance, on one cluster."""

    def __init__(self, cluster: ClusterProcesses, client: str, rebalance: str) -> None:
        self.name = f"{client}-{rebalance}"
        self.result = Result(client, rebalance)
        self._cluster = cluster
        if client == SDK:
            module = "tests.conformance.clients.python.fencepost_transform"
            self._command = [sys.executable, "-m", module]
            self._per_partition = False
        else:
            self._command = WORKERS[client].command(client)
            self._per_partition = WORKERS[client].per_partition
        self._everybody: list[Member] = []
        self._members: list[Member] = []
        """Those that share the source now."""
        self._guest: Member | None = None
        self._feed = Feed(cluster.bootstrap, self._source)
        self._coordinator = 0

    @property
    def _source(self) -> str:
        return f"{self.name}-source"

    @property
    def _sink(self) -> str:
        return f"{self.name}-sink"

    # -- beginning and end -----------------------------------------------------------------------

    def start(self) -> None:
        """Begin: topics, a feed, and two workers that share what is fed."""
        cluster = self._cluster
        with cluster.connect(cluster.running()[0]) as wire:
            wire.create(self._source, PARTITIONS)
            wire.create(self._sink, PARTITIONS)
        for partition in range(PARTITIONS):
            cluster.leader(self._source, partition)
            cluster.leader(self._sink, partition)
        self._coordinator = cluster.group_coordinator(self.name)
        self._feed.start()
        self._members = [self._join("first"), self._join("second")]
        self._until_shared()
        self.until_worked_off()

    def finish(self) -> Result:
        """Feed no more, let the workers finish, and read everything back."""
        fed = self._feed.end()
        self.result.records = fed * PARTITIONS
        self.until_worked_off()
        while self._members:
            self._leave(self._members.pop())
        self._verify(fed)
        return self.result

    def close(self) -> str:
        """End what still runs; what the workers said."""
        with suppress(Exception):
            self._feed.end()
        for member in self._everybody:
            member.end()
        return "\n".join(words for each in self._everybody for words in each.past_words[-3:])

    def _join(self, name: str) -> Member:
        transactional_id = self._transactional_id(name)
        command = [
            *(*self._command, self._cluster.bootstrap),
            *(f"--rebalance={self.result.rebalance}", f"--group={self.name}"),
            *(f"--source={self._source}", f"--sink={self._sink}"),
            f"--transactional-id={transactional_id}",
            f"--transaction-timeout-ms={TRANSACTION_TIMEOUT_MS}",
        ]
        member = Member(name, lambda: Worker(f"{self.name} {name}", command))
        self._everybody.append(member)
        return member

    def _transactional_id(self, name: str) -> str:
        return self.name if self._per_partition else f"{self.name}-{name}"

    def _leave(self, member: Member) -> None:
        """In order; one that does not come to an end is killed, and counted as one restarted."""
        member.worker.tell("leave")
        with suppress(LegError):
            ended = lambda: member.worker.exit_code is not None  # noqa: E731
            self._until(ended, f"{member.name} ends", SILENCE_SECONDS)
        if member.worker.exit_code != 0:
            member.restarts += 1
        member.end()
        self.result.restarts += member.restarts
        self.result.transactions += member.transactions

    # -- a round ---------------------------------------------------------------------------------

    def prepare(self, stage: str) -> None:
        """Be there."""
        self.result.rounds += 1
        if stage == REBALANCE:
            self._guest = guest = self._join(f"guest-{self.result.rounds}")
            self._until(
                lambda: bool(guest.worker.partitions) or self._is_rebalancing(), "a rebalance"
            )
        else:
            self._hold(self._members[0], stage)

    def who_is(self, role: str) -> int:
        """The process that has a role for what the first worker does."""
        cluster = self._cluster
        if role == CONTROLLER:
            return cluster.controller
        partition = min(self._members[0].worker.partitions, default=0)
        if role == LEADER:
            return cluster.leader(self._sink, partition)
        if role == GROUP:
            return cluster.group_coordinator(self.name)
        name = self._transactional_id("first")
        return cluster.transaction_coordinator(
            f"{name}-{partition}" if self._per_partition else name
        )

    def note(self, node_id: int) -> None:
        """This process is about to die: what is it to this leg?"""
        self.result.kills.update(role for role in ROLES if self.who_is(role) == node_id)

    def go_on(self, stage: str) -> None:
        """Go on, and work off what was fed until then, however long that process is away."""
        if stage == REBALANCE:
            assert self._guest is not None
            self._members.append(self._guest)
            self._guest = None
            self._until_shared()
            self._leave(self._members.pop())
            self._until_shared()
        else:
            self._members[0].is_holding = False
            self._members[0].worker.tell("go")
        self.until_worked_off()

    def _hold(self, member: Member, stage: str) -> None:
        told: Worker | None = None
        before = 0

        def is_holding() -> bool:
            nonlocal told, before
            if member.worker is not told:
                told, before = member.worker, len(member.worker.said)
                told.tell(f"hold {stage}")
            return f"holding {stage}" in told.said[before:]

        self._until(is_holding, f"{member.name} holds at {stage}")
        member.is_holding = True

    def _is_rebalancing(self) -> bool:
        with suppress(OSError, ClosedError), self._cluster.connect(self._coordinator) as wire:
            answer = wire.ask(ListGroupsRequest(), _LIST_GROUPS_VERSION)
            states = [one.group_state for one in answer.groups if one.group_id == self.name]
            return any(state != "Stable" for state in states)
        return False

    # -- waiting ---------------------------------------------------------------------------------

    def _until_shared(self) -> None:
        """Each worker has partitions, and together they have each once."""

        def is_shared() -> bool:
            places = [each.worker.partitions for each in self._members]
            everything = sorted(number for place in places for number in place)
            return all(places) and everything == list(range(PARTITIONS))

        self._until(is_shared, "the workers share the partitions")

    def until_worked_off(self) -> None:
        """Everything that is fed by now is transformed."""
        fed = self._feed.fed

        def is_worked_off() -> bool:
            offsets = self.offsets()
            return all(offsets.get(partition, 0) >= fed for partition in range(PARTITIONS))

        self._until(is_worked_off, f"the first {fed} records of each partition are worked off")

    def offsets(self) -> dict[int, int]:
        """How far the group has come."""
        with suppress(OSError, ClosedError):
            found = committed_offsets(self._cluster.port(self._coordinator), self.name)
            if found:
                return found
        self._coordinator = self._cluster.group_coordinator(self.name)
        return {}

    def _until(
        self,
        condition: Callable[[], bool],
        what: str,
        seconds: float = GIVE_UP_SECONDS,
    ) -> None:
        deadline = time.monotonic() + seconds
        pause = threading.Event()
        while not condition():
            for member in self._members:
                member.tend()
            self._feed.fed  # noqa: B018 (raises what went wrong there)
            if time.monotonic() > deadline:
                said = {each.name: each.worker.said[-6:] for each in self._members}
                raise LegError(f"{self.name}: not in time: {what}; {self.offsets()}, {said}")
            pause.wait(_LOOK_AGAIN_SECONDS)

    # -- reading back ----------------------------------------------------------------------------

    def _verify(self, fed: int) -> None:
        result = self.result
        offsets = self.offsets()
        if offsets != dict.fromkeys(range(PARTITIONS), fed):
            result.problem = f"the group's offsets are {offsets}, not {fed} each"
        uncommitted = 0
        for partition in range(PARTITIONS):
            wanted = [value_of(partition, number) for number in range(fed)]
            with suppress(LegError):
                self._until(
                    lambda partition=partition: len(self._read(partition)) >= fed,  # type: ignore[misc]
                    "the last markers",
                    TRANSACTION_TIMEOUT_MS / 1000,
                )
            found = self._read(partition)
            times = Counter(found)
            result.lost += [value for value in wanted if not times[value]]
            result.doubled += [value for value, count in times.items() if count > 1]
            if not (result.lost or result.doubled) and found != wanted:
                result.problem = f"partition {partition} of {self._sink} is out of order"
            uncommitted += len(self._read(partition, READ_UNCOMMITTED)) - len(found)
        result.aborted = uncommitted

    def _read(self, partition: int, isolation: int = READ_COMMITTED) -> list[bytes]:
        leader = self._cluster.leader(self._sink, partition)
        return read(self._cluster.port(leader), self._sink, partition, isolation)
