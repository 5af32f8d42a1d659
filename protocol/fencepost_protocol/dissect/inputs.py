"""Detects the kind of the input of ``fencepost dissect``, and divides it into items."""

from __future__ import annotations

import argparse
import difflib
import mmap
import re
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from fencepost_protocol import limits
from fencepost_protocol.dissect import logfile, pcap
from fencepost_protocol.dissect.batches import MAGIC, measure
from fencepost_protocol.dissect.filters import Chosen, Following, api_key
from fencepost_protocol.dissect.node import Node, State
from fencepost_protocol.dissect.render import printable
from fencepost_protocol.dissect.summary import Summary, summarise, topic_names_in
from fencepost_protocol.dissect.tree import (
    SIZE_BYTES,
    Exchange,
    message_tree,
    request_of,
    request_tree,
    response_tree,
)
from fencepost_protocol.dissect.usage import UsageError
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.index import APIS, MODULES
from fencepost_protocol.schema import files
from fencepost_protocol.schema.model import Versions

_SIZE: Final = struct.Struct(">i")
_COMMENT: Final = re.compile(rb"#[^\n]*")
_SPACE: Final = re.compile(rb"\s+")
_HEX: Final = re.compile(rb"[0-9a-fA-F]*\Z")
_REQUEST_START: Final = 8
_NEAREST: Final = 3
_NAMES_MAX: Final = 100_000
"""Topics of a capture whose names are remembered."""


@dataclass(slots=True)
class Item:
    """One tree to write, and what stands above it."""

    tree: Node | None
    title: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    """What JSON has about the item beside its tree."""
    message: str = ""
    """The schema of its message, such as ``ProduceRequest``."""
    summary: Summary = field(default_factory=Summary)
    """What it is about; it is there if filters or ``--summary`` ask for it."""
    frame: pcap.CapturedFrame | None = None

    @property
    def is_broken(self) -> bool:
        """Whether a part of it is invalid."""
        return self.tree is not None and self.tree.is_broken


def read_items(options: argparse.Namespace) -> Iterator[Item]:
    """The items of the input, by the options."""
    how = _chosen(options)  # A wrong option is told before standard input is waited for.
    try:
        api_keys = [api_key(text) for text in options.api]
    except ValueError as error:
        raise UsageError(str(error)) from None
    path, content = _content(options.input)
    if how is None and pcap.is_capture(content):
        return _wanted(_captured(content), api_keys, options)
    if api_keys or options.client or options.transactional_id:
        raise UsageError("--api, --client and --transactional-id choose from packet captures")
    items = _items(how, path, content, _topic(options))
    return map(_summarised, items) if options.summary else items


def _topic(options: argparse.Namespace) -> str | None:
    """Whose records they are."""
    return options.topic[-1] if options.topic else None


def _items(
    how: Callable[[memoryview], Iterator[Item]] | None, path: Path | None, content: memoryview,
    topic: str | None,
) -> Iterator[Item]:  # fmt: skip
    if how is not None:
        return how(content)
    if path is not None and logfile.is_log_file(path):
        trees = logfile.log_trees(path, content, topic)
        return _numbered(trees, "batch" if path.suffix == ".log" else "")
    if _begins_batch(content):
        return _numbered(logfile.batch_trees(content, topic), "batch")
    if not len(content):
        return iter(())
    if _begins_request(content):
        return _frames(content, lambda frame, sized: request_tree(frame, sized=sized))
    raise UsageError(
        "the bytes begin neither as a request nor as a record batch or a capture; say what they "
        "are: --request, --response API:VERSION, --message NAME:VERSION or --records"
    )


def _chosen(options: argparse.Namespace) -> Callable[[memoryview], Iterator[Item]] | None:
    """The kind of the input, by an option."""
    if options.request:
        return lambda content: _frames(
            content, lambda frame, sized: request_tree(frame, sized=sized)
        )
    if options.response is not None:
        exchange = _exchange(options.response)
        return lambda content: _frames(
            content, lambda frame, sized: response_tree(frame, exchange, sized=sized)
        )
    if options.message is not None:
        name, version = _message(options.message)
        return lambda content: iter((Item(message_tree(name, version, content), message=name),))
    if options.records:
        topic = _topic(options)
        return lambda content: _numbered(logfile.batch_trees(content, topic), "batch")
    return None


# -- names and versions -------------------------------------------------------------------------


def _split(text: str, option: str, example: str) -> tuple[str, int]:
    name, colon, version = text.rpartition(":")
    if not colon or not name or not re.fullmatch(r"\d{1,5}", version):
        raise UsageError(f"{option} wants {example}, not {text!r}")
    return name, int(version)


