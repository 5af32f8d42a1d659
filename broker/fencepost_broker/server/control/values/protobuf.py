"""Values by a .proto file or a descriptor set, with Google's own library and compiler."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from fencepost_broker.server.control.values.avro import told
from fencepost_broker.server.control.values.framing import read_message_index
from fencepost_broker.server.control.values.model import SchemaRefusedError, UndecodableError

_NAME: Final = "schema.proto"
_KNOWN: Final = {
    f"google/protobuf/{name}.proto": f"google.protobuf.{name}_pb2"
    for name in ("any", "api", "descriptor", "duration", "empty", "field_mask", "source_context",
                 "struct", "timestamp", "type", "wrappers")
}  # fmt: skip
"""Files that come with the library, which a descriptor set may leave out."""
_IMPORTS: Final = (
    "A file that imports others of yours is given as a descriptor set: protoc --include_imports"
    " --descriptor_set_out=FILE."
)


class ProtobufSchema:
    """Message types that are read."""

    def __init__(self, content: bytes, *, is_source: bool) -> None:
        """Raises ``SchemaRefusedError``."""
        from google.protobuf import json_format, message_factory, text_format, unknown_fields
        from google.protobuf.message import DecodeError

        self._error: type[Exception] = DecodeError
        self._class: Any = message_factory.GetMessageClass
        self._json, self._text, self._unknown = json_format, text_format, unknown_fields
        self._pool, files = _pool(compiled(content) if is_source else content)
        self._file: Any = files[-1]
        """The last one: protoc writes a file after those that it imports."""
        self._types = {
            each.full_name: each
            for file in reversed(files)
            if file.name not in _KNOWN
            for each in _messages(file.message_types_by_name.values())
        }
        self.types = list(self._types)
        if not self.types:
            raise SchemaRefusedError("it has no message type")

    def decode(self, value: bytes, type_name: str, *, is_framed: bool) -> tuple[str, str, str]:
        """Return text, type and what is odd; raises ``UndecodableError``."""
        descriptor = self._types[type_name or self.types[0]]
        if is_framed:
            index, value = read_message_index(value)
            if not type_name:
                descriptor = self._at(index)
        message = self._class(descriptor)()
        try:
            message.ParseFromString(value)
        except self._error as error:
            raise UndecodableError(f"it is not {descriptor.full_name}: {told(error)}") from None
        unknown = sorted({each.field_number for each in self._unknown.UnknownFieldSet(message)})
        odd = ""
        if unknown:
            numbers = ", ".join(map(str, unknown[:10])) + (", ..." if len(unknown) > 10 else "")
            odd = f"{descriptor.full_name} has no field {numbers} of this kind: is it this type?"
        try:
            text = self._json.MessageToJson(
                message,
                preserving_proto_field_name=True,
                ensure_ascii=False,
                descriptor_pool=self._pool,
            )
        except (TypeError, ValueError, self._json.Error):  # such as an Any of an unknown type
            text = self._text.MessageToString(message, as_utf8=True)
        return text, descriptor.full_name, odd

    def _at(self, index: list[int]) -> Any:
        found: Any = None
        level = list(self._file.message_types_by_name.values())
        for number in index:
            if not 0 <= number < len(level):
                shown = ", ".join(map(str, index))
                raise UndecodableError(f"its message index is {shown}, which the file has not")
            found = level[number]
            level = list(found.nested_types)
        return found


def _messages(found: Any) -> Iterator[Any]:
    for each in found:
        if not each.GetOptions().map_entry:
            yield each
            yield from _messages(each.nested_types)


def _pool(content: bytes) -> tuple[Any, list[Any]]:
    from google.protobuf import descriptor_pb2, descriptor_pool
    from google.protobuf.descriptor_database import DescriptorDatabase

    given = descriptor_pb2.FileDescriptorSet()
    database = DescriptorDatabase()
    try:
        given.ParseFromString(content)
        names = {each.name for each in given.file}
        for name in _KNOWN.keys() - names:
            known = descriptor_pb2.FileDescriptorProto()
            importlib.import_module(_KNOWN[name]).DESCRIPTOR.CopyToProto(known)
            database.Add(known)
        for file in given.file:
            database.Add(file)
        pool = descriptor_pool.DescriptorPool(database)
        files = [pool.FindFileByName(each.name) for each in given.file]
    except Exception as error:  # noqa: BLE001 (what a library raises for a hostile file)
        raise SchemaRefusedError(
            f"it is not a complete descriptor set: {told(error)}",
            "protoc --include_imports --descriptor_set_out=FILE writes one. A source file's name"
            " ends in .proto, and an Avro schema's in .avsc.",
        ) from None
    if not files:
        raise SchemaRefusedError("it is empty, and has no message type")
    return pool, files


def compiled(source: bytes) -> bytes:
    """Return the descriptor set of a .proto file; raises ``SchemaRefusedError``."""
    from grpc_tools import protoc

    known = Path(protoc.__file__).parent / "_proto"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as said:
        path, out = Path(folder, _NAME), Path(folder, "set")
        path.write_bytes(source)
        with _errors_to(said):
            done = protoc.main(
                ["", f"-I{folder}", f"-I{known}", "--include_imports", f"-o{out}", _NAME]
            )
        if done == 0:
            return out.read_bytes()
        said.seek(0)
        lines = (
            said.read(4096).decode(errors="replace").replace(f"{folder}/", "").strip().splitlines()
        )
    detail = "; ".join(lines[:3]) or "protoc refuses it"
    advice = _IMPORTS if "not found" in detail else ""
    raise SchemaRefusedError(f"it cannot be compiled: {detail}", advice)


@contextmanager
def _errors_to(file: BinaryIO) -> Iterator[None]:
    """Write what C writes to the standard error stream into a file."""
    sys.stderr.flush()
    before = os.dup(2)
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
