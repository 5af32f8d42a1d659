"""What a Streams application is put through, while lines come in; its counts must be exact.

    make streams STREAMS_ROUNDS=30

runs the long form of each trial and writes docs/proofs/streams.md; CI runs short ones
(`test_streams.py`). `--broker kafka` measures the trials themselves.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from fencepost_protocol.generated.list_transactions import ListTransactionsRequest

from tests.conformance.clients.brokers import RunningBroker, start_broker
from tests.conformance.streams.application import (
    NEWEST,
    WITH_BOTH_GUARANTEES,
    WITH_TASK_PRODUCERS,
    Feeder,
    Instance,
)
from tests.support.up import Wire

TOPICS: Final = ("lines", "counts")
LINES_PER_SECOND: Final = 200
COUNTS_BETWEEN: Final = 1000
"""How many counts have to come between two disturbances."""

BROKER_SETTINGS: Final[Mapping[str, str]] = {
    "group.initial.rebalance.delay.ms": "0",
    "group.streams.heartbeat.interval.ms": "500",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.min.heartbeat.interval.ms": "500",
    "group.streams.min.session.timeout.ms": "6000",
    "group.streams.session.timeout.ms": "6000",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
}


@dataclass
class Trial:
    """A broker, who feeds and checks, and two instances of the application."""

    broker: RunningBroker
    feeder: Feeder
    instances: tuple[Instance, Instance]
    tell: Callable[[str], None]
    steps: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def after(self, what: str) -> None:
        """Something was done: counts must go on."""
        self.steps.append(what)
        self.tell(what)
        self.feeder.wait_for_counts(COUNTS_BETWEEN)

    def finish(self) -> None:
        self.numbers, self.wrong = self.feeder.finish()
        self.tell(f"{self.numbers}")

    def producers(self) -> tuple[set[str], set[str]]:
        """Transactional ids that belong to tasks, and those that belong to threads."""
        with Wire(int(self.broker.bootstrap.rpartition(":")[2])) as wire:
            listed = wire.ask(ListTransactionsRequest(), 0).transaction_states
        ids = {state.transactional_id.removeprefix("word-count-") for state in listed}
        tasks = {name for name in ids if "_" in name}  # subtopology_partition
        return tasks, ids - tasks


@contextmanager
def trial(
    kind: str,
    settings: Mapping[str, str] = BROKER_SETTINGS,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[Trial]:
    """All that a trial needs, gone at the end."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="streams-")))
        broker = stack.enter_context(start_broker(kind, settings))
        feeder = Feeder(broker.bootstrap, TOPICS, folder, LINES_PER_SECOND)
        stack.callback(feeder.clean_up)
        first, second = (Instance(broker.bootstrap, TOPICS, folder, name) for name in "ab")
        stack.callback(first.clean_up)
        stack.callback(second.clean_up)
        one = Trial(broker, feeder, (first, second), tell)
        started = time.monotonic()
        try:
            yield one
        except Exception:
            tell(f"the broker said:\n{broker.stderr()[-4000:]}")
            raise
        one.seconds = time.monotonic() - started


Begin = Callable[[Instance], None]


def newest(instance: Instance, group_protocol: str = "classic") -> None:
    """Start an instance of the newest version, with ``exactly_once_v2``."""
    instance.start(
        NEWEST,
        "exactly_once_v2",
        repartition_purge_interval_ms="500",
        group_protocol=group_protocol,
    )


def both_begin(run: Trial, begin: Begin) -> None:
    """Start both instances."""
    for instance in run.instances:
        begin(instance)
    for instance in run.instances:
        instance.wait_until_running()
    run.after("both instances run")


def crash(run: Trial, begin: Begin, *which: Instance) -> None:
    """Instances are killed and start anew at once, with the state that they left."""
    for instance in which:
        instance.kill()
    for instance in which:
        begin(instance)
    for instance in which:
        instance.wait_until_running()
    run.after(f"{' and '.join(each.name for each in which)} killed and started")


def bounce(run: Trial, begin: Begin, instance: Instance, to: str = "") -> None:
    """An instance is ended in an orderly way and started, perhaps as another version."""
    instance.close()
    begin(instance)
    instance.wait_until_running()
    run.after(f"{instance.name} closed and started{to}")


def lose(run: Trial, begin: Begin, instance: Instance) -> None:
    """An instance is killed, and stays away until the other one has its work."""
    instance.kill()
    run.after(f"{instance.name} killed")
    begin(instance)
    instance.wait_until_running()
    run.after(f"{instance.name} started")


def restart_broker(run: Trial) -> None:
    """The broker ends in an orderly way and comes back."""
    run.broker.restart()
    run.after("broker restarted")


def kill_broker(run: Trial) -> None:
    """The broker is killed and comes back."""
    run.broker.kill_and_start()
    run.after("broker killed and started")


