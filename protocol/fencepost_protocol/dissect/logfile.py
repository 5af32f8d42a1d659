"""Reads the files of a broker's log directories.

Segments are batches one after the other; beside them lie indexes, producer snapshots and
checkpoints. Which file it is tells its name, and whose records it holds the folder's:
``__transaction_state-7/00000000000000000000.log``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from construct import Int16sb, Int32sb, Int64sb

from fencepost_protocol.dissect.batches import batches
from fencepost_protocol.dissect.constructs import Part
from fencepost_protocol.dissect.declarations import declaration
from fencepost_protocol.dissect.logrecords import opener_of
from fencepost_protocol.dissect.node import Node, State
from fencepost_protocol.dissect.region import NotReadable, Reader, read_region
from fencepost_protocol.dissect.trace import ELEMENT, Budget, Label
from fencepost_protocol.dissect.values import iso_time
from fencepost_protocol.schema import files

_SNAPSHOT_CRC_FROM: Final = 6
_VERSION: Final = Part(Label("version", "field", "int16"), Int16sb)
_ENTRY: Final = Label(ELEMENT, "group", "entry")


def _int32(name: str, about: str) -> Part:
    return Part(Label(name, "field", "int32", "", about), Int32sb)


def _int64(name: str, about: str) -> Part:
    return Part(Label(name, "field", "int64", "", about), Int64sb)


_RELATIVE: Final = _int32("relative_offset", "Relative to the base offset, the file's name.")
_OFFSET_ENTRY: Final = (
    _RELATIVE,
    _int32("position", "Where in the segment the batch with this offset begins."),
)
_TIME_ENTRY: Final = (
    _int64("timestamp", "The largest timestamp up to this entry."),
    _RELATIVE,
)
_TXN_ENTRY: Final = (
    _VERSION,
    _int64("producer_id", "Whose transaction was aborted."),
    _int64("first_offset", "The first offset of the transaction."),
    _int64("last_offset", "The offset of the marker that aborted it."),
    _int64("last_stable_offset", "The last stable offset when the marker was written."),
)
_ENTRIES: Final = {".index": _OFFSET_ENTRY, ".timeindex": _TIME_ENTRY, ".txnindex": _TXN_ENTRY}
_HEAD_LINES: Final = ("version", "count")
_SEGMENTS: Final = frozenset({".log", ".checkpoint", ".deleted", ".cleaned", ".swap"})


def is_log_file(path: PurePath) -> bool:
    """Whether the name is one of a broker's log files."""
    known = path.suffix in _SEGMENTS or path.suffix in _ENTRIES or path.suffix == ".snapshot"
    return known or _is_checkpoint(path)


def topic_of(path: PurePath) -> str | None:
    """The topic of the file's folder; ``None`` if it is not the folder of a partition."""
    topic, dash, partition = path.parent.name.rpartition("-")
    return topic if dash and partition.isdecimal() else None


def log_trees(path: PurePath, content: memoryview, topic: str | None = None) -> Iterator[Node]:
    """The file's content: one tree for each batch, one for a file of any other kind."""
    suffix = path.suffix
    if suffix in _ENTRIES:
        yield index_tree(content, suffix, _base_offset(path))
    elif suffix == ".snapshot":
        yield snapshot_tree(content)
    elif _is_checkpoint(path):
        yield checkpoint_tree(content)
    else:
        yield from batch_trees(content, topic or topic_of(path))


def batch_trees(content: memoryview, topic: str | None = None) -> Iterator[Node]:
    """The batches of a segment, each with its place in the file."""
    return batches(content, opener_of(topic))


def _is_checkpoint(path: PurePath) -> bool:
    """Whether it is one of the text files, ``recovery-point-offset-checkpoint`` and the like."""
    return not path.suffix and path.name.endswith("checkpoint")


def _base_offset(path: PurePath) -> int:
    return int(path.stem) if path.stem.isdecimal() and len(path.stem) <= 20 else 0


def index_tree(content: memoryview, suffix: str, base_offset: int = 0) -> Node:
    """An offset, time or transaction index."""
    root = Node("", "group", f"{suffix[1:]} file", 0)
    parts = _ENTRIES[suffix]

    def read(reader: Reader) -> None:
        size = sum(part.sizeof() for part in parts)
        used = len(bytes(content).rstrip(b"\0"))
        position = 0
        while reader.source.left >= size:
            if position and reader.source.tell() >= used:
                raise NotReadable("not in use yet: an index gets its full size when it is made")
            with reader.group(_ENTRY, position):
                for part in parts:
                    _explain(reader, part, reader.read(part), base_offset)
            position += 1

    read_region(root, content, Budget(), read)
    return root


def _explain(reader: Reader, part: Part, value: int, base_offset: int) -> None:
    if part.label.name == "relative_offset":
        reader.note(f"offset {base_offset + value}")
    elif part.label.name == "timestamp":
        reader.note(iso_time(value))


def snapshot_tree(content: memoryview) -> Node:
    """A producer snapshot: a version and the message ``ProducerSnapshot``, which has a CRC."""
    root = Node("", "group", "producer snapshot", 0)

    def read(reader: Reader) -> None:
        version = reader.read(_VERSION)
        valid = files.load("ProducerSnapshot").valid
        if version not in valid:
            raise NotReadable(f"ProducerSnapshot has versions {valid}, not {version}")
        reader.read(declaration("ProducerSnapshot", version))

    read_region(root, content, Budget(), read)
    crc = root.find("crc")
    if crc is not None:
        from fencepost_protocol.crc import crc32c

        computed = crc32c(content[_SNAPSHOT_CRC_FROM:])
        crc.note = "correct"
        if crc.value != computed:
            crc.state = State.BROKEN
            crc.note = f"wrong: the bytes behind it have {computed}"
    return root


def checkpoint_tree(content: memoryview) -> Node:
    """A checkpoint: text of a version, a count and a line for each entry."""
    root = Node("", "group", "checkpoint file", 0, len(content), content)
    budget = Budget()
    pos = 0
    for position, line in enumerate(_lines(content)):
        if not budget.left:
            rest = content[pos:]
            node = Node("", "rest", "text", pos, len(rest), rest, state=State.UNREAD)
            node.note = "too many lines (MAX_DISSECTED_PARTS)"
            root.children.append(node)
            break
        budget.spend()
        path = _HEAD_LINES[position] if position < len(_HEAD_LINES) else f"[{position - 2}]"
        value = bytes(line).decode("utf-8", "replace").rstrip("\r\n")
        node = Node(path, "field", "text", pos, len(line), line, value)
        root.children.append(node)
        pos += len(line)
    return root


def _lines(content: memoryview) -> Iterator[memoryview]:
    text = bytes(content)
    pos = 0
    while pos < len(text):
        end = text.find(b"\n", pos) + 1 or len(text)
        yield content[pos:end]
        pos = end


__all__ = [
    "batch_trees", "checkpoint_tree", "index_tree", "is_log_file", "log_trees", "snapshot_tree",
    "topic_of",
]  # fmt: skip
