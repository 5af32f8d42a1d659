"""Capture files made by hand: every format, link type and accident that the reader knows."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from fencepost_protocol.framing import encode_request, encode_response
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnResponse
from fencepost_protocol.generated.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

from tests.support.capture import Conversation

SECOND = 1_700_000_000
ETHERNET, RAW, NULL, LOOP, SLL, SLL2 = 1, 101, 0, 108, 113, 276


def pcap(packets: Iterable[bytes], *, order: str = "<", nano: bool = False, link: int = 1) -> bytes:
    """A classic capture; packets are one unit of the fraction apart."""
    magic = 0xA1B23C4D if nano else 0xA1B2C3D4
    out = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 1 << 18, link)
    for number, packet in enumerate(packets, 1):
        out += struct.pack(f"{order}IIII", SECOND, number, len(packet), len(packet)) + packet
    return out


def block(kind: int, body: bytes, order: str) -> bytes:
    body += bytes(-len(body) % 4)
    size = len(body) + 12
    return struct.pack(f"{order}II", kind, size) + body + struct.pack(f"{order}I", size)


def section(order: str) -> bytes:
    return block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(order: str, link: int, *, resolution: int | None = None, snap: int = 0) -> bytes:
    body = struct.pack(f"{order}HHI", link, 0, snap)
    if resolution is not None:
        body += struct.pack(f"{order}HHB3x", 9, 1, resolution) + bytes(4)
    return block(1, body, order)


def enhanced(packet: bytes, ticks: int, order: str, number: int = 0) -> bytes:
    size = len(packet)
    head = struct.pack(f"{order}IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, size, size)
    return block(6, head + packet, order)


def simple(packet: bytes, order: str) -> bytes:
    return block(3, struct.pack(f"{order}I", len(packet)) + packet, order)


def pcapng(packets: Iterable[bytes], *, order: str = "<", link: int = 1) -> bytes:
    """A capture of one section with blocks that we have to pass over."""
    out = section(order) + interface(order, link) + block(5, b"statistics", order)
    for number, packet in enumerate(packets, 1):
        out += enhanced(packet, SECOND * 1_000_000 + number, order)
    return out


def ip_of(ethernet: bytes) -> bytes:
    return ethernet[14:]


def relinked(ethernet: bytes, link: int) -> bytes:
    """An Ethernet packet as it comes from another kind of interface."""
    ip = ip_of(ethernet)
    heads = {
        ETHERNET: ethernet[:14],
        RAW: b"",
        NULL: struct.pack("<I", 2),
        LOOP: struct.pack(">I", 2),
        SLL: bytes(14) + b"\x08\0",
        SLL2: b"\x08\0" + bytes(18),
    }
    return heads[link] + ip


def as_ipv6(ethernet: bytes, extensions: bytes = b"", first: int = 6) -> bytes:
    """The packet's segment over IPv6; ``first`` is the type of the first extension."""
    tcp = ip_of(ethernet)[20:]
    loopback = bytes(15) + b"\1"
    head = struct.pack(">IHBB", 6 << 28, len(extensions) + len(tcp), first, 64)
    return bytes(12) + b"\x86\xdd" + head + loopback + loopback + extensions + tcp


def request(correlation_id: int, name: str = "tx") -> bytes:
    message = EndTxnRequest(transactional_id=name, producer_id=correlation_id)
    return bytes(encode_request(message, 3, correlation_id, "cli"))


def response(correlation_id: int, error: int = 0) -> bytes:
    return bytes(encode_response(EndTxnResponse(error_code=error), 3, correlation_id))


def other_request(correlation_id: int, size: int = 10) -> bytes:
    message = FindCoordinatorRequest(key="g" * size)
    return bytes(encode_request(message, 1, correlation_id, "cli"))


def other_response(correlation_id: int, size: int = 10) -> bytes:
    message = FindCoordinatorResponse(host="h" * size, port=9092)
    return bytes(encode_response(message, 1, correlation_id))


def conversation(count: int = 3) -> Conversation:
    """Requests of two kinds with their responses, one after the other."""
    made = Conversation().open()
    for number in range(count):
        asked, answer = (request, response) if number % 2 else (other_request, other_response)
        made.send(asked(number), from_client=True)
        made.send(answer(number), from_client=False)
    return made
