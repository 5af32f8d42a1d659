"""The constructs of structs: null ones, their tagged fields, and the structs themselves."""

# As in ``constructs``:
# mypy: disallow-subclassing-any=False
# ruff: noqa: ARG002

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final

from construct import Adapter, Construct, Subconstruct
from construct import Struct as LibraryStruct

from fencepost_protocol import limits
from fencepost_protocol.dissect.constructs import Part, Refused, Source, UVarint, exactly
from fencepost_protocol.dissect.trace import ELEMENT, Label


class Marker(Adapter):
    """Whether a struct is there: a number above ``null``, an int8 or (in a tag) an uvarint."""

    def __init__(self, number: Construct, *, null: int) -> None:
        super().__init__(number)
        self.null = null

    def _decode(self, obj: int, context: Any, path: str) -> bool:
        return obj > self.null

    def _encode(self, obj: bool, context: Any, path: str) -> int:
        return 1 if obj else self.null


class Nullable(Subconstruct):
    """A struct after a marker that says whether it is there."""

    def __init__(self, marker: Part, subcon: Construct) -> None:
        super().__init__(subcon)
        self.marker = marker

    def _parse(self, stream: Source, context: Any, path: str) -> Any:
        if not self.marker._parse(stream, context, path):
            return None
        return self.subcon._parse(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        self.marker._build(obj is not None, stream, context, path)
        if obj is not None:
            self.subcon._build(obj, stream, context, path)
        return obj


class TagNumber(UVarint):
    """A tag; some of those that the version does not have are defined in another one."""

    def __init__(self, elsewhere: dict[int, str]) -> None:
        super().__init__()
        self.elsewhere = elsewhere

    def _parse(self, stream: Source, context: Any, path: str) -> int:
        tag = super()._parse(stream, context, path)
        if tag in self.elsewhere:
            raise Refused(f"tag {tag} exists in versions {self.elsewhere[tag]} only")
        return tag


class TagSize(UVarint):
    """The size of a tagged field, which must fit into what is left."""

    def _parse(self, stream: Source, context: Any, path: str) -> int:
        size = super()._parse(stream, context, path)
        if size > stream.left:
            raise Refused(f"a tagged field of {size} bytes, {stream.left} are left")
        return size


class Filling(Subconstruct):
    """Content that must take all the bytes that its tagged field has."""

    def _parse(self, stream: Source, context: Any, path: str) -> Any:
        value = self.subcon._parse(stream, context, path)
        if stream.left:
            raise Refused(f"the tagged field has {stream.left} bytes more than its content")
        return value


_TAG_COUNT: Final = Part(Label("", "count", "uvarint"), UVarint())
_TAG_SIZE: Final = Part(Label("", "size", "uvarint"), TagSize())
_ENTRY: Final = Label(ELEMENT, "group", "tagged field")
_UNKNOWN: Final = Label("", "content", "unknown tagged field")


class TaggedSection(Construct):
    """A struct's tagged fields: those that the schema knows, and the others as bytes.

    Building takes the known ones from the struct around it, where they differ from their default.
    """

    def __init__(
        self,
        known: dict[int, tuple[Part, Callable[[Any], bool]]],
        elsewhere: dict[int, str],
    ) -> None:
        super().__init__()
        self.flagbuildnone = True
        self.known = known
        self.tag = Part(Label("", "tag", "uvarint"), TagNumber(elsewhere))

    def _parse(self, stream: Source, context: Any, path: str) -> dict[str, Any]:
        unknown: list[tuple[int, bytes]] = []
        found: dict[str, Any] = {}
        trace = stream.trace
        for position in range(_TAG_COUNT._parse(stream, context, path)):
            if trace is not None:
                trace.enter(_ENTRY, stream.tell(), position)
            tag = self.tag._parse(stream, context, path)
            size = _TAG_SIZE._parse(stream, context, path)
            if tag in self.known:
                if trace is not None:
                    trace.leave(stream.tell(), tag)
                part = self.known[tag][0]
                outer = stream.narrow(size)
                found[part.name] = part._parse(stream, context, path)
                stream.widen(outer)
                continue
            if len(unknown) >= limits.MAX_UNKNOWN_TAGS:
                raise Refused(f"more than {limits.MAX_UNKNOWN_TAGS} unknown tags")
            if trace is not None:
                trace.enter(_UNKNOWN, stream.tell())
            content = exactly(stream, size).tobytes()
            unknown.append((tag, content))
            if trace is not None:
                trace.leave(stream.tell(), content)
                trace.leave(stream.tell(), tag)
        found["unknown_tagged_fields"] = tuple(unknown)
        return found

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        made = list(context.get("unknown_tagged_fields", ()))
        for tag, (part, is_set) in self.known.items():
            value = context.get(part.name)
            if is_set(value):
                made.append((tag, part.build(value)))
        _TAG_COUNT._build(len(made), stream, context, path)
        for tag, content in sorted(made, key=itemgetter(0)):
            self.tag._build(tag, stream, context, path)
            _TAG_SIZE._build(len(content), stream, context, path)
            stream.write(content)
        return obj


class Fields(LibraryStruct):
    """A struct: the library's, with all the attributes that the schema has in any version.

    A field that this version lacks has its default; tagged fields stand among the others.
    """

    TAGS: Final = "tagged_fields"

    def __init__(self, parts: list[Part], absent: Callable[[], dict[str, Any]]) -> None:
        super().__init__(*parts)
        self.absent = absent

    def _parse(self, stream: Source, context: Any, path: str) -> dict[str, Any]:
        read = super()._parse(stream, context, path)
        if stream.trace is not None and not stream.trace.keeps_values:
            return {}
        value = self.absent()
        value["unknown_tagged_fields"] = ()
        value.update(read.pop(self.TAGS, {}))
        value.update((name, held) for name, held in read.items() if name != "_io")
        return value
