"""Every message and record of every version: what is encoded is decoded again."""

from __future__ import annotations

import random

import pytest
from fencepost_protocol.apis import message_class
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError
from fencepost_protocol.schema.model import Message

from tests.support.random_messages import MessageMaker, all_schemas, seeded

ALL = all_schemas()


def encoded(message: object, version: int) -> memoryview:
    out = bytearray()
    message.encode(version, out)  # type: ignore[attr-defined]
    return memoryview(bytes(out))


@pytest.mark.parametrize("schema", ALL, ids=lambda schema: schema.name)
def test_a_decoded_message_equals_the_encoded_one(schema: Message) -> None:
    cls = message_class(schema.name)
    for version in schema.valid:
        maker = MessageMaker(schema, seeded(schema.name, version))
        for _ in range(10):
            message = maker.make(version)
            data = encoded(message, version)
            again, end = cls.decode(data, version)
            assert end == len(data)
            assert again == message
            assert encoded(again, version) == data


@pytest.mark.parametrize("schema", ALL, ids=lambda schema: schema.name)
def test_a_message_may_stand_anywhere_in_a_buffer(schema: Message) -> None:
    cls = message_class(schema.name)
    version = schema.valid.highest
    message = MessageMaker(schema, seeded(schema.name, version, 1)).make(version)
    out = bytearray(b"before")
    message.encode(version, out)
    again, end = cls.decode(memoryview(bytes(out) + b"after"), version, 6)
    assert (again, end) == (message, len(out))


@pytest.mark.parametrize("schema", ALL, ids=lambda schema: schema.name)
def test_every_truncation_is_refused(schema: Message) -> None:
    cls = message_class(schema.name)
    for version in (schema.valid.lowest, schema.valid.highest):
        rng = seeded(schema.name, version, 2)
        data = encoded(MessageMaker(schema, rng).make(version), version)
        for cut in sorted(rng.sample(range(len(data)), min(len(data), 8))):
            with pytest.raises(RemoteProtocolError) as caught:
                cls.decode(data[:cut], version)
            assert caught.value.api == schema.name
            assert caught.value.version == version
            assert caught.value.path is not None
            assert caught.value.offset is not None


@pytest.mark.parametrize("schema", ALL, ids=lambda schema: schema.name)
def test_unknown_tagged_fields_are_kept(schema: Message) -> None:
    if not schema.flexible:
        return
    cls = message_class(schema.name)
    version = schema.valid.highest
    message = MessageMaker(schema, seeded(schema.name, version, 3)).make(version)
    message.unknown_tagged_fields = ((20_000, b"future"), (20_001, b""))
    data = encoded(message, version)
    again, _ = cls.decode(data, version)
    assert again.unknown_tagged_fields == message.unknown_tagged_fields
    assert encoded(again, version) == data


@pytest.mark.parametrize("schema", ALL, ids=lambda schema: schema.name)
def test_versions_outside_of_the_schema_are_refused(schema: Message) -> None:
    cls = message_class(schema.name)
    for version in (schema.valid.lowest - 1, schema.valid.highest + 1):
        with pytest.raises(LocalProtocolError, match="has versions"):
            encoded(cls(), version)
        with pytest.raises(RemoteProtocolError, match="has versions"):
            cls.decode(memoryview(b"\0" * 50), version)


def test_random_bytes_decode_or_raise_the_one_error() -> None:
    rng = random.Random(4)
    outcomes = {True: 0, False: 0}
    for schema in ALL:
        cls = message_class(schema.name)
        for version in (schema.valid.lowest, schema.valid.highest):
            data = bytearray(encoded(MessageMaker(schema, rng).make(version), version))
            for _ in range(10):
                broken = bytearray(data) or bytearray(1)
                for _ in range(rng.randint(1, 3)):
                    broken[rng.randrange(len(broken))] = rng.choice([0, 1, 127, 128, 255])
                try:
                    cls.decode(memoryview(broken), version)
                except RemoteProtocolError:
                    outcomes[False] += 1
                else:
                    outcomes[True] += 1
    assert all(outcomes.values()), outcomes
