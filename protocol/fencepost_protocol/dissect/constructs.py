"""Construct classes for Kafka's protocol.

They read and build as the library's own do and nest with them, with one demand: what they parse
from is a ``Source``, because a length is held against the bytes that are left.
"""

# The library has no types, so its classes are Any to mypy:
# mypy: disallow-subclassing-any=False
# What its methods are given is its affair:
# ruff: noqa: ARG002

from __future__ import annotations

import struct
from typing import Any, Final

from construct import Adapter, Construct, ConstructError, StreamError, Subconstruct

from fencepost_protocol import limits
from fencepost_protocol.dissect.trace import Label, Trace

MAX_STRING: Final = 0x7FFF


class Refused(ConstructError):  # noqa: N818 (bytes are refused; the library's are errors)
    """Bytes that the protocol does not allow."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Unbuildable(ConstructError):  # noqa: N818
    """A value that the protocol cannot carry."""


class Source:
    """A stream over a buffer, with the number of remaining bytes and a trace."""

    __slots__ = ("_pos", "content", "elements_left", "end", "trace", "wanted")

    def __init__(self, content: memoryview, trace: Trace | None = None) -> None:
        self.content = content
        self.end = len(content)
        self._pos = 0
        self.trace = trace
        self.elements_left = min(self.end, limits.MAX_ELEMENTS)
        self.wanted = 0

    def read(self, size: int) -> bytes:
        """As of any stream: fewer bytes than asked for are all that are left."""
        return self.take(size).tobytes()

    def take(self, size: int) -> memoryview:
        """The next bytes without copying them; the part that wants them names the lack of them."""
        begin = self._pos
        self.wanted = size
        self._pos = min(begin + size, self.end)
        return self.content[begin : self._pos]

    def tell(self) -> int:
        """The current position."""
        return self._pos

    @property
    def left(self) -> int:
        """The number of bytes that can still be read."""
        return self.end - self._pos

    def narrow(self, size: int) -> int:
        """Let only ``size`` more bytes be read; gives what ``widen`` takes to end that."""
        outer = self.end
        self.end = self._pos + size
        return outer

    def widen(self, outer: int) -> None:
        """End the innermost ``narrow``."""
        self.end = outer

    def spend(self, elements: int) -> None:
        """Refuse arrays that all together promise more elements than there can be bytes for."""
        self.elements_left -= elements
        if self.elements_left < 0:
            raise Refused(
                f"an array's count is {-self.elements_left} beyond what the bytes of the message "
                f"(or the limit MAX_ELEMENTS = {limits.MAX_ELEMENTS}) allow"
            )


def exactly(source: Source, size: int) -> memoryview:
    """Read a number of bytes; raises the library's error if there are fewer."""
    taken = source.take(size)
    if len(taken) != size:
        raise StreamError(f"{size} bytes expected, {len(taken)} are left")
    return taken


class Part(Subconstruct):
    """Gives its content a label, and tells the trace, if there is one, where it is."""

    def __init__(self, label: Label, subcon: Construct) -> None:
        super().__init__(subcon)
        self.name = label.name
        self.label = label

    def _parse(self, stream: Source, context: Any, path: str, position: int = 0) -> Any:
        trace = stream.trace
        if trace is None:
            return self.subcon._parse(stream, context, path)
        trace.enter(self.label, stream.tell(), position)
        value = self.subcon._parse(stream, context, path)
        trace.leave(stream.tell(), value)
        return value