def _exchange(text: str) -> Exchange:
    name, version = _split(text, "--response", "API:VERSION such as EndTxn:3 or 26:3")
    keys = {entry[0].lower(): key for key, entry in APIS.items()}
    wanted = name.lower().removesuffix("response").removesuffix("request")
    if re.fullmatch(r"\d{1,5}", name):
        key = int(name)
        if key not in APIS:
            raise UsageError(f"no API has the key {key}")
    elif wanted in keys:
        key = keys[wanted]
    else:
        raise UsageError(f"there is no API {name!r}{_nearest(name, [e[0] for e in APIS.values()])}")
    api, low, high = APIS[key][:3]
    _check_version(api, version, Versions(low, high))
    return Exchange(key, version)


def _message(text: str) -> tuple[str, int]:
    wanted, version = _split(text, "--message", "NAME:VERSION such as TransactionLogValue:1")
    names = {name.lower(): name for name in MODULES}
    name = names.get(wanted.lower())
    if name is None:
        raise UsageError(f"there is no message {wanted!r}{_nearest(wanted, list(MODULES))}")
    _check_version(name, version, files.load(name).valid)
    return name, version


def _check_version(name: str, version: int, valid: Versions) -> None:
    if version not in valid:
        raise UsageError(f"{name} has versions {valid}, not {version}")


def _nearest(name: str, names: list[str]) -> str:
    by_lower = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), by_lower, _NEAREST, 0.5)
    return f"; did you mean {' or '.join(by_lower[each] for each in close)}?" if close else ""


# -- bytes --------------------------------------------------------------------------------------


def _content(arguments: list[str]) -> tuple[Path | None, memoryview]:
    """The bytes to dissect, and the file that they are from."""
    if not arguments or arguments == ["-"]:
        raw = sys.stdin.buffer.read(limits.MAX_DISSECTED_INPUT_BYTES + 1)
        if len(raw) > limits.MAX_DISSECTED_INPUT_BYTES:
            raise UsageError(
                f"more than {limits.MAX_DISSECTED_INPUT_BYTES} bytes on standard input; "
                "a file may be larger"
            )
        return None, _from_hex_or_binary(raw, "standard input")
    if len(arguments) == 1:
        path = Path(arguments[0])
        try:
            if path.is_dir():
                raise UsageError(f"{printable(str(path))} is a folder")
            if path.exists():
                return path, _from_hex_or_binary(_mapped(path), printable(str(path)))
        except (OSError, ValueError) as error:  # As text of hex digits, too long for a path.
            if not _looks_like_hex(arguments[0].encode("utf-8", "surrogateescape")):
                raise UsageError(f"{printable(str(path)[:200])}: {error}") from error
    text = " ".join(arguments).encode("utf-8", "surrogateescape")
    if not _looks_like_hex(text):
        shown = printable(" ".join(arguments)[:200].encode("utf-8", "replace").decode())
        raise UsageError(f"{shown} is neither a file that is there nor hex digits")
    return None, _unhex(text, "the argument")


def _mapped(path: Path) -> memoryview | bytes:
    """The file's bytes; a large file is mapped, not read."""
    with path.open("rb") as file:
        try:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError):  # Empty, or a pipe.
            return file.read(limits.MAX_DISSECTED_INPUT_BYTES)


def _from_hex_or_binary(raw: memoryview | bytes, where: str) -> memoryview:
    view = memoryview(raw)
    if len(view) <= limits.MAX_DISSECTED_INPUT_BYTES and _looks_like_hex(
        bytes(view[:4096]), cut=True
    ):
        text = bytes(view)
        if _looks_like_hex(text):
            return _unhex(text, where)
    return view


def _looks_like_hex(text: bytes, *, cut: bool = False) -> bool:
    """Whether the text is hex digits, white space and comments; ``cut``: it may end anywhere."""
    if cut:
        text = text.rpartition(b"#")[0] or text
    digits = _SPACE.sub(b"", _COMMENT.sub(b"", text))
    return bool(digits or text) and _HEX.match(digits) is not None


def _unhex(text: bytes, where: str) -> memoryview:
    digits = _SPACE.sub(b"", _COMMENT.sub(b"", text))
    if len(digits) % 2:
        raise UsageError(f"{where} has an odd number of hex digits: {len(digits)}")
    return memoryview(bytes.fromhex(digits.decode("ascii")))


# -- items --------------------------------------------------------------------------------------


def _begins_batch(content: memoryview) -> bool:
    return len(content) > 16 and content[16] == MAGIC and measure(content, 0)[1] is State.OK


def _begins_request(content: memoryview) -> bool:
    """Whether a request begins here, with its size or without."""
    for begin in (SIZE_BYTES, 0):
        head = content[begin : begin + _REQUEST_START]
        if len(head) == _REQUEST_START and request_of(head).is_known:
            return True
    return False


def _frames(content: memoryview, make: Callable[[memoryview, bool], Node]) -> Iterator[Item]:
    """One frame or several; a size that goes beyond the bytes means that there is none."""
    sizes = _frame_sizes(content)
    if not sizes:
        sized = not _is_unsized(content)
        tree = make(content, sized)
        yield Item(tree, message=_message_of(tree))
        return
    pos = 0
    for number, size in enumerate(sizes, 1):
        title = f"frame {number} of {len(sizes)}" if len(sizes) > 1 else ""
        tree = make(content[pos : pos + size], True)
        _shift(tree, pos)
        yield Item(tree, title, {"frame": number}, _message_of(tree))
        pos += size


