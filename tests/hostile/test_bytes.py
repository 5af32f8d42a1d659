"""Bytes that are no requests, sent to a broker: that connection ends, with a line that says why.

Whatever one sends, a second connection is served, and memory stays where it was.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

import pytest
from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.served import Served
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.records.writer import build_batch
from fencepost_protocol.schema import files

from tests.hostile.campaign import message_versions, request_name
from tests.support.plausible_messages import PlausibleMaker
from tests.support.up import ClosedError, Up, Wire, produce_request

MB = 1 << 20
GROWTH_BYTES = 48 * MB
PRODUCE_VERSION = 9
LARGE_COUNTS = (
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff\x07",
    b"\x00\x3d\x09\x00",
    b"\x81\x89\xf4\x01",
)
"""2**31 - 1 and four million, as classic and as flexible versions write them."""


@pytest.fixture(scope="module")
def broker() -> Iterator[Up]:
    with Up("--topic", "t:1") as running:
        yield running


def answers_or_ends(broker: Up, sent: bytes) -> bytes | None:
    """What comes back: an answer, or nothing when the connection was closed."""
    with broker.connect() as client:
        try:
            client.send(sent)
            return bytes(client.frame())
        except ClosedError:
            return None


def header(key: int, version: int) -> bytes:
    return struct.pack(">hhih", key, version, 1, -1)


def sized(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"\x7f\xff\xff\xff", "2147483647 bytes was announced"),
        (b"\x06\x40\x00\x01" + bytes(100), "104857601 bytes was announced"),
        (b"\xff\xff\xff\xff", "-1 bytes was announced"),
        (b"\x80\x00\x00\x00", "-2147483648 bytes was announced"),
        (b"\0\0\0\0", "header"),
        (sized(b"\0\3\0\0\0"), "header"),
        (sized(header(3, 12)[:-2] + b"\x7f\xff"), "header"),
        (sized(header(32_767, 0)), "API key 32767"),
        (sized(header(-1, 0)), "API key -1"),
        (sized(header(3, 99) + b"\0"), "Metadata v99"),
        (sized(header(0, 2)), "Produce v2"),
        (sized(header(0, -1)), "Produce v-1"),
        (sized(header(1, 3)), "Fetch v3"),
        (sized(header(4, 0)), "LeaderAndIsr v0|API key 4"),
        (b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n", "HTTP|was announced"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(300), "TLS|was announced"),
        (random.Random(1).randbytes(5_000), ""),
    ],
)  # fmt: skip
def test_what_is_no_request_ends_its_connection(broker: Up, sent: bytes, said: str) -> None:
    before = broker.resident_bytes()
    broker.forget_peak()
    lines = len(broker.said())
    with broker.connect() as other:
        assert answers_or_ends(broker, sent) is None
        assert other.topics("t") == {"t": 0}
    reasons = [str(line) for line in broker.said()[lines:] if line["level"] == "warning"]
    assert any(each in reason for reason in reasons for each in said.split("|")), reasons
    assert broker.peak_bytes() - before < GROWTH_BYTES
    broker.assert_healthy()


def test_an_unknown_version_of_api_versions_is_answered(broker: Up) -> None:
    answer = answers_or_ends(broker, sized(header(ApiKey.API_VERSIONS, 77) + b"\0\1\1"))
    assert answer == bytes.fromhex("00000001002300000001001200000004")


def bodies(api: Served) -> Iterator[tuple[int, bytes]]:
    """A plausible request of the lowest and the highest version."""
    for version in sorted(set(message_versions(api))):
        maker = PlausibleMaker(files.load(request_name(api)), random.Random(f"{api.key}/{version}"))
        message = maker.make(version)
        for name in ("max_wait_ms", "timeout_ms", "acks"):
            if hasattr(message, name):
                setattr(message, name, 1 if name == "acks" else 0)
        yield version, bytes(encode_request(message, version, 1, "c"))


@pytest.mark.parametrize("api", SERVED, ids=lambda api: api.key.name)
def test_every_prefix_of_a_request_ends_its_connection(broker: Up, api: Served) -> None:
    """A frame that says it is whole and stops anywhere; each behind a good request."""
    good = bytes(encode_request(MetadataRequest(topics=[]), 12, 7))
    for _, frame in bodies(api):
        for end in range(4, len(frame), 1 if len(frame) < 200 else 7):
            with broker.connect() as client:
                client.send(good + sized(frame[4:end]))
                assert bytes(client.frame()[:4]) == b"\0\0\0\7", "what came before is answered"
                if client_says_more(client):
                    continue  # a prefix that is a request, such as one without its tagged fields
    broker.assert_healthy()


def client_says_more(client: Wire) -> bool:
    try:
        return len(client.frame()) > 0
    except ClosedError:
        return False


@pytest.mark.parametrize("api", SERVED, ids=lambda api: api.key.name)
def test_absurd_counts_anywhere_in_a_request(broker: Up, api: Served) -> None:
    before = broker.resident_bytes()
    broker.forget_peak()
    with broker.connect() as other:
        for _, frame in bodies(api):
            for at in range(14, len(frame), 1 if len(frame) < 120 else 5):
                for count in LARGE_COUNTS[:2] if at % 2 else LARGE_COUNTS[2:]:
                    with broker.connect() as client:
                        client.send(sized(frame[4:at] + count + frame[at + len(count) :]))
            assert other.topics("t") == {"t": 0}
    assert broker.peak_bytes() - before < GROWTH_BYTES
    broker.assert_healthy()


def test_half_requests_of_a_hundred_megabytes_take_no_memory(broker: Up) -> None:
    before = broker.resident_bytes()
    broker.forget_peak()
    clients = [broker.connect() for _ in range(20)]
    for client in clients:
        client.send(struct.pack(">i", 100 * MB) + bytes(1_000))
    with broker.connect() as other:
        assert other.topics("t") == {"t": 0}
    assert broker.peak_bytes() - before < 100 * MB
    for client in clients:
        client.socket.close()


def test_a_hundred_fetches_of_everything_in_one_go_take_no_memory(broker: Up) -> None:
    """Of which nobody reads an answer: five gigabytes of them."""
    with broker.connect() as client:
        client.create("large", 1)
        batch = build_batch(None, [bytes(1_000_000)], 1_000)
        for _ in range(50):
            assert not client.produce("large", batch).error_code
    wanted = FetchPartition(0, partition_max_bytes=(1 << 31) - 1)
    request = FetchRequest(
        max_bytes=(1 << 31) - 1, topics=[FetchTopic("large", partitions=[wanted])]
    )
    before = broker.resident_bytes()
    broker.forget_peak()
    with broker.connect() as client, broker.connect() as other:
        client.send(bytes(encode_request(request, 11, 1)) * 100)
        for _ in range(20):
            assert other.topics("t") == {"t": 0}
        grown = broker.peak_bytes() - before
    assert grown < 200 * MB, f"{grown >> 20} MB"


def test_acks_of_nobody_and_null_records(broker: Up) -> None:
    with broker.connect() as client:
        answer = client.produce("t", None)
        assert answer.error_code == 87
        assert answer.error_message
        request = produce_request("t", None, acks=0)
        client.send_request(request, PRODUCE_VERSION)
        assert client.is_closed(), "with acks 0 that is the only way to tell"
    broker.assert_healthy()
