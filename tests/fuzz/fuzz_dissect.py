"""The dissector takes any bytes: it marks what is broken, or raises the one error.

Whatever the bytes, the leaves of a tree are those bytes again.
"""

from __future__ import annotations

import itertools
from pathlib import PurePath

from fencepost_protocol.dissect.logfile import log_trees
from fencepost_protocol.dissect.node import Node
from fencepost_protocol.dissect.pcap import captured_frames
from fencepost_protocol.dissect.render import Style, json_text, text_lines
from fencepost_protocol.dissect.tree import Exchange, message_tree, request_tree, response_tree
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.index import APIS, MODULES
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.control import build_end_txn_marker
from fencepost_protocol.records.writer import BatchBuilder
from fencepost_protocol.schema import files

from tests.unit.dissect import captures
from tests.unit.dissect.captures import conversation

NAMES = sorted(MODULES)
KEYS = sorted(APIS)
FOLDERS = ("topic-0", "__consumer_offsets-1", "__transaction_state-2", "__cluster_metadata-0")
SUFFIXES = (".log", ".log", ".log", ".snapshot", ".index", ".timeindex", ".txnindex")
LINES_MAX = 500


def target(data: bytes) -> None:
    """The first bytes choose what the others are taken for."""
    if len(data) < 3:
        return
    kind, choice, version = data[0] % 5, data[1], data[2]
    content = memoryview(data)[3:]
    if kind == 0:
        check(request_tree(content), content)
    elif kind == 1:
        check(response_tree(content, exchange(choice, version)), content)
    elif kind == 2:
        name = NAMES[choice % len(NAMES)]
        valid = files.load(name).valid
        chosen = valid.lowest + version % (valid.highest - valid.lowest + 1)
        check(message_tree(name, chosen, content), content)
    elif kind == 3:
        name = f"0{SUFFIXES[choice % len(SUFFIXES)]}"
        path = PurePath(FOLDERS[version % len(FOLDERS)], name)
        trees = list(log_trees(path, content))
        assert b"".join(leaf.raw for tree in trees for leaf in tree.leaves()) == content
        for tree in trees:
            check(tree, content[tree.offset : tree.end])
    else:
        try:
            for frame in captured_frames(content):
                if frame.tree is not None:
                    check(frame.tree, frame.tree.raw)
        except RemoteProtocolError:
            pass


def exchange(choice: int, version: int) -> Exchange:
    """Some API in some version."""
    key = KEYS[choice % len(KEYS)]
    low, high = APIS[key][1:3]
    return Exchange(key, low + version % (high - low + 1))


def check(tree: Node, content: memoryview | bytes | bytearray) -> None:
    """The leaves are the input, in both senses of a tree; and it can be written."""
    assert_covers(tree, tree.offset, content)
    for _ in itertools.islice(text_lines(tree, Style(explain=True)), LINES_MAX):
        pass
    json_text(tree, Style(), {})


def assert_covers(tree: Node, offset: int, content: memoryview | bytes | bytearray) -> None:
    """The leaves stand one behind the other and hold all bytes; so do those of unpacked parts."""
    at = offset
    pieces = []
    for leaf in tree.leaves():
        assert leaf.offset == at, (leaf.path, leaf.role, leaf.offset, at)
        assert leaf.length == len(leaf.raw)
        at += leaf.length
        pieces.append(leaf.raw)
    assert b"".join(pieces) == content
    for node in tree.walk():
        if node.children:
            assert node.offset == node.children[0].offset, node.path
            assert node.end == node.children[-1].end, node.path
        if node.inner is not None:
            assert_covers(node.inner, 0, node.inner.raw)


def _seeds() -> list[bytes]:
    builder = BatchBuilder()
    builder.append(b"\0\0\0\1t", b"\0\1" + bytes(8), 1_700_000_000_000, [("h", None), ("", b"x")])
    builder.append(None, b"\1\2\0" + bytes(30), 1_700_000_000_001)
    plain = bytes(builder.build())
    marker = bytes(
        build_end_txn_marker(
            committed=True, producer_id=1, producer_epoch=0, coordinator_epoch=3, timestamp_ms=5
        )
    )
    seeds = [
        b"\0\0\0"
        + bytes.fromhex("0000001a001a0003000000070003636c6900 0274 0000000000000001 0002 01 00"),
        b"\1\1\3" + bytes.fromhex("0000000c 00000007 00 00000000 0030 00"),
        b"\2\0\0" + bytes(40),
        b"\3\0\0" + plain + marker,
        b"\3\0\2" + plain,
        b"\3\3\0" + b"\0\1" + bytes(8),
        b"\4\0\0" + captures.pcap(conversation().packets),
        b"\4\0\0" + captures.pcap(conversation().packets[3:], order=">", nano=True),
        b"\4\0\0" + captures.pcapng(map(captures.as_ipv6, conversation(2).packets), order=">"),
    ]
    codecs = list(Compression)[1:]
    return seeds + [b"\3\0\1" + bytes(builder.build(codec=codec)) for codec in codecs]


SEEDS: list[bytes] = _seeds()
