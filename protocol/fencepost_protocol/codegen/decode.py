"""Emits ``decode``: straight-line reading of one message.

Consecutive fields of fixed size, and the length that opens a following string or array, are read
by one ``struct`` call. A message with strings but without records is copied to ``bytes`` first,
because indexing and slicing those costs half of what it does with a view; so callers hand in one
frame and not all that they have received. See ``primitives`` for how reading past the end is
noticed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from fencepost_protocol.codegen.layout import (
    FIXED_CODES,
    Names,
    attribute,
    default_value,
    element_variables,
    field_is_flexible,
    field_runs,
    kinds,
    spans,
)
from fencepost_protocol.codegen.source import Source
from fencepost_protocol.limits import MAX_ELEMENTS
from fencepost_protocol.schema.model import Array, Field, Message, Primitive, Struct

_SINGLE_BYTES = {"B": "{}[pos]", "?": "{}[pos] != 0", "b": "({}[pos] ^ 128) - 128"}
"""A byte on its own is read by an index, which costs a third of a ``struct`` call."""


class DecodeEmitter:
    """Writes the ``decode`` function of one message into a page."""

    def __init__(self, page: Source, message: Message, names: Names) -> None:
        self.page = page
        self.message = message
        self.names = names
        self.pending: list[tuple[str, str]] = []
        self.tag_depth = 0
        self.span = spans(message)[0]
        self.variables = element_variables(message)
        found = kinds(message)
        self.copied = "records" not in found and bool(found & {"string", "bytes"})
        self.buf = "data" if self.copied else "buf"

    def emit(self) -> None:
        """The whole static method."""
        page, message = self.page, self.message
        name = self.names.of(message, message.name)
        page.line("@staticmethod")
        head = "def decode(buf: memoryview, version: int, pos: int = 0)"
        with page.block(f"{head} -> tuple[{name}, int]:"):
            page.docstring("Read the message at ``pos``; gives it and the position behind it.")
            page.line("start = pos")
            with page.block("try:"):
                self._emit_body(name)
            with page.block("except DECODE_ERRORS as cause:"):
                page.line(
                    f'raise decode_failure("{message.name}", version, buf, start, cause) from cause'
                )

    def _emit_body(self, name: str) -> None:
        page, message = self.page, self.message
        low, high = message.valid.lowest, message.valid.highest
        with page.block(f"if not {low} <= version <= {high}:"):
            page.line(f'raise unknown_version("{message.name}", version, {low}, {high})')
        page.line("size = len(buf)")
        if self.copied:
            page.line("data = buf.tobytes()")
        page.line(f"m = new({name})")
        bodies = spans(message)
        for position, span in enumerate(bodies):
            self.span = span
            if len(bodies) == 1:
                self._message_fields()
                continue
            head = f"if version >= {span.versions.lowest}:" if position == 0 else "else:"
            with page.block(head):
                self._message_fields()
        with page.block("if pos > size:"):
            page.line("raise ValueError(CUT_SHORT)")
        page.line("return m, pos")

    def _message_fields(self) -> None:
        """The whole message in the versions of one span."""
        structs = [self.message.root, *self.message.structs.values()]
        fields = tuple(field for structure in structs for field in structure.fields)
        if any(isinstance(f.type, Array) and self.span.versions & f.versions for f in fields):
            limit = f"{MAX_ELEMENTS:_}"
            self.page.line(f"budget = size if size < {limit} else {limit}  # limits.MAX_ELEMENTS")
        self._struct(self.message.root, "m")

    # -- structs ------------------------------------------------------------------------------

    def _struct(self, structure: Struct, variable: str) -> None:
        """All fields of one struct into the attributes of ``variable``."""
        for condition, fields in field_runs(structure, self.span):
            self._conditional(condition, fields, variable)
        if not self.span.flexible:
            self.page.line(f"{variable}.unknown_tagged_fields = ()")
            self._flush()
            return
        tagged = [
            field
            for field in structure.fields
            if field.tag is not None and self.span.condition(field.tagged) is not None
        ]
        if tagged:
            self._known_tags(tagged, variable)
        else:
            self._no_known_tags(variable)

    def _conditional(self, condition: str | None, fields: list[Field], variable: str) -> None:
        """Fields that are there under one condition; otherwise they have their defaults."""
        if condition is None:
            self._defaults(fields, variable)
        elif condition == "":
            self._fields(fields, variable)
        else:
            self._flush()
            outer = self.span
            with self.page.block(f"if {condition}:"):
                self.span = outer.narrowed(fields[0].versions)
                self._fields(fields, variable)
                self._flush()
            self.span = outer
            with self.page.block("else:"):
                self._defaults(fields, variable)

    def _fields(self, fields: list[Field], variable: str) -> None:
        for field in fields:
            self._field(field, f"{variable}.{attribute(field)}")

    def _defaults(self, fields: list[Field], variable: str) -> None:
        for field in fields:
            default = default_value(field, self.message, self.names)
            self.page.line(f"{variable}.{attribute(field)} = {default}")

    # -- fixed-size runs ----------------------------------------------------------------------

    def _fixed(self, code: str, target: str) -> None:
        self.pending.append((code, target))

    def _length(self, code: str) -> None:
        """A length goes into ``n``, at the end of the run that leads to it."""
        self._fixed(code, "n")
        self._flush()

    def _flush(self) -> None:
        if not self.pending:
            return
        codes = "".join(code for code, _ in self.pending)
        targets = ", ".join(target for _, target in self.pending)
        self.pending.clear()
        if codes in _SINGLE_BYTES:
            self.page.line(f"{targets} = {_SINGLE_BYTES[codes].format(self.buf)}")
        else:
            call = f"{self.page.unpacker(codes)}({self.buf}, pos)"
            self._assign(targets, call)
        self.page.line(f"pos += {struct.calcsize('>' + codes)}")

    def _assign(self, targets: str, call: str) -> None:
        if "," not in targets:
            self.page.line(f"{targets} = {call}[0]")
            return
        one_line = f"{targets} = {call}"
        if 4 * self.page.depth + len(one_line) <= 100:
            self.page.line(one_line)
            return
        with self.page.block("("):
            for target in targets.split(", "):
                self.page.line(f"{target},")
        self.page.line(f") = {call}")

    # -- fields -------------------------------------------------------------------------------

    def _field(self, field: Field, target: str) -> None:
        kind = field.type
        if isinstance(kind, Primitive):
            if kind.name in FIXED_CODES:
                self._fixed(FIXED_CODES[kind.name], target)
            else:
                self._sized(field, target, lambda: self._bytes_body(kind.name, field, target))
        elif isinstance(kind, Array):
            self._sized(field, target, lambda: self._array_body(kind, field, target))
        else:
            self._nested(field, kind.name, target)

    def _nested(self, field: Field, struct_name: str, target: str) -> None:
        variable = self.variables[struct_name]
        cls = self.names.of(self.message, struct_name)

        def body() -> None:
            self.page.line(f"{target} = {variable} = new({cls})")
            self._struct(self.message.structs[struct_name], variable)
            self._flush()

        condition = self.span.condition(field.nullable)
        if condition is None:
            body()
            return
        # The presence mark is an int8, but in a tagged field an unsigned varint.
        self._length("b" if field.tag is None else "B")
        if field.tag is not None:
            with self.page.block("if n > 127:"):
                self.page.line(f"n, pos = read_uvarint_tail({self.buf}, pos, n)")
        with self.page.block("if n < 0:" if field.tag is None else "if not n:"):
            self._null(condition, target)
        with self.page.block("else:"):
            body()

    def _null(self, nullable_when: str, target: str) -> None:
        if nullable_when:
            with self.page.block(f"if not {parenthesised(nullable_when)}:"):
                self.page.line("raise ValueError(NULL_REFUSED)")
        self.page.line(f"{target} = None")

    def _sized(self, field: Field, target: str, body: Callable[[], None]) -> None:
        """The length of a string, bytes, records or array field, its null, then ``body``."""
        page = self.page
        is_string = isinstance(field.type, Primitive) and field.type.name == "string"
        nullable = self.span.condition(field.nullable)
        if field_is_flexible(field, self.span):
            self._length("B")
            if nullable is None:
                helper = "long_string_length" if is_string else "long_length"
                with page.block("if not n or n > 127:"):
                    page.line(f"n, pos = {helper}({self.buf}, pos, n)")
                body()
                return
            helper = "long_nullable_string_length" if is_string else "read_uvarint_tail"
            with page.block("if n > 127:"):
                if field.type == Primitive("records"):  # they nearly always have two bytes
                    page.line(f"more = {self.buf}[pos]")
                    with page.block("if more < 128:"):
                        page.line("n = n & 127 | more << 7")
                        page.line("pos += 1")
                    with page.block("else:"):
                        page.line(f"n, pos = {helper}({self.buf}, pos, n)")
                else:
                    page.line(f"n, pos = {helper}({self.buf}, pos, n)")
            null_test = "not n"
        else:
            self._length("h" if is_string else "i")
            if nullable is None:
                with page.block("if n < 0:"):
                    page.line("raise negative_length(n)")
                body()
                return
            null_test = "n < 0"
        with page.block(f"if {null_test}:"):
            self._null(nullable, target)
        with page.block("else:"):
            body()

    def _bytes_body(self, kind: str, field: Field, target: str) -> None:
        page = self.page
        page.line("end = pos + n - 1" if field_is_flexible(field, self.span) else "end = pos + n")
        content = f"{self.buf}[pos:end]"
        if kind != "records" and not self.copied:
            content += ".tobytes()"
        if kind == "string":
            content += ".decode()"
        page.line(f"{target} = {content}")
        page.line("pos = end")

    def _array_body(self, kind: Array, field: Field, target: str) -> None:
        page = self.page
        count = "n - 1" if field_is_flexible(field, self.span) else "n"
        page.line("budget -= n")
        with page.block("if budget < 0:"):
            page.line("raise too_many_elements(budget)")
        element = kind.element
        if isinstance(element, Primitive):
            page.line(f"{target}, pos = {self._primitives(element.name, field, count)}")
            return
        variable = self.variables[element.name]
        page.line(f"{target} = {variable}_list = []")
        # Most arrays hold one element or a few: setting up a range costs more than counting.
        page.line(f"{variable}_left = {count}")
        with page.block(f"while {variable}_left:"):
            page.line(f"{variable}_left -= 1")
            page.line(f"{variable} = new({self.names.of(self.message, element.name)})")
            page.line(f"{variable}_list.append({variable})")
            self._struct(self.message.structs[element.name], variable)
            self._flush()

    def _primitives(self, kind: str, field: Field, count: str) -> str:
        if kind == "string":
            flexible = field_is_flexible(field, self.span)
            name = "read_compact_string_array" if flexible else "read_string_array"
            return f"{name}({self.buf}, pos, {count})"
        if kind == "uuid":
            return f"read_uuid_array({self.buf}, pos, {count})"
        if kind == "int32":
            return f"read_int32_array({self.buf}, pos, {count})"
        return f'read_int_array({self.buf}, pos, {count}, "{FIXED_CODES[kind]}")'

    # -- tagged sections ----------------------------------------------------------------------

    def _no_known_tags(self, variable: str) -> None:
        page = self.page
        self._length("B")
        target = f"{variable}.unknown_tagged_fields"
        with page.block("if n:"):
            page.line(f"{target}, pos = read_unknown_tags({self.buf}, pos, n)")
        with page.block("else:"):
            page.line(f"{target} = ()")

    def _known_tags(self, tagged: list[Field], variable: str) -> None:
        page = self.page
        self._defaults(tagged, variable)
        unknown = f"{variable}.unknown_tagged_fields"
        page.line(f"{unknown} = ()")
        self._length("B")
        self.tag_depth += 1
        tag, tag_end = f"tag_{self.tag_depth}", f"tag_end_{self.tag_depth}"
        with page.block("if n:"):
            with page.block("if n > 127:"):
                page.line(f"n, pos = read_uvarint_tail({self.buf}, pos, n)")
            with page.block("for _ in range(n):"):
                page.line(f"{tag}, {tag_end}, pos = read_tag({self.buf}, pos)")
                for position, field in enumerate(sorted(tagged, key=lambda f: f.tag or 0)):
                    word = "if" if position == 0 else "elif"
                    with page.block(f"{word} {tag} == {field.tag}:"):
                        self._tag_content(field, f"{variable}.{attribute(field)}")
                with page.block("else:"):
                    content = f"{self.buf}[pos:{tag_end}]"
                    page.line(f"{unknown} = with_unknown_tag({unknown}, {tag}, {content})")
                    page.line(f"pos = {tag_end}")
                with page.block(f"if pos != {tag_end}:"):
                    page.line("raise ValueError(TAG_SIZE_WRONG)")
        self.tag_depth -= 1

    def _tag_content(self, field: Field, target: str) -> None:
        condition = self.span.condition(field.tagged)
        if condition:
            with self.page.block(f"if not {parenthesised(condition)}:"):
                self.page.line("raise ValueError(TAG_NOT_IN_VERSION)")
        outer = self.span
        self.span = outer.narrowed(field.tagged)
        self._field(field, target)
        self._flush()
        self.span = outer


def parenthesised(condition: str) -> str:
    """A comparison as the operand of ``not``."""
    return f"({condition})"