class UVarint(Construct):
    """An unsigned number in groups of seven bits, the lowest first."""

    def __init__(self, bits: int = 32) -> None:
        super().__init__()
        self.bits = bits

    def _parse(self, stream: Source, context: Any, path: str) -> int:
        value = 0
        for shift in range(0, self.bits, 7):
            (byte,) = exactly(stream, 1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
        else:
            raise Refused(f"a varint of more bytes than {self.bits} bits can fill")
        if value >> self.bits:
            raise Refused(f"a varint of more than {self.bits} bits")
        return value

    def _build(self, obj: int, stream: Any, context: Any, path: str) -> int:
        if not 0 <= obj < 1 << self.bits:
            raise Unbuildable(f"{obj} is not an unsigned {self.bits}-bit number")
        rest = obj
        while rest > 0x7F:
            stream.write(bytes((rest & 0x7F | 0x80,)))
            rest >>= 7
        stream.write(bytes((rest,)))
        return obj


class Zigzag(UVarint):
    """A signed number, mapped so that small negative ones are short as well."""

    def _parse(self, stream: Source, context: Any, path: str) -> int:
        value = super()._parse(stream, context, path)
        return value >> 1 ^ -(value & 1)

    def _build(self, obj: int, stream: Any, context: Any, path: str) -> int:
        super()._build(obj << 1 ^ obj >> self.bits - 1, stream, context, path)
        return obj


class Length(Adapter):
    """The length of what follows; ``None`` for null.

    A compact one is stored plus one, so that zero is null; a classic one is null below zero.
    """

    def __init__(
        self,
        number: Construct,
        *,
        compact: bool,
        nullable: bool,
        longest: int | None = None,
        of_elements: bool = False,
    ) -> None:
        super().__init__(number)
        self.compact = compact
        self.nullable = nullable
        self.longest = longest
        self.of_elements = of_elements

    def _parse(self, stream: Source, context: Any, path: str) -> int | None:
        length = self._decode(self.subcon._parse(stream, context, path), context, path)
        if self.of_elements and length is not None:
            stream.spend(length + self.compact)
        return length

    def _decode(self, obj: int, context: Any, path: str) -> int | None:
        length = obj - 1 if self.compact else obj
        if length < 0:
            if self.nullable:
                return None
            if length == -1:
                raise Refused("null, but the field cannot be null")
            raise Refused(f"the length is {length}")
        if self.longest is not None and length > self.longest:
            raise Refused(f"a string of {length} bytes; the limit is {self.longest}")
        return length

    def _encode(self, obj: int | None, context: Any, path: str) -> int:
        if obj is None:
            if not self.nullable:
                raise Unbuildable("None, but the field cannot be null in this version")
            return 0 if self.compact else -1
        if self.longest is not None and obj > self.longest:
            raise Unbuildable(f"a string of {obj} bytes; the limit is {self.longest}")
        return obj + 1 if self.compact else obj


class Text(Construct):
    """UTF-8 in a given number of bytes."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__()
        self.errors = errors

    def read(self, stream: Source, size: int) -> str:
        """The text of the next bytes."""
        try:
            return exactly(stream, size).tobytes().decode("utf-8", self.errors)
        except UnicodeDecodeError as error:
            raise Refused(f"not UTF-8 at its byte {error.start}: {error.reason}") from None

    def raw(self, obj: str) -> bytes:
        """The bytes of a text."""
        return obj.encode()


class Blob(Construct):
    """Bytes, as many as its surroundings say; a tree keeps a view of them."""

    def read(self, stream: Source, size: int) -> bytes | memoryview:
        """The next bytes."""
        taken = exactly(stream, size)
        return taken.tobytes() if stream.trace is None else taken

    def raw(self, obj: bytes) -> bytes:
        """The bytes to write."""
        return bytes(obj)


class Rest(Construct):
    """All remaining bytes, without a copy."""

    def _parse(self, stream: Source, context: Any, path: str) -> memoryview:
        return stream.take(stream.left)


class Sized(Construct):
    """A length and that many bytes."""

    def __init__(self, length: Part, content: Text | Blob, label: Label) -> None:
        super().__init__()
        self.length = length
        self.content = content
        self.label = label

    def _parse(self, stream: Source, context: Any, path: str) -> Any:
        size = self.length._parse(stream, context, path)
        if size is None:
            return None
        trace = stream.trace
        if trace is None or not size:
            return self.content.read(stream, size)
        trace.enter(self.label, stream.tell())
        value = self.content.read(stream, size)
        trace.leave(stream.tell(), value)
        return value

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        if obj is None:
            self.length._build(None, stream, context, path)
            return obj
        raw = self.content.raw(obj)
        self.length._build(len(raw), stream, context, path)
        stream.write(raw)
        return obj


class Elements(Construct):
    """An array: a count and that many elements."""

    def __init__(self, length: Part, element: Construct, label: Label) -> None:
        super().__init__()
        self.length = length
        self.element = Part(label, element)

    def _parse(self, stream: Source, context: Any, path: str) -> list[Any] | None:
        count = self.length._parse(stream, context, path)
        if count is None:
            return None
        return self._elements(stream, context, path, count)

    def _elements(self, stream: Source, context: Any, path: str, count: int) -> list[Any]:
        read = self.element._parse
        return [read(stream, context, path, position) for position in range(count)]

    def _build(self, obj: list[Any] | None, stream: Any, context: Any, path: str) -> Any:
        if obj is None:
            self.length._build(None, stream, context, path)
            return obj
        self.length._build(len(obj), stream, context, path)
        for element in obj:
            self.element._build(element, stream, context, path)
        return obj


class Numbers(Elements):
    """An array of numbers, read in one go where nobody wants to hear of each."""

    def __init__(self, length: Part, element: Construct, label: Label, code: str) -> None:
        super().__init__(length, element, label)
        self.code = code
        self.width = struct.calcsize(f">{code}")

    def _elements(self, stream: Source, context: Any, path: str, count: int) -> list[Any]:
        trace = stream.trace
        if trace is not None and trace.every_part:
            return super()._elements(stream, context, path, count)
        whole = stream.left // self.width
        if trace is not None and count > whole:
            exactly(stream, whole * self.width)
            trace.enter(self.element.label, stream.tell(), whole)
            exactly(stream, self.width)
        raw = exactly(stream, count * self.width)
        if trace is not None and count:
            trace.enter(self.element.label, stream.tell(), count - 1)
            trace.leave(stream.tell(), None)
        if trace is not None and not trace.keeps_values:
            return []
        return list(struct.unpack(f">{count}{self.code}", raw))


def why(error: ConstructError, source: Source, at: int) -> str:
    """The failure in words; ``at`` is up to where everything was fine."""
    if isinstance(error, Refused):
        return error.reason
    if isinstance(error, StreamError):
        left = source.end - at
        wanted = f"{source.wanted} byte{'' if source.wanted == 1 else 's'}"
        return f"cut short: {wanted} wanted, {left} left"
    return str(error)
