"""``History``: writes what producers and consumers do, for ``fencepost check``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from io import FileIO
from pathlib import Path
from time import time_ns
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

import msgspec

from fencepost_client.consumer.positions import Position
from fencepost_client.consumer.record_batch import EncodedBatch, RecordBatch
from fencepost_client.histories.operations import Kind, Operation, Outcome
from fencepost_client.histories.reading import header
from fencepost_client.producer.batch import Batch
from fencepost_client.types import ConsumerRecord, OffsetAndMetadata, TopicPartition

_NAME_MAX: Final = 80


def name_of_value(key: bytes | None, value: bytes | None) -> str:
    """A value as text; a long one as its beginning and a hash. Keys are left out."""
    del key
    if value is None:
        return "null"
    if len(value) <= _NAME_MAX:
        return value.decode("utf-8", "backslashreplace")
    digest = blake2b(value, digest_size=8).hexdigest()
    return f"{value[:40].decode('utf-8', 'backslashreplace')}...{digest}"


class History:
    """A file with what the clients of a program do, as JSON lines.

        with History("history.jsonl") as history:
            async with Producer("localhost:9092", history=history) as producer:
                await producer.send_and_wait("orders", b"42")

    ``file`` is a path, or a file that is open for bytes.

    A line is written at once, so that nothing is missing when the program is killed. ``name_value``
    makes the text that tells records apart out of a key and a value; each should be sent once.
    Files of several programs are judged together if each has its own ``name``.
    """

    def __init__(
        self,
        file: str | Path | BinaryIO,
        *,
        name: str = "",
        name_value: Callable[[bytes | None, bytes | None], str] = name_of_value,
    ) -> None:
        self.name_value = name_value
        self._name = name
        self._clients = 0
        self._file: BinaryIO | FileIO = (
            Path(file).open("wb", buffering=0) if isinstance(file, str | Path) else file  # noqa: SIM115
        )
        self._file.write(header())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what clients do from now on is not written."""
        self._file.close()

    def client(self, client_id: str) -> ClientHistory:
        """The history of one more client."""
        self._clients += 1
        return ClientHistory(self, f"{self._name}{client_id}-{self._clients}")

    def write(self, operation: Operation) -> None:
        """Write a line, such as one of a client of another library."""
        operation.time = time_ns()
        if not self._file.closed:
            self._file.write(msgspec.json.encode(operation) + b"\n")


class ClientHistory:
    """What one producer or consumer does."""

    def __init__(self, history: History, process: str) -> None:
        self.transaction = ""
        """The name of the transaction that is open."""
        self._history = history
        self._process = process
        self._number = 0
        self._sends: dict[Batch, int] = {}

    def begin_transaction(self) -> None:
        """A transaction begins, and has a new name."""
        self._number += 1
        self.transaction = f"{self._process}/{self._number}"

    def line(
        self, op: Kind, outcome: Outcome = "ok", number: int | None = None, **fields: Any
    ) -> None:
        """Write a line."""
        operation = Operation(op=op, process=self._process, type=outcome, id=number, **fields)
        self._history.write(operation)

    def begin(self, op: Kind, **fields: Any) -> int:
        """Write that an operation begins; returns its id."""
        self._number += 1
        self.line(op, "invoke", self._number, **fields)
        return self._number

    @contextmanager
    def operation(self, op: Kind, **fields: Any) -> Iterator[None]:
        """Write an operation: an error leaves open whether it was carried out."""
        number = self.begin(op, **fields)
        try:
            yield
        except BaseException:
            self.line(op, "info", number)
            raise
        self.line(op, "ok", number)

    @contextmanager
    def offsets(
        self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata]
    ) -> Iterator[None]:
        """Write that a group commits offsets, within the transaction that is open."""
        with ExitStack() as stack:
            for (topic, partition), (offset, *_) in offsets.items():
                where = {"topic": topic, "partition": partition, "offset": offset}
                line = self.operation(
                    "commit_offsets", group=group, transaction=self.transaction, **where
                )
                stack.enter_context(line)
            yield

    # -- sends ---------------------------------------------------------------------------------

    def sending(self, batch: Batch) -> None:
        """A batch is sent for the first time; its records are still there."""
        name = self._history.name_value
        self._sends[batch] = self.begin(
            "send",
            topic=batch.topic,
            partition=batch.partition,
            values=[name(key, value) for key, value in zip(batch.keys, batch.values, strict=True)],
            transaction=self.transaction,
        )

    def sent(self, batch: Batch) -> None:
        """A batch has its outcome. One that was never sent has no line."""
        number = self._sends.pop(batch, None)
        if number is None:
            return
        if batch.error is not None:
            self.line("send", "info", number)
            return
        offsets = [batch.metadata_of(index).offset for index in range(batch.record_count)]
        self.line("send", "ok", number, offsets=offsets)

    # -- reads ---------------------------------------------------------------------------------

    def polled(
        self,
        found: Sequence[object],
        positions: Mapping[TopicPartition, Position],
    ) -> None:
        """A program is given records. Encoded ones are not read here."""
        offsets: dict[TopicPartition, list[int]] = {}
        values: dict[TopicPartition, list[str]] = {}
        name = self._history.name_value
        for each in found:
            if isinstance(each, ConsumerRecord):
                where = TopicPartition(each.topic, each.partition)
                offsets.setdefault(where, []).append(each.offset)
                values.setdefault(where, []).append(name(each.key, each.value))
            elif isinstance(each, RecordBatch):
                offsets.setdefault(each.where, []).extend(each.offsets)
                columns = zip(each.keys.to_list(), each.values.to_list(), strict=True)
                values.setdefault(each.where, []).extend(name(*pair) for pair in columns)
            elif isinstance(each, EncodedBatch):
                self.moved(each.where)
        for where in offsets:
            position = positions.get(where)
            self.line(
                "poll",
                topic=where.topic,
                partition=where.partition,
                offsets=offsets[where],
                values=values[where],
                high_watermark=-1 if position is None else position.high_watermark,
                last_stable_offset=-1 if position is None else position.last_stable_offset,
            )

    def moved(self, where: TopicPartition, offset: int = -1) -> None:
        """A consumer reads on elsewhere."""
        self.line("seek", topic=where.topic, partition=where.partition, offset=offset)
