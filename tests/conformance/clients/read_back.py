"""Reading that is not a client's own: what is in a partition, compared with what a script says.

For a client that cannot read from this broker (KafkaJS reads in groups only).
"""

from __future__ import annotations

import base64
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.framing import api_key_of, encode_request, read_response_head
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import Record, iter_records

ANSWER_SECONDS: Final = 30.0
FETCH_VERSION: Final = 11
"""One of the last that asks for topics by their names."""

# As a script tells it: key, value, headers, timestamp; with its offset.
Row = tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]], int]


def difference(bootstrap: str, wrote: Mapping[str, Any]) -> str | None:
    """How the partition differs from what a script says it wrote there; None if it does not."""
    wanted = [_wanted(offset, told) for offset, told in enumerate(wrote["records"])]
    where = f"{wrote['topic']}-{wrote['partition']}"
    there = [_row(record) for record in _records(bootstrap, wrote["topic"], wrote["partition"])]
    for found, expected in zip(there, wanted, strict=False):
        if found != expected:
            return f"in {where} is {_short(found)} instead of {_short(expected)}"
    if len(there) != len(wanted):
        return f"in {where} are {len(there)} records instead of {len(wanted)}"
    return None


def _wanted(offset: int, told: Mapping[str, Any]) -> Row:
    headers = [(name, _bytes(value)) for name, value in told["headers"]]
    return offset, _bytes(told["key"]), _bytes(told["value"]), headers, told["timestamp"]


def _row(record: Record) -> Row:
    key = None if record.key is None else bytes(record.key)
    value = None if record.value is None else bytes(record.value)
    headers = [
        (name, None if content is None else bytes(content)) for name, content in record.headers
    ]
    return record.offset, key, value, headers, record.timestamp


def _records(bootstrap: str, topic: str, partition: int) -> Iterator[Record]:
    host, _, port = bootstrap.rpartition(":")
    with socket.create_connection((host, int(port)), ANSWER_SECONDS) as connection:
        offset = 0
        while batches := _fetch(connection, topic, partition, offset):
            for header, batch in split_batches(batches, tolerate_partial=True):
                offset = header.last_offset + 1
                if not header.is_control:
                    yield from iter_records(batch)


def _fetch(connection: socket.socket, topic: str, partition: int, offset: int) -> memoryview:
    wanted = FetchPartition(partition, -1, offset, partition_max_bytes=1 << 20)
    request = FetchRequest(
        replica_id=-1,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        session_epoch=-1,
        topics=[FetchTopic(topic, partitions=[wanted])],
    )
    (answer,) = _ask(connection, request, FETCH_VERSION).responses[0].partitions
    if answer.error_code:
        raise ValueError(f"{topic}-{partition}: Fetch is answered with error {answer.error_code}")
    return memoryview(answer.records or b"")


def _ask(connection: socket.socket, request: Message, version: int) -> Any:
    connection.sendall(encode_request(request, version, 1, "read-back"))
    with connection.makefile("rb") as answers:
        (size,) = struct.unpack(">i", answers.read(4))
        frame = memoryview(answers.read(size))
    key = api_key_of(request)
    _, body = read_response_head(frame, key, version)
    return response_class(key).decode(frame, version, body)[0]


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _short(row: Sequence[object]) -> str:
    text = repr(row)
    return text if len(text) <= 300 else f"{text[:250]}... ({len(text)} characters)"
