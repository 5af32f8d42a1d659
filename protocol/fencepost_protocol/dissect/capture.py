"""Reads capture files: classic pcap and pcapng, down to the TCP segments in them.

A file that breaks off inside a packet, as one does whose writer was stopped, gives all packets
before that and then raises. Packets that are not TCP over IP are passed over.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from fencepost_protocol import limits
from fencepost_protocol.exceptions import RemoteProtocolError

_CLASSIC: Final = {
    b"\xa1\xb2\xc3\xd4": (">", 1_000),
    b"\xd4\xc3\xb2\xa1": ("<", 1_000),
    b"\xa1\xb2\x3c\x4d": (">", 1),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
}
"""Magic -> byte order, nanoseconds in a unit of the fraction."""
_CLASSIC_HEADER: Final = 24
_CLASSIC_RECORD: Final = 16

_SECTION: Final = 0x0A0D0D0A
_SECTION_MAGIC: Final = b"\x0a\x0d\x0d\x0a"
_ORDERS: Final = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}
_INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _ENHANCED_PACKET = 1, 2, 3, 6
_MIN_BLOCK: Final = 12
_OPTION_RESOLUTION, _OPTION_OFFSET = 9, 14
_MAX_INTERFACES: Final = 10_000

_NULL, _ETHERNET, _LOOP, _SLL, _SLL2 = 0, 1, 108, 113, 276
_RAW: Final = frozenset({12, 14, 101, 228, 229})
_IPV4, _IPV6 = 0x0800, 0x86DD
_VLANS: Final = frozenset({0x8100, 0x88A8, 0x9100})
_TCP: Final = 6
_HOP_BY_HOP, _ROUTING, _FRAGMENT, _AUTHENTICATION, _DESTINATION = 0, 43, 44, 51, 60
_MAX_EXTENSIONS: Final = 16


class Packet(NamedTuple):
    """A packet of the file; ``data`` may be cut to the snap length of the capture."""

    time_ns: int
    link: int
    data: memoryview


class Endpoint(NamedTuple):
    """One side of a connection."""

    address: bytes
    port: int

    def __str__(self) -> str:
        host = ipaddress.ip_address(self.address)
        return f"[{host}]:{self.port}" if host.version == 6 else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Segment:
    """One TCP segment."""

    packet: int
    """The packet's number in the file, from 1, as other tools count."""
    time_ns: int
    source: Endpoint
    target: Endpoint
    sequence: int
    acknowledged: int
    syn: bool
    ack: bool
    fin: bool
    rst: bool
    payload: memoryview
    missing: int
    """The number of bytes that the segment had after the payload, and that the capture lacks."""


def is_capture(content: memoryview) -> bool:
    """Whether the bytes are the beginning of a capture file."""
    magic = bytes(content[:4])
    return magic in _CLASSIC or magic == _SECTION_MAGIC


def packets(content: memoryview) -> Iterator[Packet]:
    """The packets of a capture file, in order."""
    magic = bytes(content[:4])
    if magic in _CLASSIC:
        return _classic(content, *_CLASSIC[magic])
    if magic == _SECTION_MAGIC:
        return _Blocks(content).packets()
    raise RemoteProtocolError("neither pcap nor pcapng", path="capture", offset=0)


def segments(content: memoryview) -> Iterator[Segment]:
    """The TCP segments of a capture file, in order."""
    for number, packet in enumerate(packets(content), 1):
        segment = _segment(number, packet)
        if segment is not None:
            yield segment


def _cut_off(what: str, offset: int) -> RemoteProtocolError:
    return RemoteProtocolError(f"the file ends inside {what}", path="capture", offset=offset)


# -- pcap ---------------------------------------------------------------------------------------