def _message_of(tree: Node) -> str:
    """``ProduceRequest`` of ``Produce v9 request``."""
    name, _, kind = tree.type.partition(" v")
    return f"{name}{kind.rpartition(' ')[2].capitalize()}"


def _shift(tree: Node, by: int) -> None:
    if by:
        for node in tree.walk():
            node.offset += by


def _frame_sizes(content: memoryview) -> list[int]:
    """The sizes of the frames that fill the bytes exactly, size fields included."""
    sizes = []
    pos = 0
    while len(content) - pos >= SIZE_BYTES:
        (size,) = _SIZE.unpack_from(content, pos)
        if size < 0:
            return []
        sizes.append(SIZE_BYTES + size)
        pos += SIZE_BYTES + size
    return sizes if pos == len(content) else []


def _is_unsized(content: memoryview) -> bool:
    """Whether the bytes begin with a header rather than with a size that is wrong."""
    if len(content) < SIZE_BYTES:
        return False
    (size,) = _SIZE.unpack_from(content)
    if 0 <= size <= len(content):
        return False
    head = content[:_REQUEST_START]
    return len(head) == _REQUEST_START and request_of(head).is_known


def _numbered(trees: Iterator[Node], what: str) -> Iterator[Item]:
    for number, tree in enumerate(trees):
        title = f"{what} {number} at {tree.offset}" if what else ""
        yield Item(tree, title, {what or "file": number})


def _summarised(item: Item) -> Item:
    """The item with what it is about; topics have no names but those in the item."""
    if item.tree is not None:
        item.summary = summarise(item.message, item.tree, topic_names_in(item.tree))
    return item


def _wanted(
    items: Iterator[Item], api_keys: list[int], options: argparse.Namespace
) -> Iterator[Item]:
    """The frames of a capture that filters let through, with what they are about."""
    is_filtered = bool(api_keys or options.client or options.topic or options.transactional_id)
    if not (is_filtered or options.summary):
        yield from items
        return
    chosen = Chosen(api_keys, options.client)
    following = Following(options.topic, options.transactional_id)
    names: dict[bytes, str] = {}
    for item in items:
        frame = item.frame
        if frame is None or frame.exchange is None or item.tree is None:
            if not is_filtered:
                yield item  # a remark on bytes that are no frame
            continue
        if len(names) < _NAMES_MAX:
            names |= topic_names_in(item.tree)
        item.summary = summarise(item.message, item.tree, names)
        is_response = frame.kind == "response"
        exchange = (frame.target if is_response else frame.source, frame.correlation_id)
        if chosen.wants(frame.exchange.api_key, frame.client_id) and following.wants(
            exchange, item.summary, is_response=is_response
        ):
            yield item


def _captured(content: memoryview) -> Iterator[Item]:
    """The frames of a capture; where the file breaks off, that is an item too."""
    try:
        for frame in pcap.captured_frames(content):
            yield _captured_item(frame)
    except RemoteProtocolError as error:
        offset = error.offset or 0
        rest = content[offset:]
        yield Item(
            Node(
                "",
                "rest",
                "capture",
                offset,
                len(rest),
                rest,
                note=error.reason,
                state=State.BROKEN,
            ),
            "the rest of the file",
        )


def _captured_item(frame: pcap.CapturedFrame) -> Item:
    message = ""
    facts: dict[str, Any] = {
        "kind": frame.kind,
        "packet": frame.packet,
        "time": _time(frame.time_ns),
        "source": str(frame.source),
        "target": str(frame.target),
    }
    title = f"{facts['time']} packet {frame.packet}: {frame.source} -> {frame.target} "
    if frame.exchange is not None:
        facts |= {"api": frame.exchange.name, "version": frame.exchange.version}
        facts["client_id"] = frame.client_id
        message = f"{frame.exchange.name}{frame.kind.capitalize()}"
        title += f"{frame.exchange} "
    title += frame.kind if frame.kind != "remark" else frame.remark
    if frame.correlation_id is not None:
        facts["correlation_id"] = frame.correlation_id
        title += f" {frame.correlation_id}"
    if frame.latency_ns is not None:
        facts["latency_ns"] = frame.latency_ns
        title += f" after {frame.latency_ns / 1e6:.3f} ms"
    if frame.remark:
        facts["remark"] = frame.remark
    return Item(frame.tree, title, facts, message, frame=frame)


def _time(time_ns: int) -> str:
    seconds, fraction = divmod(time_ns, 1_000_000_000)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{fraction // 1000:06}Z"
    except (OverflowError, ValueError, OSError):
        return f"{time_ns} ns"
