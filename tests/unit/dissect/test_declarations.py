"""What the declarations accept, refuse, say about it, and build."""

from __future__ import annotations

import pytest
from fencepost_protocol import limits
from fencepost_protocol.apis import message_class
from fencepost_protocol.dissect import declarations
from fencepost_protocol.dissect.locate import locate
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError

LONG = "81 80 02"
"""32,769: the compact length of a string of 32,768 bytes, one more than Kafka allows."""

REFUSED = [
    # message, version, bytes, path, offset, reason
    ("InitProducerIdRequest", 0, "00", "transactional_id", 0, "2 bytes wanted, 1 left"),
    ("InitProducerIdRequest", 0, "0005 41", "transactional_id", 2, "5 bytes wanted, 1 left"),
    ("EndTxnRequest", 0, "ffff" + "00" * 20, "transactional_id", 0, "null, but"),
    ("EndTxnRequest", 0, "fffe" + "00" * 20, "transactional_id", 0, "the length is -2"),
    ("EndTxnRequest", 3, "00" * 20, "transactional_id", 0, "null, but"),
    ("EndTxnRequest", 3, "80 00" + "00" * 20, "transactional_id", 0, "null, but"),
    ("EndTxnRequest", 3, LONG + "41" * 32_768, "transactional_id", 0, "a string of 32768 bytes"),
    ("EndTxnRequest", 3, "ff ff ff ff 10", "transactional_id", 0, "more than 32 bits"),
    ("EndTxnRequest", 3, "80 80 80 80 80 00", "transactional_id", 0, "more bytes than 32 bits"),
    ("EndTxnRequest", 3, "03 c3 28", "transactional_id", 1, "not UTF-8 at its byte 0"),
    ("EndTxnRequest", 3, "02 41" + "00" * 11 + "01 05 01", "tagged_fields[0]", 15, "of 1 bytes"),
    ("EndTxnRequest", 3, "02 41" + "00" * 11 + "01 e4db03 02 01 07", "topics", 19, "1 bytes more"),
    (
        "EndTxnRequest",
        3,
        "02 41" + "00" * 11 + "01 e4db03 01 02 02",
        "topics[0].name",
        19,
        "wanted",
    ),
    ("FetchRequest", 12, "00" * 25 + "01 01 01 01 01 00", "tagged_fields[0]", 29, "15-18 only"),
    ("MetadataRequest", 0, "7fffffff", "topics", 0, "an array's count"),
    ("MetadataRequest", 9, "ff ff ff ff 0f", "topics", 0, "an array's count"),
    ("OffsetFetchRequest", 1, "000167 ffffffff", "topics", 3, "null, but"),
    ("ListOffsetsRequest", 1, "00" * 4 + "fffffffe", "topics", 4, "the length is -2"),
]


@pytest.mark.parametrize(("name", "version", "text", "path", "offset", "reason"), REFUSED)
def test_refused_bytes_are_refused_by_both_decoders_with_the_same_words(
    name: str, version: int, text: str, path: str, offset: int, reason: str
) -> None:
    content = bytes.fromhex(text)
    with pytest.raises(RemoteProtocolError) as slow:
        declarations.parse(name, version, content)
    with pytest.raises(RemoteProtocolError) as fast:
        message_class(name).decode(memoryview(content), version)
    for error in (slow.value, fast.value):
        assert (error.api, error.version) == (name, version)
        assert (error.path, error.offset) == (path, offset)
        assert reason in error.reason
        assert str(error) == f"{name} v{version}, {path}, byte {offset}: {error.reason}"


ACCEPTED = [
    ("EndTxnRequest", 3, "82 00 41" + "00" * 11 + "00", "transactional_id", "A"),
    ("InitProducerIdRequest", 0, "8000 00000001", "transactional_id", None),
    ("InitProducerIdRequest", 2, "80 00 00000001 00", "transactional_id", None),
    ("EndTxnRequest", 0, "0000" + "00" * 10 + "07", "committed", True),
    ("DescribeTopicPartitionsRequest", 0, "01 00000001 80 00", "cursor", None),
    ("EndTxnRequest", 3, "01" + "00" * 11 + "01 e4db03 01 00", "topics", None),
]


