"""A broker that is right, so small that this can be seen, and the history of its clients."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import strategies as st

from tests.histories.writing import Line, begun, end, opened, poll, send

PLACES = ("orders-0", "orders-1")
READERS = {"rc": "read_committed", "ru": "read_uncommitted", "rc2": "read_committed"}


class Record(NamedTuple):
    """A record of a log, or a transaction's marker."""

    value: str
    transaction: str


@dataclass
class Writer:
    """A transactional producer, which may be replaced by one with the same id."""

    name: str
    life: int = 0
    number: int = 0
    transaction: str = ""
    touched: set[str] = field(default_factory=set)

    @property
    def process(self) -> str:
        return f"{self.name}.{self.life}"


class Model:
    """Carries out steps, and writes the lines of its clients."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.logs: dict[str, list[Record]] = {place: [] for place in PLACES}
        self.ends: dict[str, str] = {}
        """How transactions ended."""
        self.writers = [Writer("a"), Writer("b")]
        self.positions = {reader: dict.fromkeys(PLACES, 0) for reader in READERS}
        self._values = 0
        self._ids = 0
        for writer in self.writers:
            self._open(writer)
        for reader, isolation in READERS.items():
            self.lines.append(opened(reader, isolation=isolation))

    def take(self, step: tuple[str, int, int, int]) -> None:
        kind, who, where, count = step
        writer, place = self.writers[who % 2], PLACES[where]
        if kind == "send":
            self.send(writer, place, count)
        elif kind == "plain":
            self.plain(place, count)
        elif kind == "poll":
            self.poll(list(READERS)[who], place, count)
        elif kind == "restart":
            self.finish(writer, "abort", told=False)
            writer.life += 1
            self._open(writer)
        elif kind == "seek":
            self.seek(list(READERS)[who], place, count)
        else:
            self.finish(writer, kind)

    def _open(self, writer: Writer) -> None:
        self._twice(opened(writer.process, transactional_id=writer.name))

    def _twice(self, line: Line, *, outcome: str = "ok") -> None:
        """An operation with both of its lines."""
        self._ids += 1
        self.lines.append(begun(line, self._ids))
        self.lines.append({**line, "id": self._ids, "type": outcome})

    def _new(self, place: str, count: int, transaction: str) -> list[str]:
        values = [f"v{self._values + each}" for each in range(count)]
        self._values += count
        self.logs[place] += [Record(value, transaction) for value in values]
        return values

    def send(self, writer: Writer, place: str, count: int) -> None:
        if not writer.transaction:
            writer.number += 1
            writer.transaction = f"{writer.process}/{writer.number}"
        offset = len(self.logs[place])
        values = self._new(place, count, writer.transaction)
        writer.touched.add(place)
        self._twice(send(writer.process, place, offset, *values, transaction=writer.transaction))

    def plain(self, place: str, count: int) -> None:
        offset = len(self.logs[place])
        self._twice(send("plain", place, offset, *self._new(place, count, "")))

    def finish(self, writer: Writer, kind: str, *, told: bool = True) -> None:
        if not writer.transaction:
            return
        self.ends[writer.transaction] = kind
        for place in sorted(writer.touched):
            self.logs[place].append(Record("", writer.transaction))
        if told:
            self._twice(end(kind, writer.process, writer.transaction))
        writer.transaction, writer.touched = "", set()

    def stable(self, place: str) -> int:
        """The last stable offset."""
        log = self.logs[place]
        undecided = (
            offset
            for offset, record in enumerate(log)
            if record.transaction and record.transaction not in self.ends
        )
        return next(undecided, len(log))

    def poll(self, reader: str, place: str, count: int) -> None:
        log = self.logs[place]
        is_committed = READERS[reader] == "read_committed"
        stable = self.stable(place)
        found: list[tuple[int, str]] = []
        position = self.positions[reader][place]
        while position < (stable if is_committed else len(log)) and len(found) < count:
            record = log[position]
            hidden = is_committed and self.ends.get(record.transaction) == "abort"
            if record.value and not hidden:
                found.append((position, record.value))
            position += 1
        self.positions[reader][place] = position
        marks = {"high_watermark": len(log), "last_stable_offset": stable}
        self.lines.append(poll(reader, place, *found, **marks))

    def seek(self, reader: str, place: str, back: int) -> None:
        position = max(self.positions[reader][place] - back, 0)
        self.positions[reader][place] = position
        topic, _, partition = place.rpartition("-")
        where = {"topic": topic, "partition": int(partition), "offset": position}
        self.lines.append({"op": "seek", "process": reader, **where})


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["send", "send", "send", "commit", "commit", "abort", "plain", "poll", "poll", "poll",
             "restart", "seek"]
        ),
        st.integers(0, 2),
        st.integers(0, 1),
        st.integers(1, 4),
    ),
    max_size=40,
)  # fmt: skip


def run(steps: list[tuple[str, int, int, int]]) -> Model:
    """Carry out steps, end all transactions, and read everything."""
    model = Model()
    for step in steps:
        model.take(step)
    for writer in model.writers:
        model.finish(writer, "commit")
    for place in PLACES:
        model.plain(place, 1)
        for reader in READERS:
            model.poll(reader, place, 1_000)
    return model
