"""Writes packet captures: plain TCP conversations between a client and a broker."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

BROKER_PORT = 9092
_SEGMENT_BYTES = 1400


@dataclass
class Conversation:
    """One TCP connection, packet by packet, as a classic pcap of Ethernet frames."""

    client_port: int = 40_000
    packets: list[bytes] = field(default_factory=list)
    sent: dict[bool, int] = field(default_factory=lambda: {True: 1000, False: 5000})

    def open(self) -> Conversation:
        """The three-way handshake."""
        for from_client, flags in ((True, 0x02), (False, 0x12)):
            self._packet(from_client, flags, b"")
            self.sent[from_client] += 1
        self._packet(True, 0x10, b"")
        return self

    def send(self, data: bytes, *, from_client: bool) -> None:
        """Data in one direction, cut into segments."""
        for at in range(0, len(data), _SEGMENT_BYTES):
            piece = data[at : at + _SEGMENT_BYTES]
            self._packet(from_client, 0x18, piece)
            self.sent[from_client] += len(piece)

    def _packet(self, from_client: bool, flags: int, payload: bytes) -> None:
        source, target = (
            (self.client_port, BROKER_PORT) if from_client else (BROKER_PORT, self.client_port)
        )
        acknowledged = self.sent[not from_client] if flags & 0x10 else 0
        tcp = struct.pack(
            ">HHIIBBHHH", source, target, self.sent[from_client], acknowledged,
            5 << 4, flags, 65535, 0, 0,
        )  # fmt: skip
        ip = struct.pack(
            ">BBHHHBBH4s4s", 0x45, 0, 20 + 20 + len(payload), len(self.packets) & 0xFFFF, 0, 64,
            6, 0, b"\x7f\0\0\1", b"\x7f\0\0\1",
        )  # fmt: skip
        self.packets.append(bytes(12) + b"\x08\0" + ip + tcp + payload)


def write_pcap(path: Path, conversations: list[Conversation]) -> None:
    """All packets of the conversations, one conversation after another."""
    out = bytearray(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1))
    second = 1_700_000_000
    for conversation in conversations:
        for packet in conversation.packets:
            out += struct.pack("<IIII", second, 0, len(packet), len(packet))
            out += packet
            second += 1
    path.write_bytes(out)