@pytest.mark.parametrize(("name", "version", "text", "attribute", "value"), ACCEPTED)
def test_odd_but_legal_bytes_are_accepted_by_both_decoders(
    name: str, version: int, text: str, attribute: str, value: object
) -> None:
    content = bytes.fromhex(text)
    slow, end = declarations.parse(name, version, content)
    fast, fast_end = message_class(name).decode(memoryview(content), version)
    assert end == fast_end == len(content)
    assert slow[attribute] == getattr(fast, attribute) == value


def test_of_a_tagged_field_that_comes_twice_the_last_one_counts() -> None:
    body = "01" + "00" * 11
    content = bytes.fromhex(f"{body} 02 e4db03 03 02 01 01" + "e4db03 01 01")
    with pytest.raises(RemoteProtocolError):
        declarations.parse("EndTxnRequest", 3, content)
    content = bytes.fromhex(f"{body} 02 e4db03 04 02 01 01 00 e4db03 01 01")
    slow, _ = declarations.parse("EndTxnRequest", 3, content)
    fast, _ = message_class("EndTxnRequest").decode(memoryview(content), 3)
    assert slow["topics"] == getattr(fast, "topics") == []  # noqa: B009 (a Protocol has none)


def test_unknown_tags_are_limited() -> None:
    tags = b"".join(b"\x07\0" for _ in range(limits.MAX_UNKNOWN_TAGS))
    body = b"\1" + bytes(11)
    value, _ = declarations.parse("EndTxnRequest", 3, body + b"\xe8\x07" + tags)
    assert len(value["unknown_tagged_fields"]) == limits.MAX_UNKNOWN_TAGS
    for decode in (declarations.parse, lambda n, v, c: message_class(n).decode(memoryview(c), v)):
        with pytest.raises(RemoteProtocolError, match="unknown tags"):
            decode("EndTxnRequest", 3, body + b"\xe9\x07" + tags + b"\x07\0")


def test_fields_that_the_version_lacks_have_their_defaults() -> None:
    value, _ = declarations.parse("EndTxnResponse", 0, bytes(6))
    assert value["producer_id"] == -1
    assert value["unknown_tagged_fields"] == ()
    again, _ = declarations.parse("FetchRequest", 4, bytes(21))
    assert (again["max_bytes"], again["session_epoch"], again["replica_state"]) == (0, -1, None)
    again["topics"].append("changed")
    assert declarations.parse("FetchRequest", 4, bytes(21))[0]["topics"] == []


def test_building_refuses_what_the_version_cannot_carry() -> None:
    value, _ = declarations.parse("EndTxnRequest", 3, b"\1" + bytes(12))
    for wrong in (
        {"transactional_id": None},
        {"transactional_id": "x" * 32_768},
        {"producer_id": "x"},
    ):
        with pytest.raises(LocalProtocolError, match="cannot build EndTxnRequest v3"):
            declarations.build("EndTxnRequest", 3, {**value, **wrong})
    with pytest.raises(LocalProtocolError, match="versions 0-5, not 6"):
        declarations.build("EndTxnRequest", 6, value)


def test_nothing_wrong_is_nothing_located() -> None:
    nothing = (None, None, None)
    assert locate("EndTxnRequest", 3, memoryview(b"\1" + bytes(12) + b"more")) == nothing
    assert locate("EndTxnRequest", 99, memoryview(b"")) == nothing
    assert locate("NoSuchMessage", 0, memoryview(b"")) == nothing


def test_a_late_error_in_a_large_message_is_not_searched_for() -> None:
    count = limits.MAX_LOCATED_PARTS
    content = count.to_bytes(4) + b"\0\1t" * count
    assert locate("MetadataRequest", 0, memoryview(content)[:-1]) == (None, None, None)
    early = count.to_bytes(4) + b"\0\1t\xff\xff" + bytes(3 * count)
    assert locate("MetadataRequest", 0, memoryview(early))[:2] == ("topics[1].name", 7)
    with pytest.raises(RemoteProtocolError) as caught:
        message_class("MetadataRequest").decode(memoryview(content)[:-1], 0)
    assert caught.value.path is None
    assert caught.value.reason


def test_a_large_block_of_numbers_is_one_part() -> None:
    count = 1_000_000
    content = b"\0\1t" + count.to_bytes(4) + bytes(4 * count - 2)
    head = b"\0\1x" + bytes(10) + (1).to_bytes(4)
    assert locate("AddPartitionsToTxnRequest", 0, memoryview(head + content))[:2] == (
        "v3_and_below_topics[0].partitions[999999]",
        24 + 4 * (count - 1),
    )