def _classic(content: memoryview, order: str, unit_ns: int) -> Iterator[Packet]:
    if len(content) < _CLASSIC_HEADER:
        raise _cut_off("its header", 0)
    link = struct.unpack_from(f"{order}I", content, 20)[0] & 0xFFFF
    head = struct.Struct(f"{order}IIII")
    pos = _CLASSIC_HEADER
    while pos < len(content):
        if len(content) - pos < _CLASSIC_RECORD:
            raise _cut_off("a packet's header", pos)
        seconds, fraction, size, _ = head.unpack_from(content, pos)
        if size > limits.MAX_CAPTURED_PACKET_BYTES:
            raise RemoteProtocolError(f"a packet of {size} bytes", path="capture", offset=pos + 8)
        begin = pos + _CLASSIC_RECORD
        pos = begin + size
        if pos > len(content):
            raise _cut_off("a packet", begin)
        yield Packet(seconds * 1_000_000_000 + fraction * unit_ns, link, content[begin:pos])


# -- pcapng -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Interface:
    link: int
    snap: int
    ticks_per_second: int = 1_000_000
    offset_s: int = 0

    def time_ns(self, high: int, low: int) -> int:
        ticks = high << 32 | low
        return self.offset_s * 1_000_000_000 + ticks * 1_000_000_000 // self.ticks_per_second


@dataclass(slots=True)
class _Blocks:
    """Walks the blocks of a pcapng file; each section has its own byte order and interfaces."""

    content: memoryview
    order: str = ">"
    interfaces: list[_Interface] = field(default_factory=list)

    def packets(self) -> Iterator[Packet]:
        content, pos = self.content, 0
        while pos < len(content):
            if len(content) - pos < _MIN_BLOCK:
                raise _cut_off("a block's header", pos)
            if bytes(content[pos : pos + 4]) == _SECTION_MAGIC:
                self._begin_section(pos)
            kind, size = struct.unpack_from(f"{self.order}II", content, pos)
            if size < _MIN_BLOCK or size % 4:
                raise RemoteProtocolError(
                    f"a block of {size} bytes", path="capture", offset=pos + 4
                )
            if size > len(content) - pos:
                raise _cut_off("a block", pos)
            body = content[pos + 8 : pos + size - 4]
            try:
                if kind == _INTERFACE:
                    self._add_interface(body)
                packet = self._packet(kind, body)
            except (struct.error, IndexError, ValueError) as error:
                raise RemoteProtocolError(
                    f"a bad block of type {kind}: {error}", path="capture", offset=pos
                ) from error
            if packet is not None:
                yield packet
            pos += size

    def _begin_section(self, pos: int) -> None:
        magic = bytes(self.content[pos + 8 : pos + 12])
        if magic not in _ORDERS:
            raise RemoteProtocolError(
                f"a section's byte order is {magic.hex()}", path="capture", offset=pos + 8
            )
        self.order = _ORDERS[magic]
        self.interfaces = []

    def _add_interface(self, body: memoryview) -> None:
        if len(self.interfaces) >= _MAX_INTERFACES:
            raise ValueError(f"more than {_MAX_INTERFACES} interfaces")
        link, _, snap = struct.unpack_from(f"{self.order}HHI", body)
        interface = _Interface(link, snap)
        pos = 8
        while len(body) - pos >= 4:
            code, size = struct.unpack_from(f"{self.order}HH", body, pos)
            value = body[pos + 4 : pos + 4 + size]
            if code == _OPTION_RESOLUTION and size == 1:
                power = value[0] & 0x7F
                interface.ticks_per_second = (2 if value[0] & 0x80 else 10) ** power
            elif code == _OPTION_OFFSET and size == 8:
                (interface.offset_s,) = struct.unpack(f"{self.order}q", value)
            pos += 4 + size + -size % 4
        self.interfaces.append(interface)

    def _packet(self, kind: int, body: memoryview) -> Packet | None:
        if kind == _ENHANCED_PACKET:
            number, high, low, size, _ = struct.unpack_from(f"{self.order}IIIII", body)
            begin = 20
        elif kind == _OLD_PACKET:
            number, _, high, low, size, _ = struct.unpack_from(f"{self.order}HHIIII", body)
            begin = 20
        elif kind == _SIMPLE_PACKET:
            (size,) = struct.unpack_from(f"{self.order}I", body)
            number = high = low = 0
            begin = 4
        else:
            return None
        if number >= len(self.interfaces):
            raise ValueError(f"interface {number} was not described")
        interface = self.interfaces[number]
        if kind == _SIMPLE_PACKET:
            size = min(size, len(body) - begin, interface.snap or size)
        if size > len(body) - begin:
            raise ValueError(f"{size} bytes in a block of {len(body)}")
        data = body[begin : begin + size]
        return Packet(interface.time_ns(high, low), interface.link, data)


