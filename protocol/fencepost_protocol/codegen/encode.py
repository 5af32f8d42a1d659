"""Emits ``encode``: straight-line writing of one message into a growing buffer.

Consecutive fields of fixed size, and a classic length after them, are written by one ``struct``
call. A message with records also gets ``encode_pieces``, which does not copy large records.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import calcsize

from fencepost_protocol.codegen.layout import (
    FIXED_CODES,
    Names,
    attribute,
    differs_from_default,
    element_variables,
    field_is_flexible,
    field_runs,
    is_none_when_absent,
    kinds,
    may_be_none,
    spans,
)
from fencepost_protocol.codegen.source import Source
from fencepost_protocol.schema.model import Array, Field, Message, Primitive, Struct


class EncodeEmitter:
    """Writes the ``encode`` method of one message into a page."""

    def __init__(self, page: Source, message: Message, names: Names) -> None:
        self.page = page
        self.message = message
        self.names = names
        self.pending: list[tuple[str, str]] = []
        self.out = "out"
        self.tag_depth = 0
        self.declared: set[str] = set()
        """Variables that the method has given a type already."""
        self.in_pieces = False
        self.span = spans(message)[0]
        self.variables = element_variables(message)

    def emit(self) -> None:
        """``encode`` and, where there are records, ``encode_pieces``."""
        page = self.page
        with page.block("def encode(self, version: int, out: bytearray) -> None:"):
            page.docstring("Append the message to ``out``; on an error ``out`` is as it was.")
            page.line("start = len(out)")
            self._guarded(lambda: self._body())
        if "records" not in kinds(self.message):
            return
        page.line()
        with page.block("def encode_pieces(self, version: int, head: bytearray) -> list[Buffer]:"):
            page.docstring(
                "As ``encode``, but large records stay pieces of their own, not copied into "
                "``head``, which is the first piece."
            )
            page.line("start = len(head)")
            page.line("out = head")
            page.line("pieces: list[Buffer] = [head]")
            self.in_pieces = True
            self._guarded(lambda: self._body())
            page.line("return pieces")
            self.in_pieces = False

    def _guarded(self, body: Callable[[], None]) -> None:
        page = self.page
        self.declared.clear()
        with page.block("try:"):
            body()
        with page.block("except ENCODE_ERRORS as cause:"):
            page.line(f"del {'head' if self.in_pieces else 'out'}[start:]")
            page.line(
                f'raise encode_failure("{self.message.name}", version, self, cause) from cause'
            )

    def _body(self) -> None:
        page, message = self.page, self.message
        low, high = message.valid.lowest, message.valid.highest
        with page.block(f"if not {low} <= version <= {high}:"):
            page.line(f'raise unknown_version("{message.name}", version, {low}, {high})')
        bodies = spans(message)
        for position, span in enumerate(bodies):
            self.span = span
            if len(bodies) == 1:
                self._struct(message.root, "self", "")
                self._flush()
                continue
            head = f"if version >= {span.versions.lowest}:" if position == 0 else "else:"
            with page.block(head):
                self._struct(message.root, "self", "")
                self._flush()
                self._pass_if_empty(head)

    def _pass_if_empty(self, head: str) -> None:
        if self.page.lines[-1].strip() == head:
            self.page.line("pass")

    # -- structs ------------------------------------------------------------------------------

    def _struct(self, structure: Struct, variable: str, path: str) -> None:
        for condition, fields in field_runs(structure, self.span):
            self._conditional(condition, fields, variable, path)
        unknown = f"{variable}.unknown_tagged_fields"
        if not self.span.flexible:
            return  # Kept unknown fields have no place in a classic version.
        tagged = [
            field
            for field in structure.fields
            if field.tag is not None and self.span.condition(field.tagged) is not None
        ]
        self._flush()
        page = self.page
        if not tagged:
            with page.block(f"if {unknown}:"):
                page.line(f"write_tagged_fields({self.out}, [], {unknown})")
            with page.block("else:"):
                page.line(f"{self.out}.append(0)")
            return
        self._tagged(tagged, variable, path)

    def _conditional(
        self, condition: str | None, fields: list[Field], variable: str, path: str
    ) -> None:
        """Fields that are there under one condition; otherwise they must not hold anything."""
        if condition == "":
            self._fields(fields, variable, path)
            return
        refused = [field for field in fields if not field.ignorable]
        if condition is None:
            for field in refused:
                self._refuse(field, variable, path)
            return
        self._flush()
        outer = self.span
        with self.page.block(f"if {condition}:"):
            self.span = outer.narrowed(fields[0].versions)
            self._fields(fields, variable, path)
            self._flush()
        self.span = outer
        if len(refused) == 1:
            self._refuse(refused[0], variable, path, word="elif")
        elif refused:
            with self.page.block("else:"):
                for field in refused:
                    self._refuse(field, variable, path)

    def _fields(self, fields: list[Field], variable: str, path: str) -> None:
        for field in fields:
            self._field(field, f"{variable}.{attribute(field)}", path + attribute(field))

    def _refuse(self, field: Field, variable: str, path: str, word: str = "if") -> None:
        """What cannot travel in this version must not be lost silently."""
        value = f"{variable}.{attribute(field)}"
        test = differs_from_default(field, value, self.message, self.names)
        with self.page.block(f"{word} {test}:"):
            versions = field.versions & self.message.valid
            self.page.line(f'raise not_in_version("{path}{attribute(field)}", "{versions}")')

    # -- fixed-size runs ----------------------------------------------------------------------

    def _flush(self) -> None:
        if not self.pending:
            return
        codes = "".join(code for code, _ in self.pending)
        values = [value for _, value in self.pending]
        self.pending.clear()
        call = f"{self.page.packer(codes)}({', '.join(values)})"
        if 4 * self.page.depth + len(call) + len(self.out) + 4 <= 100:
            self.page.line(f"{self.out} += {call}")
            return
        with self.page.block(f"{self.out} += {self.page.packer(codes)}("):
            for value in values:
                self.page.line(f"{value},")
        self.page.line(")")

    # -- fields -------------------------------------------------------------------------------

    def _field(self, field: Field, value: str, path: str) -> None:
        kind = field.type
        if isinstance(kind, Primitive) and kind.name in FIXED_CODES:
            if kind.name == "uuid":
                value = f"uuid_bytes({value})"
            self.pending.append((FIXED_CODES[kind.name], value))
            return
        if isinstance(kind, Primitive | Array):
            body = self._sized_body(field, kind, value, path)
            self._nullable(field, value, path, body, self._null_length(field))
            return
        structure = self.message.structs[kind.name]

        def struct_body() -> None:
            if self.span.condition(field.nullable) is not None:
                # A presence mark: an int8, but in a tagged field an unsigned varint.
                self.pending.append(("b" if field.tag is None else "B", "1"))
            self._struct(structure, value, f"{path}.")
            self._flush()

        null = ("b", "-1") if field.tag is None else ("B", "0")
        self._nullable(field, value, path, struct_body, null)

    def _nullable(
        self,
        field: Field,
        value: str,
        path: str,
        body: Callable[[], None],
        null: tuple[str, str],
    ) -> None:
        """``body`` for a value that is there; null written, or refused, for one that is not."""
        if not may_be_none(field) or (field.tag is not None and field.default is None):
            body()  # A tagged field that is null by default is written only when it is not.
            return
        if is_none_when_absent(field):
            body()
            return
        page = self.page
        self._flush()
        with page.block(f"if {value} is None:"):
            condition = self.span.condition(field.nullable)
            if condition is None:
                page.line(f'raise not_nullable("{path}")')
            else:
                if condition:
                    with page.block(f"if not ({condition}):"):
                        page.line(f'raise not_nullable("{path}")')
                if null == ("B", "0"):
                    page.line(f"{self.out}.append(0)")
                else:
                    self.pending.append(null)
                    self._flush()
        with page.block("else:"):
            body()
            self._flush()

    def _null_length(self, field: Field) -> tuple[str, str]:
        if field_is_flexible(field, self.span):
            return "B", "0"
        return ("h" if str(field.type) == "string" else "i"), "-1"

    def _sized_body(
        self, field: Field, kind: Primitive | Array, value: str, path: str
    ) -> Callable[[], None]:
        def body() -> None:
            if isinstance(kind, Array):
                self._array(field, kind, value, path)
            elif kind.name == "string":
                self.page.line(f"raw = {value}.encode()")
                self._length(field, "raw", "h", "write_string_length")
                self.page.line(f"{self.out} += raw")
            elif kind.name == "bytes":
                self._length(field, value, "i", "write_uvarint")
                self.page.line(f"{self.out} += {value}")
            else:
                self._records(field, value)

        return body

    def _length(self, field: Field, value: str, code: str, writer: str) -> None:
        """The length before a string, bytes or array."""
        if not field_is_flexible(field, self.span):
            self.pending.append((code, f"len({value})"))
            self._flush()
            return
        page = self.page
        self._flush()
        page.line(f"n = len({value}) + 1")
        with page.block("if n < 128:"):
            page.line(f"{self.out}.append(n)")
        with page.block("else:"):
            page.line(f"{writer}({self.out}, n)")

    def _records(self, field: Field, value: str) -> None:
        page = self.page
        page.line(f"records = {value}")
        self._length(field, "records", "i", "write_uvarint")
        if not self.in_pieces:
            page.line("out += records")
            return
        with page.block("if len(records) < PIECE_BYTES_MIN:"):
            page.line("out += records")
        with page.block("else:"):
            page.line("out = bytearray()")
            page.line("pieces += (records, out)")

    def _array(self, field: Field, kind: Array, value: str, path: str) -> None:
        page = self.page
        self._length(field, value, "i", "write_uvarint")
        element = kind.element
        if isinstance(element, Primitive):
            page.line(self._primitives(element.name, field, value))
            return
        variable = self.variables[element.name]
        with page.block(f"for {variable} in {value}:"):
            before = len(page.lines)
            self._struct(self.message.structs[element.name], variable, f"{path}.")
            self._flush()
            assert len(page.lines) > before, f"{self.message.name}: {path} has no fields"

    def _primitives(self, kind: str, field: Field, value: str) -> str:
        if kind == "string":
            flexible = field_is_flexible(field, self.span)
            name = "write_compact_string_array" if flexible else "write_string_array"
            return f"{name}({self.out}, {value})"
        if kind == "uuid":
            return f"write_uuid_array({self.out}, {value})"
        if kind == "int32":
            return f"write_int32_array({self.out}, {value})"
        return f'write_int_array({self.out}, {value}, "{FIXED_CODES[kind]}")'

    # -- tagged sections ----------------------------------------------------------------------

    def _tagged(self, tagged: list[Field], variable: str, path: str) -> None:
        """Each set field is encoded apart, because its size stands before it."""
        page = self.page
        unknown = f"{variable}.unknown_tagged_fields"
        self.tag_depth += 1
        collected, content = f"tagged_{self.tag_depth}", f"content_{self.tag_depth}"
        outer = self.out
        known = "" if collected in self.declared else ": list[bytes]"
        self.declared.add(collected)
        page.line(f"{collected}{known} = []")
        for field in sorted(tagged, key=lambda f: f.tag or 0):
            value = f"{variable}.{attribute(field)}"
            condition = self.span.condition(field.tagged)
            test = differs_from_default(field, value, self.message, self.names)
            with page.block(f"if {test}:"):
                if condition and not field.ignorable:
                    with page.block(f"if not ({condition}):"):
                        versions = field.versions & self.message.valid
                        page.line(f'raise not_in_version("{path}{attribute(field)}", "{versions}")')
                self._tag_content(field, value, path, content, collected, condition)
        self.out = outer
        with page.block(f"if {unknown}:"):
            page.line(f"write_tagged_fields({self.out}, {collected}, {unknown})")
        with page.block(f"elif {collected}:"):
            page.line(f"{self.out}.append(len({collected}))")
            page.line(f'{self.out} += b"".join({collected})')
        with page.block("else:"):
            page.line(f"{self.out}.append(0)")
        self.tag_depth -= 1

    def _tag_content(
        self,
        field: Field,
        value: str,
        path: str,
        content: str,
        collected: str,
        condition: str | None,
    ) -> None:
        page, tag = self.page, field.tag
        assert tag is not None

        def write() -> None:
            kind = field.type
            if isinstance(kind, Primitive) and kind.name in FIXED_CODES:
                raw = f"uuid_bytes({value})" if kind.name == "uuid" else value
                code = FIXED_CODES[kind.name]
                if tag < 128:  # the tag and the size are a byte each
                    packed = f"{page.packer('bb' + code)}({tag}, {calcsize('>' + code)}, {raw})"
                else:
                    packed = f"tagged_field({tag}, {page.packer(code)}({raw}))"
                page.line(f"{collected}.append({packed})")
                return
            outer, span = self.out, self.span
            self.span = span.narrowed(field.tagged)
            self.out = content
            page.line(f"{content} = bytearray()")
            self._field(field, value, path + attribute(field))
            self._flush()
            page.line(f"{collected}.append(tagged_field({tag}, {content}))")
            self.out, self.span = outer, span

        if condition and field.ignorable:
            with page.block(f"if {condition}:"):
                write()
        else:
            write()
