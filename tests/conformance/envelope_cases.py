"""Envelopes (KIP-590), and what Apache Kafka's controller says to them."""

from __future__ import annotations

import struct
from typing import Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import SIZE_BYTES, encode_request
from fencepost_protocol.generated.default_principal_data import DefaultPrincipalData
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.describe_cluster import DescribeClusterRequest
from fencepost_protocol.generated.envelope import EnvelopeRequest
from fencepost_protocol.generated.metadata import MetadataRequest

CORRELATION_ID: Final = 7


def inside(message: Message, version: int) -> bytes:
    return bytes(encode_request(message, version, CORRELATION_ID, "client")[SIZE_BYTES:])


def principal(name: str = "ANONYMOUS", version: int = 0) -> bytes:
    out = bytearray(struct.pack(">h", version))
    DefaultPrincipalData("User", name).encode(0, out)
    return bytes(out)


DELETION: Final = inside(DeleteTopicsRequest([DeleteTopicState("absent")]), 6)
METADATA: Final = inside(MetadataRequest(topics=None), 12)
CLUSTER: Final = inside(DescribeClusterRequest(), 0)
NOBODY: Final = principal()
V4: Final = b"\x7f\0\0\1"

CASES: Final = {
    "as it is": (EnvelopeRequest(DELETION, NOBODY, V4), ErrorCode.NONE),
    "alice": (EnvelopeRequest(DELETION, principal("alice"), V4), ErrorCode.NONE),
    "v6": (EnvelopeRequest(DELETION, NOBODY, bytes(16)), ErrorCode.NONE),
    "more behind the principal": (EnvelopeRequest(DELETION, NOBODY + b"x", V4), ErrorCode.NONE),
    "more behind the request": (EnvelopeRequest(DELETION + b"x", NOBODY, V4), ErrorCode.NONE),
    "null principal": (
        EnvelopeRequest(DELETION, None, V4), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE,
    ),
    "no principal": (
        EnvelopeRequest(DELETION, b"", V4), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE,
    ),
    "principal that ends early": (
        EnvelopeRequest(DELETION, b"\0\0\xff\xff", V4),
        ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE,
    ),
    "principal of a later version": (
        EnvelopeRequest(DELETION, principal(version=9), V4),
        ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE,
    ),
    "no address": (EnvelopeRequest(DELETION, NOBODY, b""), ErrorCode.INVALID_REQUEST),
    "address of five": (EnvelopeRequest(DELETION, NOBODY, b"12345"), ErrorCode.INVALID_REQUEST),
    "neither principal nor address": (
        EnvelopeRequest(DELETION, b"", b""), ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE,
    ),
    "what is for brokers": (EnvelopeRequest(METADATA, NOBODY, V4), ErrorCode.INVALID_REQUEST),
    "what both answer": (EnvelopeRequest(CLUSTER, NOBODY, V4), ErrorCode.INVALID_REQUEST),
    "a version that is none": (
        EnvelopeRequest(DELETION[:2] + b"\0\x63" + DELETION[4:], NOBODY, V4),
        ErrorCode.UNSUPPORTED_VERSION,
    ),
    "an API that is none": (
        EnvelopeRequest(b"\x03\xe7" + DELETION[2:], NOBODY, V4), ErrorCode.UNSUPPORTED_VERSION,
    ),
    "request that ends early": (
        EnvelopeRequest(DELETION[:-3], NOBODY, V4), ErrorCode.UNSUPPORTED_VERSION,
    ),
    "header that ends early": (
        EnvelopeRequest(DELETION[:5], NOBODY, V4), ErrorCode.UNSUPPORTED_VERSION,
    ),
    "nothing": (EnvelopeRequest(b"", NOBODY, V4), ErrorCode.UNSUPPORTED_VERSION),
}  # fmt: skip
