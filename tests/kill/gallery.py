"""One transactional id in each state, kept there until the broker dies, so that it dies in all.

The coordinator holds back the markers of those that are to stay in PrepareX, all of them or one.
Each id has written to two partitions of the output and sent an offset of its group, by old requests
or by new ones. After the next start some must have become committed or aborted without any help;
the others' producers go on where they were, or hear that they are fenced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fencepost_protocol.errors import ErrorCode

from tests.kill.transactional import FENCED, OUTPUT, FencedError, Gate, Link, Transactional

OFFSET: Final = 7
PARTITION: Final = 0
"""Of the input; each id has a group of its own name."""
OUTPUT_PARTITIONS: Final = (1, 3)
SHORT_TIMEOUT_MS: Final = 100

EMPTY, ONGOING = "Empty", "Ongoing"
PREPARE_COMMIT, PREPARE_ABORT = "PrepareCommit", "PrepareAbort"
COMPLETE_COMMIT, COMPLETE_ABORT = "CompleteCommit", "CompleteAbort"
TIMED_OUT, SUCCEEDED = "PrepareEpochFence-timer", "PrepareEpochFence-successor"
DEAD = "Dead"
KINDS: Final = (
    EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT,
    TIMED_OUT, SUCCEEDED,
)  # fmt: skip
HELD_PLACES: Final = ("", f" {OUTPUT} {OUTPUT_PARTITIONS[0]}", " __consumer_offsets")
HELD: Final = (PREPARE_COMMIT, PREPARE_ABORT, TIMED_OUT, SUCCEEDED)


@dataclass
class Exhibit:
    """One id, and what is to be found of it."""

    kind: str
    producer: Transactional
    new: bool
    values: dict[int, list[bytes]]
    held_place: str
    """Which markers are kept back, if any are: that of one partition, or all."""
    is_committed: bool = False
    """Whether its values and its offset must be seen."""

    @property
    def state(self) -> str:
        """What its last record says when the broker dies."""
        return PREPARE_ABORT if self.is_fenced else self.kind

    @property
    def is_fenced(self) -> bool:
        """Whether somebody else than its producer aborts it."""
        return self.kind in (TIMED_OUT, SUCCEEDED)

    def write(self) -> None:
        """One more record in each partition, and the offset."""
        for number, values in self.values.items():
            value = b"%s/%d/%d" % (self.producer.name.encode(), len(values), number)
            self.producer.send(number, [value], 12 if self.new else 9)
            values.append(value)
        self.producer.send_offset(PARTITION, OFFSET, new=self.new)


class Gallery:
    """The ids of one life."""

    def __init__(self, gate: Gate, life: int, *, new: bool, dead: bool) -> None:
        """``new``: with requests of the new protocol, too. ``dead``: ids expire in this life."""
        self.link = Link(gate)
        self.successors: list[Link] = []
        self.expires = dead
        kinds = (*KINDS, DEAD) if dead else KINDS
        self.exhibits = [
            Exhibit(
                kind,
                Transactional(self.link, f"gallery-{life}-{kind}-{'new' if is_new else 'old'}"),
                is_new,
                {number: [] for number in OUTPUT_PARTITIONS},
                "" if kind == TIMED_OUT else HELD_PLACES[(life + number) % len(HELD_PLACES)],
            )
            for number, kind in enumerate(kinds)
            for is_new in ((False, True) if new else (False,))
        ]

    def fill(self, order: Callable[[str], None]) -> None:
        """Bring all of them where they shall stay; ``order`` goes to the broker itself."""
        for each in self.exhibits.copy():
            if each.kind in HELD:
                order(f"hold {each.producer.name}{each.held_place}")
            try:
                self._bring(each)
            except FencedError:
                # The machine is slow, and its time is over already.
                assert self.expires or each.kind == TIMED_OUT, each.producer.name
                if each.kind != TIMED_OUT:
                    self.exhibits.remove(each)
        for each in self.exhibits:
            if each.kind == TIMED_OUT:
                each.producer.wait_for(PREPARE_ABORT)
            elif each.kind == DEAD:
                each.producer.wait_for("")

    def _bring(self, each: Exhibit) -> None:
        producer = each.producer
        if each.kind == TIMED_OUT:
            producer.timeout_ms = SHORT_TIMEOUT_MS
        producer.initialize()
        if each.kind not in (EMPTY, DEAD):
            each.write()
        if each.kind in (PREPARE_COMMIT, COMPLETE_COMMIT, PREPARE_ABORT, COMPLETE_ABORT):
            each.is_committed = each.kind in (PREPARE_COMMIT, COMPLETE_COMMIT)
            producer.end(commits=each.is_committed, new=each.new)
            producer.wait_for(each.kind)
        elif each.kind == SUCCEEDED:
            # Its answer comes when the markers are there, so never: somebody else waits for it.
            self.successors.append(Link(producer.link.gate))
            Transactional(self.successors[-1], producer.name).ask_for_id_only()
            producer.wait_for(PREPARE_ABORT)

    # -- after the next start ------------------------------------------------------------------

    def go_on(self, *, expires: bool) -> None:
        """What producers do that find their broker again; ids may be forgotten if ``expires``."""
        expires = expires or self.expires
        for each in self.exhibits:
            producer = each.producer
            if each.kind in HELD:
                done = COMPLETE_COMMIT if each.is_committed else COMPLETE_ABORT
                producer.wait_for(done, *([""] if expires else []))
            if expires or each.kind == DEAD:
                if each.kind == ONGOING:
                    self._commit(each)
                continue
            if each.kind in (EMPTY, ONGOING):
                self._commit(each)
            elif each.is_fenced:
                self._must_be_refused(each)
            else:
                self._must_be_settled(each)

    @staticmethod
    def _commit(each: Exhibit) -> None:
        """With the same epoch and the next sequence numbers, as if nothing had been."""
        each.write()
        each.producer.end(commits=True, new=each.new)
        each.is_committed = True

    @staticmethod
    def _must_be_refused(each: Exhibit) -> None:
        producer = each.producer
        code = producer.hears_of_end((producer.id, producer.epoch), commits=True, new=each.new)
        assert code in FENCED, f"{producer.name}: committed what was fenced: {code.name}"

    @staticmethod
    def _must_be_settled(each: Exhibit) -> None:
        """Who did not hear the answer and asks again hears it; nobody gets the opposite."""
        producer = each.producer
        asked_with = producer.id, producer.epoch - each.new
        same, opposite = (
            producer.hears_of_end(asked_with, commits=commits, new=each.new)
            for commits in (each.is_committed, not each.is_committed)
        )
        assert same is ErrorCode.NONE, f"{producer.name}: the same end again: {same.name}"
        assert opposite is ErrorCode.INVALID_TXN_STATE, f"{producer.name}: {opposite.name}"

    def verify(self, visible: dict[int, list[bytes]]) -> None:
        """``visible``: the committed values of all galleries, by partition."""
        for each in self.exhibits:
            prefix = each.producer.name.encode() + b"/"
            for number, values in each.values.items():
                found = [value for value in visible.get(number, []) if value.startswith(prefix)]
                wanted = values if each.is_committed else []
                assert found == wanted, f"{each.producer.name}: {found} instead of {wanted}"
            offset = each.producer.committed(PARTITION)
            wanted_offset = OFFSET if each.is_committed else 0
            assert offset == wanted_offset, f"{each.producer.name}: offset {offset}"

    def close(self) -> None:
        """Let go of all connections."""
        for link in (self.link, *self.successors):
            link.close()
