"""Requests of a recording that went to a broker which did not lead, so that it did nothing.

Clients have sent them again, to another broker. The target of a replay leads everything: it would
carry them out twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from fencepost_protocol.apis import response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.framing import SIZE_BYTES, read_request_head, read_response_head
from fencepost_protocol.generated.index import APIS, ApiKey
from fencepost_protocol.schema.files import load
from fencepost_protocol.schema.model import Array, Message, Struct

from fencepost_client.recordings.file import Entry, EntryKind
from fencepost_client.recordings.ids import Ids
from fencepost_client.recordings.walk import fields_of, struct_of

_NOT_HERE: Final = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR})
_SENT_ALL_THE_SAME: Final = frozenset({ApiKey.FETCH, ApiKey.API_VERSIONS, ApiKey.METADATA})
"""They change nothing; a Fetch that is refused may begin a session all the same."""


def misdirected(entries: Iterable[Entry]) -> set[int]:
    """Return the numbers of the requests of which all parts were refused for that reason."""
    found: set[int] = set()
    waiting: dict[tuple[int, int], tuple[int, int, int]] = {}
    """The number, the API and the version, by connection and correlation id."""
    number = 0
    for entry in entries:
        if entry.kind is EntryKind.REQUEST:
            number += 1
            try:
                api_key, version, correlation_id, *_ = read_request_head(memoryview(entry.data))
            except ProtocolError:
                continue
            if api_key in APIS and api_key not in _SENT_ALL_THE_SAME:
                waiting[entry.connection, correlation_id] = number, api_key, version
        elif entry.kind is EntryKind.ANSWER:
            correlation_id = int.from_bytes(entry.data[:SIZE_BYTES], signed=True)
            asked = waiting.pop((entry.connection, correlation_id), None)
            if asked is not None and _did_nothing(*asked[1:], entry.data):
                found.add(asked[0])
    return found


def _did_nothing(api_key: int, version: int, data: bytes) -> bool:
    try:
        answer = decoded(api_key, version, memoryview(data))
    except ProtocolError:
        return False
    schema = load(answer.NAME)
    codes = set(_codes(schema, schema.root, version, answer))
    return bool(codes) and codes <= _NOT_HERE


def decoded(api_key: int, version: int, frame: memoryview) -> Any:
    """Return an answer with its header; raises ``ProtocolError``."""
    body = read_response_head(frame, api_key, version)[1]
    return response_class(api_key).decode(frame, version, body)[0]


def _codes(schema: Message, struct: Struct, version: int, value: Any) -> Iterator[int]:
    """Yield the error codes of an answer, without that of the whole if its parts have some."""
    parts: list[int] = []
    own: list[int] = []
    for field in fields_of(struct, version):
        found = getattr(value, field.attribute)
        inner = struct_of(schema, field)
        if field.name == "ErrorCode":
            own.append(found)
        elif inner is not None and found is not None:
            for each in found if isinstance(field.type, Array) else (found,):
                parts += _codes(schema, inner, version, each)
    yield from parts or own


def learn_epochs(api_key: int, answer: Any, ids: Ids) -> None:
    """Note the epochs of leaders that an answer to Produce or Fetch tells beside its errors."""
    is_produce = api_key == ApiKey.PRODUCE
    if not is_produce and api_key != ApiKey.FETCH:
        return
    for topic in answer.responses:
        name = ids.topic(topic.name if is_produce else topic.topic, bytes(topic.topic_id))
        for each in topic.partition_responses if is_produce else topic.partitions:
            leader = each.current_leader
            if leader is not None and leader.leader_epoch >= 0:
                index = each.index if is_produce else each.partition_index
                ids.told_epochs.add(((name, index), leader.leader_epoch))
