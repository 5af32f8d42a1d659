"""Frames and headers, byte for byte."""

from __future__ import annotations

import pytest
from fencepost_protocol.apis import Api, message_class, request_class, response_class
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError
from fencepost_protocol.framing import (
    FrameSplitter,
    encode_request,
    encode_request_pieces,
    encode_response,
    encode_response_pieces,
    read_request_head,
    read_response_head,
)
from fencepost_protocol.generated.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnResponse
from fencepost_protocol.generated.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from fencepost_protocol.generated.index import APIS
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.transaction_log import TransactionLogKey

END_TXN_V3 = bytes.fromhex(
    "0000001f"  # size 31
    "001a 0003 00000007"  # EndTxn, version 3, correlation id 7
    "0003 637431"  # client id "ct1", a classic string in every header version
    "00"  # no tagged fields in the header
    "05 74786e31"  # transactional id "txn1"
    "00000000000003e8 0002 01"  # producer id 1000, epoch 2, committed
    "00"  # no tagged fields
)


def test_a_request_frame() -> None:
    message = EndTxnRequest(
        transactional_id="txn1", producer_id=1000, producer_epoch=2, committed=True
    )
    assert encode_request(message, 3, 7, "ct1") == END_TXN_V3
    frame = memoryview(END_TXN_V3)[4:]
    head = read_request_head(frame)
    assert head[:4] == (26, 3, 7, "ct1")
    assert EndTxnRequest.decode(frame, 3, head[4]) == (message, len(frame))


def test_the_preregistration_tag_travels_behind_kafkas_own_fields() -> None:
    message = EndTxnRequest(transactional_id="txn1", topics=[])
    out = bytearray()
    message.encode(3, out)
    tag = bytes.fromhex("01 e4db03 01 01")  # one field, tag 60900, one byte: no elements
    assert out.endswith(tag)


def test_a_classic_header_has_no_tags_and_may_lack_a_client_id() -> None:
    frame = memoryview(encode_request(EndTxnRequest(transactional_id="t"), 2, 9, None))[4:]
    assert frame[:10].hex() == "001a000200000009ffff"
    assert read_request_head(frame) == (26, 2, 9, None, 10)


def test_response_headers() -> None:
    classic = encode_response(EndTxnResponse(error_code=51), 2, 9)
    assert classic.hex() == "0000000a00000009000000000033"
    flexible = encode_response(EndTxnResponse(error_code=51), 3, 9)
    assert flexible.hex() == "0000000c000000090000000000003300"
    assert read_response_head(memoryview(flexible)[4:], 26, 3) == (9, 5)
    assert read_response_head(memoryview(classic)[4:], 26, 2) == (9, 4)


def test_an_api_versions_response_never_has_a_flexible_header() -> None:
    frame = encode_response(ApiVersionsResponse(), 3, 1)
    assert frame.hex() == "0000000c000000010000010000000000"
    assert read_response_head(memoryview(frame)[4:], 18, 3) == (1, 4)
    request = encode_request(ApiVersionsRequest(), 3, 1, "")
    assert read_request_head(memoryview(request)[4:])[4] == 11, "its request header has tags"


def test_unknown_tags_in_headers_are_skipped() -> None:
    frame = memoryview(bytes.fromhex("001a000300000007000001 05 02 aabb01"))
    assert read_request_head(frame) == (26, 3, 7, "", 15)
    assert read_response_head(memoryview(bytes.fromhex("00000007 01 05 00 ff")), 26, 3) == (7, 7)


def test_an_unknown_api_is_read_with_a_classic_header() -> None:
    assert read_request_head(memoryview(bytes.fromhex("7fff000300000007ffff")))[0] == 0x7FFF


@pytest.mark.parametrize("cut", range(21))
def test_a_cut_request_header_is_refused(cut: int) -> None:
    frame = memoryview(bytes.fromhex("001a0003000000070004 6162636401 05 04 aabbccdd"))
    with pytest.raises(RemoteProtocolError, match="request header"):
        read_request_head(frame[:cut])


