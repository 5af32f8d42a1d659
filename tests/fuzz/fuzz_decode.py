"""The generated decoders on arbitrary bytes, for every message in every version.

The first three bytes choose the message and the version. Whatever decodes must encode again, and
decode to the same message.
"""

from __future__ import annotations

from fencepost_protocol.apis import message_class
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError
from fencepost_protocol.generated.index import MODULES
from fencepost_protocol.schema import files

from tests.support.random_messages import MessageMaker, seeded

NAMES = sorted(MODULES)


def target(data: bytes) -> None:
    """One run."""
    if len(data) < 3:
        return
    cls = message_class(NAMES[int.from_bytes(data[:2]) % len(NAMES)])
    versions = cls.MAX_VERSION - cls.MIN_VERSION + 1
    version = cls.MIN_VERSION + data[2] % versions
    body = memoryview(data)[3:]
    said: RemoteProtocolError | None = None
    try:
        message, end = cls.decode(body, version)
    except RemoteProtocolError as error:
        said = error
    if said is not None:
        assert (said.api, said.version) == (cls.NAME, version), said
        assert said.path is not None, said
        assert said.offset is not None, said
        return
    assert end <= len(body)
    out = bytearray()
    try:
        message.encode(version, out)
    except LocalProtocolError as error:
        # Whatever could be read can be written.
        raise AssertionError(f"{message} decoded but does not encode: {error}") from error
    again, end = cls.decode(memoryview(bytes(out)), version)
    assert end == len(out)
    out_again = bytearray()
    again.encode(version, out_again)
    assert out_again == out  # not the messages: a NaN is not equal to itself


def seeds() -> list[bytes]:
    """A valid message of every schema, oldest and newest version."""
    made = []
    for position, name in enumerate(NAMES):
        schema = files.load(name)
        for version in {schema.valid.lowest, schema.valid.highest}:
            message = MessageMaker(schema, seeded(name, version, 77)).make(version)
            out = bytearray([*divmod(position, 256), version - schema.valid.lowest])
            message.encode(version, out)
            made.append(bytes(out))
    return made


SEEDS = seeds()
