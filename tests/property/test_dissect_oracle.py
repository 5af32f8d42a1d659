"""The generated codec against the declarations: two decoders made independently of one schema.

For every message and version both must read the same values from the same bytes, refuse the same
damaged bytes, and name the same place of the damage.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from fencepost_protocol.apis import message_class
from fencepost_protocol.dissect import declarations
from fencepost_protocol.dissect.node import Node, State
from fencepost_protocol.dissect.tree import message_tree
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.schema.model import Message

from tests.fuzz.fuzz_dissect import assert_covers
from tests.support.random_messages import MessageMaker, all_schemas, seeded

ALL = all_schemas()
EDGES = (0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF)
STRUCTURAL = {"length", "count", "tag", "size", "null marker"}


def plain(value: Any) -> Any:
    """A message of the generated classes as the declarations give it."""
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return bytes(value) if isinstance(value, memoryview) else value


def same(left: Any, right: Any) -> bool:
    """Equality by which a number that is none (NaN) equals itself."""
    return bool(left == right) or repr(left) == repr(right)


def encoded(schema: Message, version: int, seed: int) -> tuple[Any, bytes]:
    rng = seeded(schema.name, version, seed)
    message = MessageMaker(schema, rng).make(version)
    if version in schema.flexible and rng.random() < 0.5:
        message.unknown_tagged_fields = ((20_000, b"later"), (70_000, b""))
    out = bytearray()
    message.encode(version, out)
    return message, bytes(out)


@pytest.mark.parametrize("schema", ALL, ids=lambda schema: schema.name)
def test_both_read_the_same_values_and_write_the_same_bytes(schema: Message) -> None:
    for version in schema.valid:
        for seed in range(2):
            _, data = encoded(schema, version, seed)
            fast, end = message_class(schema.name).decode(memoryview(data), version)
            slow, slow_end = declarations.parse(schema.name, version, data)
            assert same(slow, plain(fast))
            assert slow_end == end == len(data)
            assert declarations.build(schema.name, version, slow) == data


@pytest.mark.parametrize("schema", ALL, ids=lambda schema: schema.name)
def test_both_have_the_same_defaults(schema: Message) -> None:
    maker = MessageMaker(schema, random.Random(0))
    for struct in (schema.name, *schema.structs):
        made = getattr(maker.module, maker.names.of(schema, struct))()
        assert declarations.defaults(schema.name, struct) == plain(made)


@pytest.mark.parametrize("schema", ALL, ids=lambda schema: schema.name)
def test_both_judge_damaged_bytes_alike(schema: Message) -> None:
    for version in schema.valid:
        _, data = encoded(schema, version, 10)
        rng = seeded(schema.name, version, 11)
        tree = message_tree(schema.name, version, data, records=False)
        for damaged in mutations(tree, data, rng, 4):
            judge(schema.name, version, damaged)


@pytest.mark.slow
@pytest.mark.parametrize("schema", ALL, ids=lambda schema: schema.name)
def test_both_judge_very_many_damaged_bytes_alike(schema: Message) -> None:
    for version in schema.valid:
        for seed in (100, 101):
            _, data = encoded(schema, version, seed)
            rng = seeded(schema.name, version, seed)
            tree = message_tree(schema.name, version, data, records=False)
            for damaged in mutations(tree, data, rng, 60):
                judge(schema.name, version, damaged)


def judge(name: str, version: int, data: bytes) -> None:
    tree = message_tree(name, version, data, records=False)
    assert_covers(tree, 0, data)
    broken = [node for node in tree.walk() if node.state is State.BROKEN]
    fast = outcome(lambda: message_class(name).decode(memoryview(data), version))
    slow = outcome(lambda: declarations.parse(name, version, data))
    if isinstance(fast, RemoteProtocolError):
        assert isinstance(slow, RemoteProtocolError), data.hex()
        assert (fast.api, fast.version) == (name, version)
        assert fast.path is not None
        assert fast.offset is not None
        assert (fast.path, fast.offset) == (slow.path, slow.offset)
        told = [(node.path, node.offset, node.note) for node in broken]
        assert told == [(fast.path, fast.offset, fast.reason)], data.hex()
    else:
        assert not isinstance(slow, RemoteProtocolError), (slow, data.hex())
        assert not broken, (broken[0].note, data.hex())
        assert same(slow[0], plain(fast[0])), data.hex()
        assert slow[1] == fast[1]


def outcome(
    decode: Callable[[], tuple[Any, int]],
) -> tuple[Any, int] | RemoteProtocolError:
    """What a decoder gives or raises."""
    try:
        return decode()
    except RemoteProtocolError as error:
        return error


def mutations(tree: Node, data: bytes, rng: random.Random, count: int) -> Iterator[bytes]:
    """The data with bytes flipped, lengths changed, pieces cut out; never quite random garbage."""
    structural = [leaf for leaf in tree.leaves() if leaf.role in STRUCTURAL and leaf.length]
    for _ in range(count):
        damaged = bytearray(data)
        if not damaged:
            return
        way = rng.random()
        if way < 0.4 and structural:
            for _ in range(rng.choice([1, 1, 2])):
                leaf = rng.choice(structural)
                at = leaf.offset + rng.randrange(leaf.length)
                damaged[at] = rng.choice(EDGES) if rng.random() < 0.5 else damaged[at] ^ 1
        elif way < 0.6:
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        elif way < 0.7:
            damaged[rng.randrange(len(damaged))] = rng.choice(EDGES)
        elif way < 0.8:
            at = rng.randrange(len(damaged))
            del damaged[at : at + rng.choice([1, 2, 4])]
        elif way < 0.9:
            at = rng.randrange(len(damaged))
            damaged[at:at] = bytes(rng.choice(EDGES) for _ in range(rng.choice([1, 2, 4])))
        else:
            del damaged[rng.randrange(len(damaged)) :]
        yield bytes(damaged)


def test_the_mutations_are_of_both_kinds() -> None:
    outcomes = {True: 0, False: 0}
    for schema in ALL:
        version = schema.valid.highest
        _, data = encoded(schema, version, 10)
        tree = message_tree(schema.name, version, data, records=False)
        for damaged in mutations(tree, data, seeded(schema.name, version, 11), 4):
            try:
                message_class(schema.name).decode(memoryview(damaged), version)
            except RemoteProtocolError:
                outcomes[False] += 1
            else:
                outcomes[True] += 1
    assert min(outcomes.values()) > len(ALL) // 2, outcomes
