"""One line that tells what is in a message: topics, partitions, sizes, offsets, errors by name.

Made from the dissector's tree and the schema, so that a new API needs nothing here: what is at its
default is left out, what names something stands without its field's name.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from fencepost_protocol.dissect.node import Node, State
from fencepost_protocol.dissect.render import printable
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.primitives import uuid_text
from fencepost_protocol.schema import files
from fencepost_protocol.schema.model import Field, Message, Struct
from fencepost_protocol.schema.parse import SchemaError

ELEMENTS_SHOWN: Final = 6
TEXT_SHOWN: Final = 60
LINE_SHOWN: Final = 240

_NUMBER_IN_PATH: Final = re.compile(r"\[\d+\]")
_INDEXES: Final = frozenset({"index", "partition", "partition_index", "partition_id"})
_ALWAYS: Final = frozenset(
    {
        "base_offset", "committed", "committed_offset", "end_offset", "fetch_offset",
        "high_watermark", "low_watermark", "offset", "producer_epoch", "producer_id",
    }
)  # fmt: skip
"""Worth a look at their defaults, too."""
_NEVER: Final = frozenset(
    {
        "client_software_name", "client_software_version", "cluster_authorized_operations",
        "cluster_id", "isr_nodes", "last_stable_offset", "log_start_offset", "max_bytes",
        "offline_replicas", "partition_max_bytes", "replica_id", "replica_nodes", "timeout_ms",
        "topic_authorized_operations",
    }
)  # fmt: skip
_COUNTED: Final = frozenset({"api_keys"})
"""Arrays whose elements are of no interest, only their number."""
_TOPIC_ENTITY, _TRANSACTION_ENTITY = "topicName", "transactionalId"
_NO_TOPIC: Final = bytes(16)


@dataclass(slots=True)
class Summary:
    """What a message is about."""

    text: str = ""
    topics: set[str] = field(default_factory=set)
    transactional_ids: set[str] = field(default_factory=set)


def topic_ids_in(tree: Node) -> set[bytes]:
    """The topics that are told by their ids alone."""
    return {
        bytes(node.value)
        for node in tree.walk()
        if node.type == "uuid"
        and isinstance(node.value, bytes | memoryview)
        and node.path.endswith("topic_id")
    } - {_NO_TOPIC}


def topic_names_in(tree: Node) -> dict[bytes, str]:
    """The names of topics by their ids, where both stand side by side, as in Metadata."""
    found: dict[bytes, str] = {}
    for node in tree.walk():
        fields = {child.path.rpartition(".")[2]: child.value for child in node.children}
        name, topic_id = fields.get("name", fields.get("topic")), fields.get("topic_id")
        if isinstance(name, str) and isinstance(topic_id, bytes | memoryview):
            found[bytes(topic_id)] = name
    found.pop(_NO_TOPIC, None)
    return found


def summarise(
    message: str, tree: Node, names: Mapping[bytes, str], *, is_whole: bool = True
) -> Summary:
    """What a message (``ProduceRequest``) says; ``names`` are those of topics by their ids.

    What is wrong with one that ``is_whole`` is said, too.
    """
    writer = _Writer(message, names)
    text = " ".join(part for child in tree.children for part in writer.parts(child))
    if len(text) > LINE_SHOWN:
        text = f"{text[:LINE_SHOWN]}…"
    if is_whole:
        text = " ".join(filter(None, (text, *_remarks(tree))))
    writer.summary.text = text
    return writer.summary


def _remarks(tree: Node) -> Iterator[str]:
    """What is wrong with a frame that came whole."""
    for node in tree.walk():
        if node.state is not State.OK:
            yield f"{node.state.value.upper()}: {printable(node.path)} {printable(node.note)}"


class _Writer:
    """Writes one message, and notes whom it is about."""

    def __init__(self, message: str, names: Mapping[bytes, str]) -> None:
        self.summary = Summary()
        self._fields = _fields_of(message)
        self._names = names

    def parts(self, node: Node) -> Iterator[str]:
        """The words for a node, none if it is not worth any."""
        if node.path.startswith("header"):
            return
        if node.role == "field":
            word = self._scalar(node)
            if word:
                yield word
        elif node.role == "group" and " array of " in f" {node.type}":
            word = self._array(node)
            if word:
                yield word
        elif node.role in {"group", "tags"}:
            for child in node.children:
                yield from self.parts(child)

    def _array(self, node: Node) -> str:
        elements = [child for child in node.children if child.role in {"group", "field"}]
        if not elements:
            return ""
        name = node.path.rpartition(".")[2]
        count = node.value if isinstance(node.value, int) else len(elements)
        if name in _NEVER:
            return ""
        if name in _COUNTED:
            return f"{count} {name}"
        # Those that are not shown are still read: filters ask for every topic.
        words = [" ".join(self.parts(element)) for element in elements]
        shown = [word for word in words[:ELEMENTS_SHOWN] if word]
        if count > ELEMENTS_SHOWN:
            shown.append(f"… {count - ELEMENTS_SHOWN} more")
        # orders[0 1.2 kB, 1 300 B]: topics and partitions are known by their looks.
        if _is_of_topics(elements[0]):
            return ", ".join(word.replace(" [", "[", 1) for word in shown)
        label = "" if "partition" in name and "." in node.path else f"{name}="
        return f"{label}[{', '.join(shown)}]"

    def _scalar(self, node: Node) -> str:
        value = node.value
        path = _NUMBER_IN_PATH.sub("", node.path)
        name = path.rpartition(".")[2]
        known = self._fields.get(path)
        if node.type.endswith("records"):
            return self._records(node)
        if value is None or name in _NEVER:
            return ""
        if isinstance(value, bytes | memoryview):
            return self._bytes(node, name, bytes(value))
        if name.endswith("error_code") and isinstance(value, int):
            return _error_name(value) if value else ""
        entity = known.entity_type if known is not None else None
        if entity == _TOPIC_ENTITY:
            self.summary.topics.add(str(value))
            return _shown(value)
        if entity == _TRANSACTION_ENTITY:
            self.summary.transactional_ids.add(str(value))
        if name in _INDEXES or node.path.endswith("]") or (name == "name" and value):
            return _shown(value)
        is_default = known is not None and value == known.default
        if (is_default or value == "") and name not in _ALWAYS:
            return ""
        return f"{name}={_shown(value)}"

    def _bytes(self, node: Node, name: str, value: bytes) -> str:
        if node.type != "uuid":
            return f"{name}={size_text(len(value))}" if value else ""
        if value == _NO_TOPIC:
            return ""
        if name == "topic_id":
            found = self._names.get(value)
            if found is not None:
                self.summary.topics.add(found)
            return printable(found or uuid_text(value))
        return f"{name}={uuid_text(value)}"

    @staticmethod
    def _records(node: Node) -> str:
        """The size that is told, which is there although the frame may be cut."""
        sizes = [child.value for child in node.children if child.role == "length"]
        return size_text(sizes[0]) if sizes and isinstance(sizes[0], int) else ""


def _is_of_topics(element: Node) -> bool:
    names = {child.path.rpartition(".")[2] for child in element.children}
    return bool(names & {"topic", "topic_id"}) or "topic" in element.type.lower()


@functools.cache
def _fields_of(message: str) -> dict[str, Field]:
    """A message's fields by their paths, without the numbers of elements."""
    try:
        schema = files.load(message)
    except SchemaError:
        return {}  # an API that we do not know
    return dict(_walk(schema, schema.root, ""))


def _walk(schema: Message, struct: Struct, above: str) -> Iterator[tuple[str, Field]]:
    for each in struct.fields:
        path = f"{above}{each.attribute}"
        yield path, each
        if each.struct_name is not None:
            yield from _walk(schema, schema.structs[each.struct_name], f"{path}.")


def _error_name(code: int) -> str:
    return ErrorCode(code).name if code in ErrorCode._value2member_map_ else f"error {code}"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = printable(str(value))
    return text if len(text) <= TEXT_SHOWN else f"{text[:TEXT_SHOWN]}…"


def size_text(size: int) -> str:
    """A number of bytes for people."""
    if size < 1000:
        return f"{size} B"
    for unit, scale in (("kB", 1e3), ("MB", 1e6)):
        if size < 999.95 * scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size / 1e9:.1f} GB"
