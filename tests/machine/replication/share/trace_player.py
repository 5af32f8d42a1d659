"""Plays traces of a share partition; tests/support/traces.py has their form.

load 5 7-9:acknowledged:1       begin with a written state: start offset, batches
acquire a 0-9 10-19! max=5      a member acquires from batches that were read; ``!`` hides one
ack a 0-4:accept 5-6:release,reject
release a                       the member's session ends
wait 1000                       time passes
truncate 5                      the log start offset moves
write, written, failed          a write to the share coordinator begins, succeeds, fails
show                            all ranges: ``[offsets state×deliveries member until]``
"""

from __future__ import annotations

import re

from fencepost_broker.replication.share.in_flight import InFlight, State
from fencepost_broker.replication.share.share_partition import (
    Acknowledge,
    Acknowledgement,
    AcquireLimits,
    AcquireMode,
    FetchedBatch,
    ShareLimits,
    SharePartition,
    StateBatch,
    StateWrite,
)

from tests.support.traces import Step


class Player:
    """Plays one scenario."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.partition = SharePartition(0)
        self.write = StateWrite(0, 0, [])

    def play(self, step: Step) -> list[str]:
        """The outcome of a step."""
        told: list[str] = []
        for line in step.asked:
            verb, *words = line.split()
            options = dict(word.split("=", 1) for word in words if "=" in word)
            told += getattr(self, f"_{verb}")([w for w in words if "=" not in w], options)
        return told

    def _load(self, words: list[str], options: dict[str, str]) -> list[str]:
        batches = []
        for word in words[1:]:
            offsets, state, count = word.split(":")
            batches.append(StateBatch(*_range(offsets), State[state.upper()], int(count)))
        limits = ShareLimits(
            int(options.get("lock", 30_000)),
            int(options.get("limit", 5)),
            int(options.get("locks", 2_000)),
        )
        self.partition = SharePartition(int(words[0]), batches, limits)
        return []

    def _acquire(self, words: list[str], options: dict[str, str]) -> list[str]:
        offset = self.partition.next_fetch_offset()
        if offset is None:
            return ["full"]
        fetched = [FetchedBatch(*_range(word.strip("!")), "!" in word) for word in words[1:]]
        wanted = AcquireLimits(
            int(options.get("max", 500)),
            AcquireMode[options.get("mode", "batch_optimized").upper()],
            int(options.get("size", 500)),
        )
        acquired = self.partition.acquire(words[0], self.now_ms, offset, fetched, wanted)
        from_here = f"from {offset}:"
        return [" ".join([from_here, *(f"{_offsets(*a[:2])}×{a[2]}" for a in acquired)])]

    def _ack(self, words: list[str], options: dict[str, str]) -> list[str]:
        acknowledgements = []
        for word in words[1:]:
            offsets, kinds = word.split(":")
            types = [Acknowledge[kind.upper()] for kind in kinds.split(",")]
            acknowledgements.append(Acknowledgement(*_range(offsets), types))
        return [self.partition.acknowledge(words[0], self.now_ms, acknowledgements).name]

    def _release(self, words: list[str], options: dict[str, str]) -> list[str]:
        return ["released" if self.partition.release(words[0]) else "nothing"]

    def _wait(self, words: list[str], options: dict[str, str]) -> list[str]:
        self.now_ms += int(words[0])
        return ["locks ended"] if self.partition.expire(self.now_ms) else []

    def _deadline(self, words: list[str], options: dict[str, str]) -> list[str]:
        return [f"deadline {self.partition.deadline_ms()}"]

    def _jump(self, words: list[str], options: dict[str, str]) -> list[str]:
        self.now_ms += int(words[0])
        self.partition.jumped(int(words[0]))
        return []

    def _truncate(self, words: list[str], options: dict[str, str]) -> list[str]:
        self.partition.move_start(int(words[0]))
        return []

    def _write(self, words: list[str], options: dict[str, str]) -> list[str]:
        write = self.partition.take_write()
        if write is None:
            return ["no write"]
        self.write = write
        batches = [
            f"{_offsets(b.first, b.last)}:{_name(b.state)}×{b.delivery_count}"
            for b in write.batches
        ]
        head = f"write start={write.start_offset} complete={write.delivery_complete_count}"
        return [" ".join([head, *batches])]

    def _written(self, words: list[str], options: dict[str, str]) -> list[str]:
        self.partition.written(self.write, is_done=True)
        return []

    def _failed(self, words: list[str], options: dict[str, str]) -> list[str]:
        self.partition.written(self.write, is_done=False)
        return []

    def _show(self, words: list[str], options: dict[str, str]) -> list[str]:
        partition = self.partition
        ranges = " ".join(_shown(each) for each in partition.in_flight)
        return [f"{partition.start_offset}..{partition.end_offset} {ranges}".rstrip()]


def _range(word: str) -> tuple[int, int]:
    first, _, last = word.partition("-")
    return int(first), int(last or first)


def _offsets(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _name(state: int) -> str:
    return State(state).name.lower()


def _shown(each: InFlight) -> str:
    text = f"{_offsets(each.first, each.last)} {_name(each.state)}×{each.delivery_count}"
    if each.state is State.ACQUIRED:
        text += f" {each.member} until {each.deadline_ms}"
    if each.outcome is not None:
        text += f" -> {_name(each.outcome)}"
    return f"[{re.sub(' +', ' ', text)}]"
