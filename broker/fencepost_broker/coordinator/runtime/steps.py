"""The steps of a transaction in logs, by name, for a test that stops the broker at one of them.

    transaction.PrepareCommit.before    the record of this state is not in __transaction_state yet
    transaction.PrepareCommit.after     it is, and no client has its answer
    offsets.before, .after              the same for offsets that a transaction commits
    marker.orders-0.before, .after      the same for the marker in a partition

A marker in a partition of ``__consumer_offsets`` is written before the offsets are applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime.shard import Machine, Shard, Surroundings
from fencepost_broker.coordinator.transaction.states import NAMES, State, logged_state

if TYPE_CHECKING:
    from fencepost_broker.metadata.decision import Decision
    from fencepost_broker.replication.partition import Partition
    from fencepost_broker.storage.log.producers import VerificationGuard

OnStep = Callable[[str], None]
"""Gets the name of each step when it is reached."""

BEFORE: Final = "before"
AFTER: Final = "after"
_OFFSETS: Final = "offsets"
STEPS: Final = tuple(
    f"{what}.{when}"
    for what in (
        *(f"transaction.{NAMES[each]}" for each in State if each is not State.PREPARE_EPOCH_FENCE),
        _OFFSETS,
    )
    for when in (BEFORE, AFTER)
)
"""All steps but those of markers. PrepareEpochFence has no record: its end is PrepareAbort."""
MARKERS: Final = tuple(f"marker.*.{when}" for when in (BEFORE, AFTER))


def marker_step(topic: str, partition: int, when: str) -> str:
    """Return the name of a step at a marker."""
    return f"marker.{topic}-{partition}.{when}"


def check_step(pattern: str) -> None:
    """Raise ValueError if no step has this name or matches this pattern."""
    if any(fnmatchcase(each, pattern) for each in STEPS):
        return
    if any(fnmatchcase(pattern, each) for each in MARKERS):
        return
    import difflib

    near = difflib.get_close_matches(pattern, [*STEPS, *MARKERS], 1)
    text = f"did you mean {near[0]}?" if near else f"steps are {', '.join((*STEPS, *MARKERS))}"
    raise ValueError(f"there is no step {pattern}: {text}")


class SteppedShard(Shard):
    """A shard that tells the steps of transactions; others are spared the question."""

    __slots__ = ("_on_step",)

    def __init__(
        self,
        on_step: OnStep,
        around: Surroundings,
        family: RecordFamily,
        partition: Partition,
        machine: Machine,
    ) -> None:
        super().__init__(around, family, partition, machine)
        self._on_step = on_step

    def _append(self, decision: Decision[Any], now_ms: int, guard: VerificationGuard | None) -> int:
        named = tuple(self._named(decision))
        for each in named:
            self._on_step(f"{each}.{BEFORE}")
        offset = super()._append(decision, now_ms, guard)
        for each in named:
            self._on_step(f"{each}.{AFTER}")
        return offset

    def _named(self, decision: Decision[Any]) -> Iterator[str]:
        if self.family is RecordFamily.GROUPS:
            if decision.producer_id >= 0:
                yield _OFFSETS
            return
        if self.family is not RecordFamily.TRANSACTIONS:
            return
        for record in decision.records:
            value = record.value
            state = State.DEAD if value is None else logged_state(value.transaction_status)
            yield f"transaction.{NAMES[state]}"
