"""Puts the target's ids into recorded requests."""

from __future__ import annotations

from typing import Any

from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.primitives import Buffer
from fencepost_protocol.records.batch import (
    NO_PRODUCER_ID,
    crc_is_valid,
    set_producer_state,
    split_raw,
)
from fencepost_protocol.schema.files import load
from fencepost_protocol.schema.model import Array, Message, Primitive, Struct

from fencepost_client.recordings.ids import ID_KINDS, Ids, Kind, kind_of
from fencepost_client.recordings.walk import Scope, fields_of, struct_of


def translate(name: str, version: int, request: Any, ids: Ids) -> None:
    """Replace the recording's ids and offsets in a request, such as ``EndTxnRequest``."""
    schema = load(name)
    _translate(schema, schema.root, version, request, ids, Scope())


def _translate(
    schema: Message, struct: Struct, version: int, value: Any, ids: Ids, scope: Scope
) -> None:
    scope = scope.within(struct, version, value, ids)
    for field in fields_of(struct, version):
        found = getattr(value, field.attribute)
        if found is None:
            continue
        kind, inner = kind_of(field), struct_of(schema, field)
        if inner is not None:
            for each in found if isinstance(field.type, Array) else (found,):
                _translate(schema, inner, version, each, ids, scope)
        elif field.type == Primitive("records"):
            setattr(value, field.attribute, with_producers(found, ids))
        elif isinstance(field.type, Array):
            if kind in ID_KINDS:
                new = [ids.to_target(kind, scope.of(kind), _plain(each)) for each in found]
                setattr(value, field.attribute, new)
        elif kind in ID_KINDS:
            setattr(value, field.attribute, ids.to_target(kind, scope.of(kind), _plain(found)))
        elif kind is Kind.OFFSET:
            shifted = ids.shifted((scope.topic, scope.partition), found)
            setattr(value, field.attribute, shifted)


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview | bytearray) else value


def with_producers(records: Buffer, ids: Ids) -> Buffer:
    """Return batches with the target's producer ids and epochs."""
    out = bytearray(records)
    pos = 0
    try:
        for header, batch in split_raw(records):
            producer_id, epoch, sequence = header[9:12]
            if producer_id != NO_PRODUCER_ID and crc_is_valid(batch):
                new = ids.to_target(Kind.PRODUCER, None, producer_id)
                new_epoch = ids.to_target(Kind.PRODUCER_EPOCH, producer_id, epoch)
                if (new, new_epoch) != (producer_id, epoch):
                    set_producer_state(out, new, new_epoch, sequence, pos)
            pos += len(batch)
    except ProtocolError:
        return records  # a broken batch is a part of the recorded bug
    return out