# -- from the link to TCP -----------------------------------------------------------------------


def _segment(number: int, packet: Packet) -> Segment | None:
    """The packet's TCP segment, if it has one that is whole enough."""
    try:
        start = _network_layer(packet.link, packet.data)
        if start is None:
            return None
        version = packet.data[start] >> 4
        data = packet.data[start:]
        if version == 4:
            return _ipv4(number, packet.time_ns, data)
        return _ipv6(number, packet.time_ns, data) if version == 6 else None
    except (struct.error, IndexError):
        return None  # Cut off before the segment's header ends.


def _network_layer(link: int, data: memoryview) -> int | None:
    """The position of the IP header."""
    if link in _RAW:
        return 0
    if link in {_NULL, _LOOP}:
        return 4  # The address family; the IP header tells its version itself.
    if link == _ETHERNET:
        pos = 12
    elif link == _SLL:
        pos = 14
    elif link == _SLL2:
        return 20 if struct.unpack_from(">H", data)[0] in {_IPV4, _IPV6} else None
    else:
        return None
    (kind,) = struct.unpack_from(">H", data, pos)
    while kind in _VLANS:
        pos += 4
        (kind,) = struct.unpack_from(">H", data, pos)
    return pos + 2 if kind in {_IPV4, _IPV6} else None


def _ipv4(number: int, time_ns: int, data: memoryview) -> Segment | None:
    header = 4 * (data[0] & 0x0F)
    total, _, fragment = struct.unpack_from(">HHH", data, 2)
    if data[9] != _TCP or fragment & 0x3FFF or header < 20:
        return None
    # Offloading leaves the total length at zero for the network card to fill in.
    announced = (total or len(data)) - header
    return _tcp(number, time_ns, bytes(data[12:16]), bytes(data[16:20]), data[header:], announced)


def _ipv6(number: int, time_ns: int, data: memoryview) -> Segment | None:
    payload, following = struct.unpack_from(">HB", data, 4)
    pos = 40
    announced = payload or len(data) - pos
    for _ in range(_MAX_EXTENSIONS):
        if following == _TCP:
            break
        if following in {_HOP_BY_HOP, _ROUTING, _DESTINATION}:
            size = 8 * (data[pos + 1] + 1)
        elif following == _AUTHENTICATION:
            size = 4 * (data[pos + 1] + 2)
        else:
            return None  # A fragment, or no TCP at all.
        following = data[pos]
        pos += size
        announced -= size
    else:
        return None
    return _tcp(number, time_ns, bytes(data[8:24]), bytes(data[24:40]), data[pos:], announced)


def _tcp(
    number: int, time_ns: int, source: bytes, target: bytes, data: memoryview, announced: int
) -> Segment | None:
    source_port, target_port, sequence, acknowledged, offset, flags = struct.unpack_from(
        ">HHIIBB", data
    )
    header = 4 * (offset >> 4)
    if header < 20 or announced < header:
        return None
    payload = data[header:announced]  # Without the padding of short Ethernet frames.
    return Segment(
        packet=number,
        time_ns=time_ns,
        source=Endpoint(source, source_port),
        target=Endpoint(target, target_port),
        sequence=sequence,
        acknowledged=acknowledged,
        syn=bool(flags & 0x02),
        ack=bool(flags & 0x10),
        fin=bool(flags & 0x01),
        rst=bool(flags & 0x04),
        payload=payload,
        missing=announced - header - len(payload),
    )
