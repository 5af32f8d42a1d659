"""What the tap shows of requests with secrets in them."""

from __future__ import annotations

from fencepost_protocol.apis import Message
from fencepost_protocol.framing import SIZE_BYTES, encode_request
from fencepost_protocol.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.envelope import EnvelopeRequest

from tests.unit.observability.harness import shown

SALT, SALTED = b"salt-of-alice", b"salted-password-of-alice"
CREDENTIALS = AlterUserScramCredentialsRequest(
    [], [ScramCredentialUpsertion("alice", 1, 4096, SALT, SALTED)]
)


def frame_of(message: Message) -> memoryview:
    return memoryview(encode_request(message, 0, 7, "c"))[SIZE_BYTES:]


def test_salted_passwords_that_a_broker_passes_on_are_hidden() -> None:
    inside = frame_of(CREDENTIALS)
    frame = frame_of(EnvelopeRequest(bytes(inside), b"alice", b"\x7f\0\0\1"))
    for each in (inside, frame):
        hidden = bytes(each).replace(SALTED, bytes(len(SALTED))).replace(SALT, bytes(len(SALT)))
        assert shown(each) == hidden != bytes(each)


def test_what_else_is_passed_on_is_shown() -> None:
    deletion = DeleteTopicsRequest([DeleteTopicState("t")])
    inside = memoryview(encode_request(deletion, 6, 7, "c"))[SIZE_BYTES:]
    frame = frame_of(EnvelopeRequest(bytes(inside), b"alice", b"\x7f\0\0\1"))
    assert shown(frame) == bytes(frame)


def test_what_cannot_be_read_is_not_shown() -> None:
    inside = frame_of(CREDENTIALS)
    assert shown(inside[:-4]) == b""
    cut = frame_of(EnvelopeRequest(bytes(inside[:-4]), b"alice", b"\x7f\0\0\1"))
    assert SALTED[:-4] not in shown(cut)
