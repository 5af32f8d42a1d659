"""Names every byte of a message, a frame or a records field.

What comes back always holds all the bytes that went in, however little sense they make: see
``node.Node``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final, TypeAlias

from construct import Int32sb

from fencepost_protocol.dissect.batches import open_records
from fencepost_protocol.dissect.constructs import Part
from fencepost_protocol.dissect.declarations import declaration
from fencepost_protocol.dissect.logrecords import opener_of
from fencepost_protocol.dissect.node import Node, State
from fencepost_protocol.dissect.opener import Opener
from fencepost_protocol.dissect.region import read_region
from fencepost_protocol.dissect.trace import Budget, Label
from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.generated.index import APIS, ApiKey
from fencepost_protocol.schema import files

Buffer: TypeAlias = bytes | bytearray | memoryview

SIZE_BYTES: Final = 4
REQUEST_HEAD: Final = struct.Struct(">hhi")
"""API key, version and correlation id, with which every request begins."""

_UNSUPPORTED_VERSION: Final = b"\x00\x23"
_METADATA_TOPIC_ID: Final = bytes(15) + b"\x01"
_SIZE: Final = Part(
    Label("size", "length", "int32", about="Bytes of the frame behind this."), Int32sb
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """Which API, in which version: what it takes to read a response."""

    api_key: int
    version: int

    @property
    def name(self) -> str:
        """``EndTxn``, or the number of an API that we do not know."""
        return APIS[self.api_key][0] if self.api_key in APIS else f"API {self.api_key}"

    @property
    def is_known(self) -> bool:
        """Whether there is a schema for it."""
        entry = APIS.get(self.api_key)
        return entry is not None and entry[1] <= self.version <= entry[2]

    @property
    def is_flexible(self) -> bool:
        """Whether its messages have tagged fields."""
        flexible_from = APIS[self.api_key][3] if self.api_key in APIS else None
        return flexible_from is not None and self.version >= flexible_from

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


def message_tree(
    name: str, version: int, content: Buffer, *, offset: int = 0, records: bool = True
) -> Node:
    """A bare message without a header; ``records`` says whether to open its record batches."""
    if version not in files.load(name).valid:
        raise LocalProtocolError(f"{name} has versions {files.load(name).valid}, not {version}")
    root = Node("", "group", f"{name} v{version}", offset, about=files.load(name).about)
    _read_message(root, name, version, memoryview(content), records=records)
    return root


def _read_message(
    root: Node, name: str, version: int, content: memoryview, *, records: bool = True
) -> None:
    budget = Budget()
    declared = declaration(name, version)
    read_region(root, content, budget, lambda reader: reader.read(declared))
    if records:
        _open_all_records(root, budget, may_end_early=name != "ProduceRequest")


def _open_all_records(root: Node, budget: Budget, *, may_end_early: bool) -> None:
    """Open each records field, by the schemas of the topic that was named before it."""
    opener: Opener | None = None
    for node in list(root.walk()):
        last = node.path.rpartition(".")[2]
        if last in {"name", "topic"} and isinstance(node.value, str):
            opener = opener_of(node.value)
        elif last == "topic_id" and node.value == _METADATA_TOPIC_ID:
            opener = opener_of("__cluster_metadata")
        if node.role == "content" and node.type.endswith("records"):
            open_records(node, budget, opener, may_end_early=may_end_early)


def request_of(frame: Buffer) -> Exchange:
    """What a request frame without its size asks for; it must have the eight bytes of a head."""
    api_key, version, _ = REQUEST_HEAD.unpack_from(frame)
    return Exchange(api_key, version)


def request_tree(
    content: Buffer, *, sized: bool = True, offset: int = 0, records: bool = True
) -> Node:
    """A request frame: size (if ``sized``), header, body; ``records`` as for a message."""
    root, frame, begin = _frame("request", content, sized, offset)
    flexible = len(frame) >= REQUEST_HEAD.size and request_of(frame).is_flexible
    behind = _read_header(root, "RequestHeader", 2 if flexible else 1, frame, begin)
    if behind is not None:
        exchange = request_of(frame)
        _read_body(root, exchange, "Request", frame[behind:], begin + behind, records=records)
    _add_rest(root, begin + len(frame))
    return root


def response_tree(
    content: Buffer, exchange: Exchange, *, sized: bool = True, offset: int = 0,
    records: bool = True,
) -> Node:  # fmt: skip
    """A response frame; which API's it is stands in the request alone."""
    root, frame, begin = _frame("response", content, sized, offset)
    # Whoever asks for the versions does not know yet which headers the broker writes.
    flexible = exchange.is_flexible and exchange.api_key != ApiKey.API_VERSIONS
    behind = _read_header(root, "ResponseHeader", 1 if flexible else 0, frame, begin)
    if behind is not None:
        body = frame[behind:]
        if exchange.api_key == ApiKey.API_VERSIONS and bytes(body[:2]) == _UNSUPPORTED_VERSION:
            # A version that the broker does not know is answered in version 0.
            exchange = Exchange(exchange.api_key, 0)
        _read_body(root, exchange, "Response", body, begin + behind, records=records)
    _add_rest(root, begin + len(frame))
    return root