@pytest.mark.parametrize("header", ["", "000000", "00000007", "00000007 01", "00000007 01 05 03"])
def test_a_cut_response_header_is_refused(header: str) -> None:
    with pytest.raises(RemoteProtocolError, match="response header"):
        read_response_head(memoryview(bytes.fromhex(header)), 26, 3)


def test_a_client_id_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(RemoteProtocolError, match="request header"):
        read_request_head(memoryview(bytes.fromhex("001a0000000000070001 ff")))


def test_only_requests_and_responses_are_framed() -> None:
    with pytest.raises(LocalProtocolError, match="neither a request nor a response"):
        encode_request(TransactionLogKey(), 0, 1)
    with pytest.raises(LocalProtocolError, match="cannot encode RequestHeader"):
        encode_request(EndTxnRequest(), 0, 1 << 31)


def test_large_records_are_not_copied_into_the_frame() -> None:
    records = bytes(5000)
    request = ProduceRequest(
        topic_data=[
            TopicProduceData("t", partition_data=[PartitionProduceData(0, records)]),
            TopicProduceData("u", partition_data=[PartitionProduceData(1, b"small")]),
        ]
    )
    for version in (3, 9):
        pieces = encode_request_pieces(request, version, 7, "c")
        assert len(pieces) == 3
        assert pieces[1] is records
        assert b"".join(pieces) == encode_request(request, version, 7, "c")
    response = FetchResponse(
        responses=[FetchableTopicResponse("t", partitions=[PartitionData(records=records)])]
    )
    for version in (4, 12):
        pieces = encode_response_pieces(response, version, 7)
        assert b"".join(pieces) == encode_response(response, version, 7)


def test_a_failed_encoding_leaves_the_buffer_as_it_was() -> None:
    bad = ProduceRequest(topic_data=[TopicProduceData("t"), TopicProduceData("x" * 40_000)])
    for encode in (bad.encode, bad.encode_pieces):
        out = bytearray(b"kept")
        with pytest.raises(LocalProtocolError, match=r"topic_data\[1\].name: a string of 40000"):
            encode(9, out)
        assert out == b"kept"


# -- splitting a stream ---------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 7, 50, 1000])
def test_frames_are_found_however_the_bytes_arrive(step: int) -> None:
    bodies = [b"", b"a", b"bc" * 20, b"\0\0\0\5", b"end"]
    stream = b"".join(len(body).to_bytes(4, "big") + body for body in bodies)
    splitter = FrameSplitter(100)
    found: list[bytes] = []
    for at in range(0, len(stream), step):
        found += map(bytes, splitter.receive(stream[at : at + step]))
    assert found == bodies
    assert splitter.kept_bytes == 0


@pytest.mark.parametrize("size", ["7fffffff", "ffffffff", "00000065"])
def test_a_frame_beyond_the_limit_is_refused_before_it_is_collected(size: str) -> None:
    splitter = FrameSplitter(100)
    with pytest.raises(RemoteProtocolError, match="the limit is 100"):
        splitter.receive(bytes.fromhex(size))


# -- the index ------------------------------------------------------------------------------------


def test_every_api_has_both_its_classes() -> None:
    for key, entry in APIS.items():
        request, response = request_class(key), response_class(key)
        assert f"{entry[0]}Request" == request.NAME
        assert f"{entry[0]}Response" == response.NAME
        assert entry[1:3] == (request.MIN_VERSION, request.MAX_VERSION)
        assert request.FLEXIBLE_FROM == response.FLEXIBLE_FROM == entry[3]


def test_what_is_advertised() -> None:
    produce, init = Api.of(0), Api.of(22)
    assert produce is not None
    assert init is not None
    assert produce.advertised == (0, 13), "librdkafka looks for Produce 0"
    assert (init.max_version, init.advertised) == (6, (0, 5)), "version 6 is unstable"
    assert Api.of(4) is None
    assert init.is_flexible(2)
    assert not init.is_flexible(1)


def test_records_are_found_by_name() -> None:
    assert message_class("TransactionLogKey") is TransactionLogKey
