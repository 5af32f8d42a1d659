"""Frames are found in captures, responses find their requests, and accidents are survived."""

from __future__ import annotations

import random

import pytest
from fencepost_protocol.dissect.node import State
from fencepost_protocol.dissect.pcap import CapturedFrame, captured_frames
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import encode_request, encode_response
from fencepost_protocol.generated.produce import ProduceRequest
from fencepost_protocol.generated.sasl_handshake import (
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

from tests.support.capture import BROKER_PORT, Conversation
from tests.unit.dissect import captures
from tests.unit.dissect.captures import conversation, pcap, pcapng


def frames(content: bytes) -> list[CapturedFrame]:
    return list(captured_frames(memoryview(content)))


def told(found: list[CapturedFrame]) -> list[tuple[str, str, int | None]]:
    return [(each.kind, str(each.exchange), each.correlation_id) for each in found]


EXPECTED = [
    ("request", "FindCoordinator v1", 0),
    ("response", "FindCoordinator v1", 0),
    ("request", "EndTxn v3", 1),
    ("response", "EndTxn v3", 1),
    ("request", "FindCoordinator v1", 2),
    ("response", "FindCoordinator v1", 2),
]


@pytest.mark.parametrize("make", [pcap, pcapng])
def test_requests_and_their_responses(make) -> None:  # type: ignore[no-untyped-def]
    found = frames(make(conversation().packets))
    assert told(found) == EXPECTED
    assert all(each.tree is not None and not each.tree.is_broken for each in found)
    assert [each.latency_ns for each in found] == [None, 1000] * 3
    assert str(found[0].source) == "127.0.0.1:40000"
    assert str(found[1].source) == "127.0.0.1:9092"


def test_segments_late_twice_and_split() -> None:
    made = Conversation().open()
    data = b"".join(captures.other_request(number) for number in range(3))
    for at in range(0, len(data), 7):
        made.send(data[at : at + 7], from_client=True)
    head, tail = made.packets[:3], made.packets[3:]
    for seed in range(10):
        rng = random.Random(seed)
        shuffled = tail + rng.sample(tail, 5)
        rng.shuffle(shuffled)
        found = told(frames(pcap(head + shuffled)))
        assert found == [("request", "FindCoordinator v1", number) for number in range(3)]


def test_a_frame_of_many_segments() -> None:
    made = Conversation().open()
    made.send(captures.other_request(0, 20_000), from_client=True)
    made.send(captures.other_response(0, 30_000), from_client=False)
    assert told(frames(pcap(made.packets))) == EXPECTED[:2]


def test_pipelined_requests_find_their_responses_by_correlation_id() -> None:
    made = Conversation().open()
    made.send(captures.request(7) + captures.other_request(8), from_client=True)
    made.send(captures.response(7, 51) + captures.other_response(8), from_client=False)
    found = frames(pcap(made.packets))
    assert told(found)[2:] == [("response", "EndTxn v3", 7), ("response", "FindCoordinator v1", 8)]
    assert found[2].tree is not None
    error = found[2].tree.find("error_code")
    assert error is not None
    assert error.note == "CONCURRENT_TRANSACTIONS"


def test_a_correlation_id_used_twice_is_answered_in_order() -> None:
    made = Conversation().open()
    made.send(captures.request(0) + captures.other_request(0), from_client=True)
    made.send(captures.response(0) + captures.other_response(0), from_client=False)
    found = told(frames(pcap(made.packets)))
    assert [name for _, name, _ in found] == ["EndTxn v3", "FindCoordinator v1"] * 2


def test_connections_side_by_side_and_ports_used_again() -> None:
    first = conversation()
    other = Conversation(40_001).open()
    other.send(captures.request(5), from_client=True)
    again = Conversation(40_000, sent={True: 900_000, False: 800_000})
    again.open().send(captures.request(6), from_client=True)
    mixed = first.packets[:4] + other.packets + first.packets[4:] + again.packets
    found = told(frames(pcap(mixed)))
    assert sorted(found, key=str) == sorted(
        [*EXPECTED, ("request", "EndTxn v3", 5), ("request", "EndTxn v3", 6)], key=str
    )


@pytest.mark.parametrize("broker_port", [9092, 5000])
def test_the_client_is_known_without_the_handshake(
    broker_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.capture.BROKER_PORT", broker_port)
    assert told(frames(pcap(conversation().packets[3:]))) == EXPECTED


def test_a_capture_that_begins_inside_a_frame_falls_into_step() -> None:
    made = Conversation().open()
    big = captures.other_request(9, 3000)
    made.send(big, from_client=True)
    for number in range(3):
        made.send(captures.request(number), from_client=True)
        made.send(captures.response(number), from_client=False)
    found = frames(pcap(made.packets[5:]))
    kinds = [each.kind for each in found]
    assert kinds[0] == "remark"
    assert "passed over" in found[0].remark
    assert kinds[1:] == ["request", "response"] * 3


def test_a_frame_that_begins_inside_a_segment_is_found_as_well() -> None:
    made = Conversation().open()
    tail = captures.other_request(9, 3000)[-100:]
    made.send(tail + captures.request(1), from_client=True)
    made.send(tail + captures.response(1), from_client=False)
    found = frames(pcap(made.packets[3:]))
    assert [each.kind for each in found] == ["remark", "request", "remark", "response"]
    assert [each.correlation_id for each in found if each.kind != "remark"] == [1, 1]


def test_bytes_missing_from_the_capture_are_told_and_survived() -> None:
    made = Conversation().open()
    for number in range(6):
        made.send(captures.request(number), from_client=True)
    del made.packets[5]
    found = frames(pcap(made.packets))
    assert [each.correlation_id for each in found if each.kind == "request"] == [0, 1, 3, 4, 5]
    size = len(captures.request(2))
    remarks = [each.remark for each in found if each.kind == "remark"]
    assert remarks == [f"{size} bytes are missing from the capture"]


def test_packets_cut_by_the_snap_length_are_told() -> None:
    made = Conversation().open()
    made.send(captures.other_request(0, 300), from_client=True)
    made.send(captures.request(1), from_client=True)
    cut = [packet[:120] for packet in made.packets]
    found = frames(pcap(cut))
    assert [each.kind for each in found] == ["remark", "remark", "request"]
    assert "missing" in found[0].remark
    assert "passed over" in found[1].remark


def test_a_socket_connected_with_itself_is_passed_over() -> None:
    made = Conversation(BROKER_PORT).open()
    made.send(captures.request(0), from_client=True)
    assert frames(pcap(made.packets)) == []


def test_a_frame_that_the_capture_ends_in_is_told() -> None:
    made = Conversation().open()
    made.send(captures.request(0)[:-3], from_client=True)
    found = frames(pcap(made.packets))
    assert [each.remark for each in found] == [
        f"the capture ends inside a frame, after {len(captures.request(0)) - 3} bytes"
    ]


def test_a_response_without_its_request_is_shown_unread() -> None:
    made = Conversation().open()
    made.send(captures.response(99), from_client=False)
    (found,) = frames(pcap(made.packets))
    assert (found.kind, found.correlation_id) == ("response", 99)
    assert found.tree is not None
    assert found.tree.state is State.UNREAD


def test_a_produce_request_without_acks_is_not_waited_for() -> None:
    made = Conversation().open()
    made.send(bytes(encode_request(ProduceRequest(acks=0), 9, 1)), from_client=True)
    made.send(captures.request(1), from_client=True)
    made.send(captures.response(1), from_client=False)
    assert told(frames(pcap(made.packets)))[-1] == ("response", "EndTxn v3", 1)


@pytest.mark.parametrize(
    ("start", "what"),
    [(b"\x16\x03\x01\x02\0\x01\0", "TLS"), (b"GET / HTTP/1.1\r\n\r\n", "not Kafka's protocol")],
)
def test_a_connection_of_another_protocol_is_passed_over(start: bytes, what: str) -> None:
    made = Conversation().open()
    made.send(start, from_client=True)
    made.send(bytes(500), from_client=False)
    made.send(captures.request(1), from_client=True)
    found = frames(pcap(made.packets))
    assert [each.remark for each in found] == [f"this connection is {what}; passed over"]


def test_the_tokens_behind_an_old_sasl_handshake_are_no_frames() -> None:
    made = Conversation().open()
    shake = encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1, "c")
    made.send(bytes(shake), from_client=True)
    made.send(bytes(encode_response(SaslHandshakeResponse(), 0, 1)), from_client=False)
    made.send(b"\0\0\0\x0a\0user\0pass", from_client=True)
    made.send(b"\0\0\0\0", from_client=False)
    made.send(captures.request(2), from_client=True)
    made.send(captures.response(2), from_client=False)
    kinds = [each.kind for each in frames(pcap(made.packets))]
    assert kinds == ["request", "response", "token", "token", "request", "response"]


def test_what_came_before_the_end_of_a_broken_file_is_given() -> None:
    content = pcap(conversation().packets)
    found: list[CapturedFrame] = []
    with pytest.raises(RemoteProtocolError, match="ends inside a packet"):
        found.extend(captured_frames(memoryview(content)[:-5]))
    assert told(found) == EXPECTED[:5]


def test_an_api_that_we_do_not_know_is_shown_unread_and_keeps_us_in_step() -> None:
    made = Conversation().open()
    made.send(captures.request(1), from_client=True)
    made.send(bytes.fromhex("0000000e 7fff 0003 00000002 ffff 01020304"), from_client=True)
    made.send(captures.request(3), from_client=True)
    made.send(captures.response(1), from_client=False)
    made.send(bytes.fromhex("00000006 00000002 abcd"), from_client=False)
    made.send(captures.response(3), from_client=False)
    found = frames(pcap(made.packets))
    assert [each.correlation_id for each in found] == [1, 2, 3, 1, 2, 3]
    for each in (found[1], found[4]):
        assert each.tree is not None
        assert not each.tree.is_broken
        assert list(each.tree.leaves())[-1].note == "no API has the key 32767"