def crash_together(run: Trial, begin: Begin, instance: Instance) -> None:
    """An instance and the broker are killed at the same time."""
    instance.kill()
    run.broker.kill_and_start()
    begin(instance)
    instance.wait_until_running()
    run.after(f"{instance.name} and broker killed and started")


def kill_broker_in_rebalance(run: Trial, begin: Begin, instance: Instance) -> None:
    """The broker is killed while an instance that was killed comes back to its group."""
    instance.kill()
    begin(instance)
    instance.program.wait_for(
        lambda lines: "state REBALANCING" in lines, f"{instance.name} is to come to its group"
    )
    run.broker.kill_and_start()
    instance.wait_until_running()
    run.after(f"{instance.name} killed and started, broker killed and started meanwhile")


def restarts(run: Trial) -> None:
    """One disturbance of each kind."""
    first, second = run.instances
    both_begin(run, newest)
    crash(run, newest, first)
    restart_broker(run)
    kill_broker(run)
    bounce(run, newest, second)
    run.finish()


def kills_with_the_streams_protocol(run: Trial) -> None:
    """The members of a streams group (KIP-1071) crash, and so does the broker."""
    begin = partial(newest, group_protocol="streams")
    both_begin(run, begin)
    crash(run, begin, run.instances[0])
    kill_broker(run)
    run.finish()


def many_restarts(run: Trial, rounds: int, seed: str) -> None:
    """Disturbances in an order and at moments that the seed chose."""
    rng = random.Random(seed)
    disturbances: list[Callable[[], None]] = [
        lambda: crash(run, newest, rng.choice(run.instances)),
        lambda: crash(run, newest, *run.instances),
        lambda: lose(run, newest, rng.choice(run.instances)),
        lambda: bounce(run, newest, rng.choice(run.instances)),
        lambda: crash_together(run, newest, rng.choice(run.instances)),
        lambda: kill_broker_in_rebalance(run, newest, rng.choice(run.instances)),
        lambda: restart_broker(run),
        lambda: kill_broker(run),
    ]
    both_begin(run, newest)
    for _ in range(rounds):
        rng.choice(disturbances)()
    run.finish()


def upgrade(run: Trial) -> None:
    """KIP-447's two bounces: task producers without a generation, then thread producers.

    First instances from before KIP-447. The first bounce brings a version that knows both, told
    where it comes from (the old way to rebalance); the second one takes that away and asks for
    thread producers. Then crashes on both sides of the way, and a bounce to the newest version.
    """
    first, second = run.instances

    def old(instance: Instance) -> None:
        instance.start(WITH_TASK_PRODUCERS, "exactly_once")

    def between(instance: Instance) -> None:
        instance.start(WITH_BOTH_GUARANTEES, "exactly_once", upgrade_from="2.3")

    def new(instance: Instance) -> None:
        instance.start(WITH_BOTH_GUARANTEES, "exactly_once_v2")

    both_begin(run, old)
    crash(run, old, second)
    to = f", now {WITH_BOTH_GUARANTEES} with exactly_once"
    bounce(run, between, first, to)
    bounce(run, between, second, to)
    crash(run, between, first)
    tasks, threads = run.producers()
    run.steps.append(f"transactional ids: {len(tasks)} of tasks, {len(threads)} of threads")
    assert tasks
    assert not threads, f"no thread has a producer of its own yet: {threads}"
    to = f", now {WITH_BOTH_GUARANTEES} with exactly_once_v2"
    bounce(run, new, first, to)
    # Half of the tasks' producers end without a word: their offsets stay pending.
    second.kill()
    new(second)
    second.wait_until_running()
    run.after(f"{second.name} killed and started{to}")
    restart_broker(run)
    crash(run, new, first)
    bounce(run, newest, first, f", now {NEWEST}")
    bounce(run, newest, second, f", now {NEWEST}")
    tasks, threads = run.producers()
    run.steps.append(f"transactional ids: {len(tasks)} of tasks, {len(threads)} of threads")
    assert threads
    run.finish()


CAPPED: Final[Mapping[str, str]] = {**BROKER_SETTINGS, "api.versions.max": "TxnOffsetCommit:2"}
"""A broker from before KIP-447: offsets of a transaction come without a member's generation."""


def refused(run: Trial, instance: Instance, version: str, **settings: str) -> str:
    """Start an instance that cannot work here; gives what it said when it failed."""
    instance.start(version, "exactly_once_v2", **settings)
    code = instance.program.wait()
    assert code == 1, f"it ended with {code}: {instance.program.said()}"
    told = "".join(f" and {name}={value}" for name, value in settings.items())
    run.steps.append(f"{version} with exactly_once_v2{told} is refused")
    return instance.program.stderr()


def task_producers_only(run: Trial) -> None:
    """What a capped broker can do: task producers, which send no generation."""

    def begin(instance: Instance) -> None:
        instance.start(WITH_BOTH_GUARANTEES, "exactly_once")

    both_begin(run, begin)
    crash(run, begin, run.instances[0])
    run.finish()
