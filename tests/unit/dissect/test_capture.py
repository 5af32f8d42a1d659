"""Capture files of every kind give the same segments."""

from __future__ import annotations

import struct

import pytest
from fencepost_protocol.dissect.capture import Packet, is_capture, packets, segments
from fencepost_protocol.exceptions import RemoteProtocolError

from tests.unit.dissect import captures
from tests.unit.dissect.captures import SECOND, conversation, pcap, pcapng

PAYLOADS = [captures.other_request(0), captures.other_response(0)]


def payloads(content: bytes) -> list[bytes]:
    found = [bytes(segment.payload) for segment in segments(memoryview(content))]
    return [each for each in found if each]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nano", [False, True])
def test_classic_captures_of_both_orders_and_resolutions(order: str, nano: bool) -> None:
    content = pcap(conversation(1).packets, order=order, nano=nano)
    assert is_capture(memoryview(content))
    assert payloads(content) == PAYLOADS
    times = [packet.time_ns for packet in packets(memoryview(content))]
    assert times[1] - SECOND * 10**9 == (2 if nano else 2_000)


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng_of_both_orders(order: str) -> None:
    content = pcapng(conversation(1).packets, order=order)
    assert is_capture(memoryview(content))
    assert payloads(content) == PAYLOADS
    first = next(iter(packets(memoryview(content))))
    assert first.time_ns == SECOND * 10**9 + 1_000


def test_pcapng_sections_may_differ_in_order_and_interfaces() -> None:
    made = conversation(1).packets
    content = (
        captures.section("<")
        + captures.interface("<", captures.RAW, resolution=9)
        + captures.interface("<", captures.ETHERNET, resolution=0x80 | 10)
        + captures.enhanced(captures.ip_of(made[3]), SECOND * 10**9 + 7, "<")
        + captures.enhanced(made[4], SECOND * 1024 + 512, "<", number=1)
        + captures.section(">")
        + captures.interface(">", captures.ETHERNET, snap=60)
        + captures.simple(made[3], ">")
    )
    found = list(packets(memoryview(content)))
    assert [packet.link for packet in found] == [captures.RAW, captures.ETHERNET, captures.ETHERNET]
    assert found[0].time_ns == SECOND * 10**9 + 7
    assert found[1].time_ns == SECOND * 10**9 + 500_000_000
    assert len(found[2].data) == 60
    assert payloads(content)[:2] == PAYLOADS
    last = list(segments(memoryview(content)))[-1]
    assert len(last.payload) == 6
    assert last.missing == len(PAYLOADS[0]) - 6


@pytest.mark.parametrize(
    "link",
    [captures.RAW, captures.NULL, captures.LOOP, captures.SLL, captures.SLL2, captures.ETHERNET],
)
def test_link_types(link: int) -> None:
    made = [captures.relinked(packet, link) for packet in conversation(1).packets]
    assert payloads(pcap(made, link=link)) == PAYLOADS


def test_vlan_tags_and_ethernet_padding() -> None:
    made = [
        packet[:12] + b"\x88\xa8\0\1\x81\0\0\2" + packet[12:] + b"padding"
        for packet in conversation(1).packets
    ]
    assert payloads(pcap(made)) == PAYLOADS


def test_ipv6_with_and_without_extensions() -> None:
    plain = [captures.as_ipv6(packet) for packet in conversation(1).packets]
    assert payloads(pcap(plain)) == PAYLOADS
    options = b"\x06\0" + bytes(6)
    extended = [captures.as_ipv6(packet, options, 0) for packet in conversation(1).packets]
    assert payloads(pcap(extended)) == PAYLOADS
    addresses = {str(s.source) for s in segments(memoryview(pcap(plain)))}
    assert addresses == {"[::1]:40000", "[::1]:9092"}


def test_what_is_no_tcp_is_passed_over() -> None:
    packet = conversation(1).packets[3]
    udp = packet[:23] + b"\x11" + packet[24:]
    arp = packet[:12] + b"\x08\x06" + packet[14:]
    fragment = packet[:20] + b"\x20\0" + packet[22:]
    over_ipv6 = captures.as_ipv6(packet, b"\x06\0" + bytes(6), 44)
    odd = [b"", packet[:20], packet[:40], udp, arp, fragment, over_ipv6, packet]
    found = list(segments(memoryview(pcap(odd))))
    assert [segment.packet for segment in found] == [8]
    assert payloads(pcap([packet], link=147)) == []


def test_offloaded_segments_have_no_length_of_their_own() -> None:
    packet = bytearray(conversation(1).packets[3])
    packet[16:18] = bytes(2)
    assert payloads(pcap([bytes(packet)])) == PAYLOADS[:1]


@pytest.mark.parametrize("cut", [10, 30, 41, 100])
@pytest.mark.parametrize("make", [pcap, pcapng])
def test_a_file_that_breaks_off_gives_what_it_has_and_then_the_error(make, cut: int) -> None:  # type: ignore[no-untyped-def]
    content = make(conversation(1).packets)
    found: list[Packet] = []
    with pytest.raises(RemoteProtocolError, match=r"the file ends inside|neither") as caught:
        found.extend(packets(memoryview(content)[:cut]))
    assert caught.value.offset is not None
    assert found == list(packets(memoryview(content)))[: len(found)]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"nothing of the kind", "neither pcap nor pcapng"),
        (pcap([])[:24] + struct.pack("<IIII", 0, 0, 1 << 30, 0), "a packet of 1073741824 bytes"),
        (struct.pack(">III", 0x0A0D0D0A, 28, 5) + bytes(20), "byte order"),
        (captures.section("<")[:4] + struct.pack("<II", 8, 0x1A2B3C4D), "a block of 8 bytes"),
        (captures.section("<") + captures.enhanced(b"", 0, "<"), "interface 0 was not described"),
        (captures.section("<") + captures.block(1, b"\1", "<"), "a bad block of type 1"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_with_its_offset(content: bytes, reason: str) -> None:
    with pytest.raises(RemoteProtocolError, match=reason) as caught:
        list(packets(memoryview(content)))
    assert caught.value.offset is not None