def _frame(kind: str, content: Buffer, sized: bool, offset: int) -> tuple[Node, memoryview, int]:
    """The root of a frame's tree, the frame without its size, and where it begins."""
    view = memoryview(content)
    root = Node("", "group", kind, offset, len(view), view)
    if not sized:
        return root, view, 0
    return root, _read_size(root, view), min(SIZE_BYTES, len(view))


def _read_size(root: Node, view: memoryview) -> memoryview:
    """The frame after the size; a wrong size is marked, and what there is is read all the same."""
    holder = Node("", "group", "", root.offset)
    whole = read_region(holder, view, Budget(), lambda reader: reader.read(_SIZE), open_end=True)
    root.children += holder.children
    if not whole:
        return view[len(view) :]
    node = holder.children[0]
    size, there = node.value, len(view) - SIZE_BYTES
    assert isinstance(size, int)
    if not 0 <= size <= there:
        node.state, node.note = State.BROKEN, f"a frame of {size} bytes, {there} are there"
        size = there
    return view[SIZE_BYTES : SIZE_BYTES + size]


def _add_rest(root: Node, end: int) -> None:
    """Mark what stands after the frame."""
    rest = root.raw[end:]
    if rest:
        root.children.append(
            Node(
                "", "rest", "", root.offset + end, len(rest), rest,
                note="behind the end of the frame", state=State.LEFT_OVER,
            )
        )  # fmt: skip


def _read_header(root: Node, name: str, version: int, frame: memoryview, begin: int) -> int | None:
    """The header; where the body begins in the frame, or nothing when the header is broken."""
    header = Node(
        "header", "group", f"{name} v{version}", root.offset + begin, about=files.load(name).about
    )
    root.children.append(header)
    declared = declaration(name, version)
    whole = read_region(
        header, frame, Budget(), lambda reader: reader.read(declared), open_end=True
    )
    return header.length if whole else None


def _read_body(
    root: Node, exchange: Exchange, kind: str, content: memoryview, begin: int, *, records: bool
) -> None:
    """The message itself, or why it cannot be read."""
    root.type = f"{exchange} {kind.lower()}"
    name = f"{exchange.name}{kind}"
    body = Node("", "group", f"{name} v{exchange.version}", root.offset + begin)
    if exchange.is_known:
        body.about = files.load(name).about
        _read_message(body, name, exchange.version, content, records=records)
        root.children.append(body)
        return
    entry = APIS.get(exchange.api_key)
    body.role, body.state = "rest", State.UNREAD
    body.note = (
        f"{exchange.name} has versions {entry[1]} to {entry[2]}, not {exchange.version}"
        if entry
        else f"no API has the key {exchange.api_key}"
    )
    body.raw, body.length = content, len(content)
    root.children.append(body)
