"""``fencepost up`` that kills itself with SIGKILL at an exact point, which it is told by lines.

    python -m tests.kill.doomed up --port 0 --data-dir DIR

    die at 3 after PrepareCommit     at the third such record, before anybody hears of it
    hold gallery-1                   keep back the markers of this transactional id
    hold gallery-1 out 3             only that of this partition, or topic; the others are written

Each line is answered by one on standard output. What is in FENCEPOST_TEST_DIE is in force from the
start, so that a broker can die of what it does when it recovers. A point is an occasion and when:

- ``before``, ``torn``, ``after`` a record of a state in ``__transaction_state``, or a batch of
  ``Offsets`` in ``__consumer_offsets``: the batch is not written, half of it is, all of it is;
- ``before``, ``torn``, ``after`` the ``first-marker`` of several, the ``last-marker`` of several,
  or the ``offsets-marker``, the one in ``__consumer_offsets``, among others.

Nothing but SIGKILL happens there: no answer, no replay, no other write. With
FENCEPOST_TEST_LOADS_SLOWLY coordinators take in their logs a batch at a time, between requests.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from fencepost_broker.apis.transactions import write_txn_markers
from fencepost_broker.apis.transactions.write_txn_markers import OwnMarkers
from fencepost_broker.cli.main import main
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime import coordinator_runtime, shard
from fencepost_broker.coordinator.runtime.expiries import Expiries
from fencepost_broker.coordinator.runtime.shard import Shard
from fencepost_broker.coordinator.transaction.states import NAMES, State, logged_state
from fencepost_broker.server.embedded.broker import Broker
from fencepost_broker.storage.disk.files import RealFile
from fencepost_protocol.generated.write_txn_markers import WritableTxnMarker

ENVIRONMENT: Final = "FENCEPOST_TEST_DIE"
LOADS_SLOWLY: Final = "FENCEPOST_TEST_LOADS_SLOWLY"
OFFSETS: Final = "Offsets"
DEAD, FENCE = NAMES[State.DEAD], NAMES[State.PREPARE_EPOCH_FENCE]
FENCING: Final = ("expire", "InitProducerId")
"""What aborts a transaction that is not its producer's own wish."""


def die() -> None:
    """Now, and without a word."""
    os.kill(os.getpid(), signal.SIGKILL)
    threading.Event().wait()


class Doom:
    """Where to die, and how many times the point is passed before."""

    def __init__(self) -> None:
        self.when = self.what = ""
        self.left = 0
        self.tears = False
        """The next write is the last one, and only half of it is done."""
        self.cause = ""
        """What the decision that is being written comes from."""

    def arm(self, words: str) -> None:
        """Take ``3 after PrepareCommit``."""
        left, self.when, self.what = words.split()
        self.left = int(left)

    def around(self, occasions: tuple[str, ...], write: Callable[[], Any]) -> Any:
        """Do a write that is all of these occasions, or die on it."""
        if self.what not in occasions:
            return write()
        self.left -= 1
        if self.left > 0:
            return write()
        if self.when == "before":
            die()
        self.tears = self.when == "torn"
        done = write()
        die()
        return done


DOOM: Final = Doom()


def occasions_of(coordinator: Shard, decision: Any) -> tuple[str, ...]:
    """What the records of a decision are."""
    if coordinator.family is RecordFamily.GROUPS:
        return (OFFSETS,) if decision.producer_id >= 0 else ()
    value = decision.records[-1].value
    if value is None:
        return (DEAD,)
    state = logged_state(value.transaction_status)
    if state is State.PREPARE_ABORT and DOOM.cause in FENCING:
        return (FENCE,)
    return (NAMES[state],)


def _patch_coordinators() -> None:
    append, submit, expire = Shard._append, Shard.submit, Expiries.expire

    def doomed_append(self: Any, decision: Any, now_ms: int, guard: Any) -> Any:
        occasions = occasions_of(self, decision)
        return DOOM.around(occasions, lambda: append(self, decision, now_ms, guard))

    def noted_submit(self: Any, command: Any, guard: Any = None) -> Any:
        DOOM.cause = type(command).__name__
        return submit(self, command, guard)

    def noted_expire(self: Any, now_ms: int) -> None:
        DOOM.cause = "expire"
        expire(self, now_ms)

    Shard._append = doomed_append  # type: ignore[method-assign]
    Shard.submit = noted_submit  # type: ignore[method-assign]
    Expiries.expire = noted_expire  # type: ignore[method-assign]


def _patch_markers() -> None:
    write, own_write = write_txn_markers._write, OwnMarkers.write
    places: list[tuple[str, int]] = []

    def noted_own_write(self: Any, send: Any, partitions: Any, then: Any) -> None:
        places[:] = partitions
        own_write(self, send, places, then)

    def doomed_write(
        context: Any, marker: Any, name: str, number: int, now_ms: int, unsafe: Any, committed: bool
    ) -> Any:
        if isinstance(marker, WritableTxnMarker):
            places[:] = [
                (topic.name, each) for topic in marker.topics for each in topic.partition_indexes
            ]
        occasions: tuple[str, ...] = ()
        if len(places) > 1:
            if (name, number) == places[0]:
                occasions += ("first-marker",)
            if (name, number) == places[-1]:
                occasions += ("last-marker",)
            if name == RecordFamily.GROUPS.value:
                occasions += ("offsets-marker",)
        return DOOM.around(
            occasions, lambda: write(context, marker, name, number, now_ms, unsafe, committed)
        )

    OwnMarkers.write = noted_own_write  # type: ignore[method-assign]
    write_txn_markers._write = doomed_write


def _patch_files() -> None:
    pwrite = RealFile.pwrite

    def torn_pwrite(self: Any, position: int, data: Any) -> None:
        if DOOM.tears and self._path.endswith(".log"):
            pwrite(self, position, memoryview(data)[: len(data) // 2])
            die()
        pwrite(self, position, data)

    RealFile.pwrite = torn_pwrite  # type: ignore[method-assign]


def _listen_to_orders() -> None:
    start = Broker.start

    async def listening_start(self: Broker) -> None:
        await start(self)
        loop = asyncio.get_running_loop()
        threading.Thread(target=_take_orders, args=(self, loop), daemon=True).start()

    Broker.start = listening_start  # type: ignore[method-assign]


def _take_orders(broker: Broker, loop: asyncio.AbstractEventLoop) -> None:
    for line in sys.stdin:
        loop.call_soon_threadsafe(_obey, broker, line.strip())


def _obey(broker: Broker, line: str) -> None:
    order, _, rest = line.partition(" ")
    if order == "hold":
        name, *place = rest.split()
        topic = place[0] if place else None
        broker.hold_markers(name, topic, int(place[1]) if place[1:] else None)
    else:
        DOOM.arm(rest.removeprefix("at "))
    print("done", flush=True)


if __name__ == "__main__":
    _patch_coordinators()
    _patch_markers()
    _patch_files()
    _listen_to_orders()
    if os.environ.get(ENVIRONMENT):
        DOOM.arm(os.environ[ENVIRONMENT])
    if os.environ.get(LOADS_SLOWLY):
        vars(coordinator_runtime)["_LOAD_STEPS"] = vars(shard)["_READ_BYTES"] = 1
    sys.exit(main())
