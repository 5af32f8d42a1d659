"""Every byte gets its name: frames whose bytes were named by hand, and damaged ones."""

from __future__ import annotations

import json

import pytest
from fencepost_protocol.dissect.node import Node, State
from fencepost_protocol.dissect.tree import (
    Exchange,
    message_tree,
    request_tree,
    response_tree,
)
from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.framing import encode_request, encode_response
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnResponse
from fencepost_protocol.generated.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.schema.model import snake_case

from tests.fuzz.fuzz_dissect import assert_covers
from tests.unit.dissect.harness import GOLDEN, Golden


def dissected(golden: Golden, content: bytes) -> Node:
    option, *what = golden.options
    if option == "--request":
        return request_tree(content)
    name, _, version = what[0].partition(":")
    if option == "--message":
        return message_tree(name, int(version), content)
    return response_tree(content, Exchange(ApiKey[snake_case(name).upper()], int(version)))


def described(leaf: Node) -> tuple[str, str]:
    value = leaf.value
    if isinstance(value, bytes | memoryview):
        value = value.hex()
    text = " ".join(part for part in (leaf.path, leaf.role, leaf.type) if part)
    if leaf.role != "rest":
        text += f" = {json.dumps(value, ensure_ascii=False)}"
    if leaf.state is not State.OK:
        text += f" ({leaf.state.value.upper()}: {leaf.note})"
    elif leaf.note:
        text += f" ({leaf.note})"
    return leaf.raw.hex(" "), text


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
def test_each_byte_of_a_golden_frame_has_the_name_that_was_written_by_hand(golden: Golden) -> None:
    tree = dissected(golden, golden.content)
    assert [described(leaf) for leaf in tree.leaves()] == golden.lines
    assert tree.is_broken is golden.is_broken
    assert_covers(tree, 0, golden.content)


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
def test_every_truncation_keeps_its_good_beginning_and_all_bytes(golden: Golden) -> None:
    content = golden.content
    whole = [described(leaf) for leaf in dissected(golden, content).leaves()]
    for size in range(len(content)):
        tree = dissected(golden, content[:size])
        assert_covers(tree, 0, content[:size])
        if not golden.is_broken and golden.options != ["--response", "ApiVersions:4"]:
            names = [described(leaf)[0] for leaf in tree.leaves() if leaf.role != "rest"]
            assert names == [raw for raw, _ in whole][: len(names)]


def test_the_response_of_another_api_is_broken_or_left_over_but_whole() -> None:
    content = encode_response(EndTxnResponse(error_code=47), 3, 1)
    tree = response_tree(content, Exchange(3, 9))
    assert_covers(tree, 0, content)
    assert tree.is_broken


def test_what_stands_behind_a_frame_is_left_over() -> None:
    content = encode_request(EndTxnRequest(transactional_id="t"), 3, 1) + b"more"
    tree = request_tree(content)
    last = list(tree.leaves())[-1]
    assert (last.raw.tobytes(), last.state) == (b"more", State.LEFT_OVER)
    assert not tree.is_broken


def test_a_frame_may_come_without_its_size_and_at_an_offset() -> None:
    content = encode_request(EndTxnRequest(transactional_id="t"), 3, 1)[4:]
    tree = request_tree(content, sized=False, offset=100)
    assert_covers(tree, 100, content)
    node = tree.find("transactional_id", "content")
    assert node is not None
    assert (node.value, node.offset) == ("t", 100 + content.index(b"t"))


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("7fff 0000 00000001 ffff", "no API has the key 32767"),
        ("001a 0063 00000001 ffff 00", "EndTxn has versions 0 to 5, not 99"),
    ],
)
def test_a_request_that_we_do_not_know_is_shown_as_far_as_its_header(
    head: str, reason: str
) -> None:
    content = bytes.fromhex(head) + b"body"
    tree = request_tree(content, sized=False)
    last = list(tree.leaves())[-1]
    assert (last.raw.tobytes(), last.state, last.note) == (b"body", State.UNREAD, reason)
    assert not tree.is_broken
    assert_covers(tree, 0, content)


def test_a_version_that_a_message_lacks_is_the_callers_mistake() -> None:
    with pytest.raises(LocalProtocolError, match="versions 0-5, not 6"):
        message_tree("EndTxnRequest", 6, b"")


def test_a_message_of_many_parts_is_shown_up_to_the_limit() -> None:
    from fencepost_protocol import limits

    count = limits.MAX_DISSECTED_PARTS
    content = count.to_bytes(4) + bytes(4 * count)
    body = b"\0\1g\0\0\0\1\0\1t" + content
    tree = message_tree("OffsetFetchRequest", 1, body)
    last = list(tree.leaves())[-1]
    assert last.state is State.UNREAD
    assert "MAX_DISSECTED_PARTS" in last.note
    assert_covers(tree, 0, body)


def test_records_are_opened_by_the_topic_that_they_belong_to() -> None:
    from fencepost_protocol.records.writer import BatchBuilder

    builder = BatchBuilder()
    builder.append(b"\0\0\0\2tx", None, 1)
    batch = bytes(builder.build())

    def fetched(topic: str) -> Node:
        partitions = [PartitionData(records=batch)]
        message = FetchResponse(responses=[FetchableTopicResponse(topic, partitions=partitions)])
        return response_tree(encode_response(message, 12, 0), Exchange(1, 12))

    path = "responses[0].partitions[0].records[0].records[0].key"
    opened = fetched("__transaction_state").find(f"{path}.transactional_id", "content")
    assert opened is not None
    assert opened.value == "tx"
    closed = fetched("of-somebody").find(path, "content")
    assert closed is not None
    assert not closed.children
