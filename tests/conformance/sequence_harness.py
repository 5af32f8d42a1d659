"""A proxy that answers producers by a script, and records what they send."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, NamedTuple

from fencepost_protocol.framing import encode_response, read_request_head
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from fencepost_protocol.records.batch import read_header
from fencepost_protocol.records.reader import iter_records

SILENCE, ANSWER_LOST = -100, -101

SETTINGS = {
    "linger.ms": 0,
    "retry.backoff.ms": 50,
    "request.timeout.ms": 1000,
    "delivery.timeout.ms": 1500,
}


class Sent(NamedTuple):
    """A batch as it left."""

    epoch: int
    base_sequence: int
    values: tuple[str, ...]


class Proxy:
    """Between a producer and the broker; ``answers`` are for the Produce requests by number."""

    def __init__(self, answers: dict[int, int]) -> None:
        self.sent: list[Sent] = []
        self.port = 0
        self.broker_port = 0
        self._answers = answers
        self._tasks: set[asyncio.Task[Any]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ours, theirs = await asyncio.open_connection("127.0.0.1", self.broker_port)
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        back: asyncio.Task[Any] | None = asyncio.ensure_future(copy(ours, writer))
        try:
            while True:
                size = await reader.readexactly(4)
                frame = await reader.readexactly(int.from_bytes(size))
                answer = self.look(frame)
                if answer is None:
                    theirs.write(size + frame)
                elif answer == SILENCE:
                    await reader.read()  # until the client gives the connection up
                    break
                elif answer == ANSWER_LOST:
                    assert back is not None
                    back.cancel()
                    theirs.write(size + frame)
                    await reader.read()
                    break
                else:
                    writer.write(refusal(frame, answer))
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            if back is not None:
                back.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([back])
            theirs.transport.abort()
            writer.transport.abort()

    def look(self, frame: bytes) -> int | None:
        api_key, version, _, _, body = read_request_head(memoryview(frame))
        if api_key != ApiKey.PRODUCE:
            return None
        number = len(self.sent)
        request, _ = ProduceRequest.decode(memoryview(frame), version, body)
        (topic,) = request.topic_data
        (part,) = topic.partition_data
        assert part.records is not None
        header = read_header(part.records)
        values = tuple(bytes(each.value or b"").decode() for each in iter_records(part.records))
        self.sent.append(Sent(header.producer_epoch, header.base_sequence, values))
        return self._answers.get(number)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        while self._tasks:
            await asyncio.wait(self._tasks)


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)


def refusal(frame: bytes, code: int) -> bytes:
    """What the broker would say; the log begins behind all that was acknowledged."""
    _, version, correlation_id, _, body = read_request_head(memoryview(frame))
    request, _ = ProduceRequest.decode(memoryview(frame), version, body)
    (topic,) = request.topic_data
    part = PartitionProduceResponse(0, code, -1, log_start_offset=1000)
    answer = ProduceResponse([TopicProduceResponse(topic.name, topic.topic_id, [part])])
    return bytes(encode_response(answer, version, correlation_id))
