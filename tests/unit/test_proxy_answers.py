"""Which answers have addresses, and how they are found without decoding."""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec
import pytest
from fencepost_broker.config.sources.structs import convert
from fencepost_broker.faults.rule import ACTS, Act, Rule, Run
from fencepost_broker.server.proxy.answers import ADDRESSES_FROM, move
from fencepost_broker.server.proxy.fetch_scan import HIDDEN, FetchScan
from fencepost_broker.server.proxy.requests import acks_of
from fencepost_broker.server.proxy.rules import proxied, why_not
from fencepost_protocol.framing import encode_request, encode_response, read_response_head
from fencepost_protocol.generated.fetch import FetchResponse, NodeEndpoint
from fencepost_protocol.generated.index import APIS, ApiKey
from fencepost_protocol.generated.produce import ProduceRequest
from fencepost_protocol.schema.files import load
from fencepost_protocol.schema.model import Message, Struct

from tests.support.random_messages import MessageMaker

BETWEEN_CONTROLLERS = {ApiKey.FETCH_SNAPSHOT, ApiKey.UPDATE_RAFT_VOTER}
OF_CLIENTS = {ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_DESCRIBE}
"""Addresses that clients have told each other for interactive queries: no proxy is between them."""


def structs(schema: Message) -> Iterator[Struct]:
    yield schema.root
    yield from schema.structs.values()


def test_all_answers_with_addresses_are_known() -> None:
    found: dict[int, int] = {}
    for key, (name, *_) in APIS.items():
        schema = load(f"{name}Response")
        for structure in structs(schema):
            fields = {each.name: each for each in structure.fields}
            if {"Host", "Port"} <= fields.keys():
                first = fields["Host"].versions.lowest
                found[key] = min(first, found.get(key, first))
    assert found.keys() - BETWEEN_CONTROLLERS - OF_CLIENTS == ADDRESSES_FROM.keys()
    assert {key: found[key] for key in ADDRESSES_FROM} == ADDRESSES_FROM


@pytest.mark.parametrize("key", ADDRESSES_FROM)
def test_all_addresses_are_moved(key: int) -> None:
    name, low, high, *_ = APIS[key]
    seen = []

    def locate(node_id: int, host: str, port: int) -> tuple[str, int]:
        seen.append(node_id)
        return f"to-{host}", 7

    for version in range(max(low, ADDRESSES_FROM[key]), high + 1):
        rng = random.Random(version)
        schema = load(f"{name}Response")
        while True:
            answer = MessageMaker(schema, rng).make(version)
            if move(key, answer, locate):
                break
        assert not [each for each in hosts_of(answer) if each and not each.startswith("to-")]
        assert seen


def hosts_of(message: object) -> Iterator[str]:
    for field in getattr(message, "__slots__", ()):
        value = getattr(message, field)
        if field == "host":
            yield value
        for each in value if isinstance(value, list) else [value]:
            yield from hosts_of(each)


@pytest.mark.parametrize("version", [16, 17, 18])
@pytest.mark.parametrize("seed", range(40))
def test_addresses_at_the_end_of_fetch_answers_are_found(seed: int, version: int) -> None:
    rng = random.Random(seed)
    answer: FetchResponse = MessageMaker(load("FetchResponse"), rng).make(version)
    answer.node_endpoints = [NodeEndpoint(1, "h", 1)] if seed % 2 else []
    frame = bytearray(encode_response(answer, version, 3))
    view, scan, pos, found = memoryview(frame), FetchScan(), 0, []
    while pos < len(frame):
        step = rng.choice((1, 2, 7, 50, 100_000))
        place = scan.feed(view[pos : pos + step])
        if place is not None:
            found.append(pos + place)
            view[pos + place] = HIDDEN
        pos += step
    assert len(found) == seed % 2
    content = view[4:]
    _, body = read_response_head(content, ApiKey.FETCH, version)
    told, end = FetchResponse.decode(content, version, body)
    assert end == len(content)
    hidden = told.unknown_tagged_fields[: seed % 2]
    assert told.node_endpoints == []
    assert len(hidden) == seed % 2
    told.unknown_tagged_fields, answer.node_endpoints = answer.unknown_tagged_fields, []
    assert encode_response(told, version, 3) == encode_response(answer, version, 3)


@pytest.mark.parametrize("version", range(3, ProduceRequest.MAX_VERSION + 1))
@pytest.mark.parametrize("client_id", [None, "", "c" * 300])
@pytest.mark.parametrize("name", [None, "", "t" * 300])
def test_acks_are_found_as_soon_as_they_are_there(
    name: str | None, client_id: str | None, version: int
) -> None:
    for acks in (-1, 0, 1):
        request = ProduceRequest(name, acks, 0x7777_7777)
        frame = memoryview(encode_request(request, version, 1, client_id))
        end = bytes(frame).index(b"\x77\x77\x77\x77")
        assert acks_of(frame[:end], version) == acks
        assert [acks_of(frame[:each], version) for each in range(end)] == [None] * end


@pytest.mark.parametrize("act", ACTS)
def test_acts_on_messages_are_carried_out_and_others_refused(act: type[Act]) -> None:
    required = {each.name: None for each in msgspec.structs.fields(act) if each.required}
    rule = Rule(act=act(**required))  # type: ignore[arg-type]
    told = "act: a proxy cannot run: it changes the broker itself"
    assert why_not(rule) == (told if act is Run else "")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"while": "transaction=Ongoing"}, "while: a proxy does not know the states"),
        ({"match": {"user": "alice"}}, "user: a proxy does not know who is logged in"),
        ({"match": {"listener": "SSL"}}, "listener: a proxy does not know"),
        ({"match": {"broker": 1}}, ""),
    ],
)
def test_what_a_proxy_cannot_do_is_refused_by_name(given: dict[str, object], reason: str) -> None:
    rule = convert({"act": {"type": "drop-answer"}, **given}, Rule)
    assert why_not(rule).startswith(reason)
    assert bool(why_not(rule)) == bool(reason)


def test_rules_may_be_for_every_api() -> None:
    assert proxied().keys() == APIS.keys()
