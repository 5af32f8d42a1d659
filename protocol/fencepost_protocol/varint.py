"""Variable-length integers: seven bits a byte, lowest first, the top bit says "more follows".

Kafka uses three of them: unsigned 32-bit ones (lengths and tags of flexible messages), and signed
32-bit and 64-bit ones (inside records), which are zigzag-mapped first so that small negative
numbers stay short: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...

The readers take a buffer and a position, and return the value and the position after it. Every
message uses them, so numbers of one, two and three bytes have their own code; longer ones are rare
and use a loop. A number with too many bytes or bits raises ``ValueError``; a buffer that ends too
early raises ``IndexError``. Callers turn both into errors with message and position.

An encoding with needless trailing zero groups (``80 00`` for zero) is accepted within the byte
limit, as in Kafka, whose own writers use such padding nowhere.
"""

from __future__ import annotations

from typing import Final, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview
"""What the readers accept."""

MAX_UVARINT: Final = 0xFFFF_FFFF
MIN_VARINT: Final = -(1 << 31)
MAX_VARINT: Final = (1 << 31) - 1
MIN_VARLONG: Final = -(1 << 63)
MAX_VARLONG: Final = (1 << 63) - 1


# --- unsigned ---------------------------------------------------------------------------------


def read_uvarint(buf: Buffer, pos: int) -> tuple[int, int]:
    """Read an unsigned 32-bit number; returns it and the position after it."""
    byte = buf[pos]
    if byte < 0x80:
        return byte, pos + 1
    return read_uvarint_tail(buf, pos + 1, byte)


def read_uvarint_tail(buf: Buffer, pos: int, first: int) -> tuple[int, int]:
    """Continue after the first byte (``first``, at least 0x80), which the caller read already.

    Generated decoders look at the first byte inline, because nearly always it is the only one.
    """
    byte = buf[pos]
    if byte < 0x80:
        return first & 0x7F | byte << 7, pos + 1
    value = first & 0x7F | (byte & 0x7F) << 7
    byte = buf[pos + 1]
    if byte < 0x80:
        return value | byte << 14, pos + 2
    value |= (byte & 0x7F) << 14
    byte = buf[pos + 2]
    if byte < 0x80:
        return value | byte << 21, pos + 3
    value |= (byte & 0x7F) << 21
    byte = buf[pos + 3]
    if byte > 0x0F:
        raise ValueError("an unsigned varint has more than 32 bits")
    return value | byte << 28, pos + 4


def write_uvarint(out: bytearray, value: int) -> None:
    """Append an unsigned 32-bit number."""
    if 0 <= value < 0x80:
        out.append(value)
    elif 0 < value < 0x4000:
        out.append(value & 0x7F | 0x80)
        out.append(value >> 7)
    elif 0 < value < 0x20_0000:  # The length of most record batches.
        out.append(value & 0x7F | 0x80)
        out.append(value >> 7 & 0x7F | 0x80)
        out.append(value >> 14)
    elif 0 < value <= MAX_UVARINT:
        _write_groups(out, value)
    else:
        raise ValueError(f"{value} is not an unsigned 32-bit number")


def uvarint_size(value: int) -> int:
    """The number of bytes that :func:`write_uvarint` appends for ``value``."""
    if 0 <= value < 0x80:
        return 1
    if 0 < value <= MAX_UVARINT:
        return (value.bit_length() + 6) // 7
    raise ValueError(f"{value} is not an unsigned 32-bit number")


# --- signed (zigzag) --------------------------------------------------------------------------


def read_varint(buf: Buffer, pos: int) -> tuple[int, int]:
    """Read a signed 32-bit number; returns it and the position after it."""
    byte = buf[pos]
    if byte < 0x80:
        return byte >> 1 ^ -(byte & 1), pos + 1
    value, pos = read_uvarint_tail(buf, pos + 1, byte)
    return value >> 1 ^ -(value & 1), pos


def read_varlong(buf: Buffer, pos: int) -> tuple[int, int]:
    """Read a signed 64-bit number; returns it and the position after it."""
    byte = buf[pos]
    if byte < 0x80:
        return byte >> 1 ^ -(byte & 1), pos + 1
    value = byte & 0x7F
    byte = buf[pos + 1]
    if byte < 0x80:
        value |= byte << 7
        return value >> 1 ^ -(value & 1), pos + 2
    value |= (byte & 0x7F) << 7
    byte = buf[pos + 2]
    if byte < 0x80:
        value |= byte << 14
        return value >> 1 ^ -(value & 1), pos + 3
    value |= (byte & 0x7F) << 14
    pos += 3
    for shift in range(21, 70, 7):
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                break
            return value >> 1 ^ -(value & 1), pos
    raise ValueError("a varlong has more than 64 bits")


def write_varint(out: bytearray, value: int) -> None:
    """Append a signed 32-bit number."""
    if -0x40 <= value < 0x40:
        out.append(value << 1 ^ value >> 31)
    elif MIN_VARINT <= value <= MAX_VARINT:
        _write_groups(out, value << 1 ^ value >> 31)
    else:
        raise ValueError(f"{value} is not a signed 32-bit number")


def write_varlong(out: bytearray, value: int) -> None:
    """Append a signed 64-bit number."""
    if -0x40 <= value < 0x40:
        out.append(value << 1 ^ value >> 63)
    elif MIN_VARLONG <= value <= MAX_VARLONG:
        _write_groups(out, value << 1 ^ value >> 63)
    else:
        raise ValueError(f"{value} is not a signed 64-bit number")


def varint_size(value: int) -> int:
    """The number of bytes that :func:`write_varint` appends for ``value``."""
    if -0x40 <= value < 0x40:
        return 1
    if MIN_VARINT <= value <= MAX_VARINT:
        return ((value << 1 ^ value >> 31).bit_length() + 6) // 7
    raise ValueError(f"{value} is not a signed 32-bit number")


def varlong_size(value: int) -> int:
    """The number of bytes that :func:`write_varlong` appends for ``value``."""
    if -0x40 <= value < 0x40:
        return 1
    if MIN_VARLONG <= value <= MAX_VARLONG:
        return ((value << 1 ^ value >> 63).bit_length() + 6) // 7
    raise ValueError(f"{value} is not a signed 64-bit number")


def _write_groups(out: bytearray, value: int) -> None:
    """Append an unsigned number that is known to be in range and to need two bytes or more."""
    append = out.append
    append(value & 0x7F | 0x80)
    value >>= 7
    while value > 0x7F:
        append(value & 0x7F | 0x80)
        value >>= 7
    append(value)
