"""Values by an Avro schema, with fastavro."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

from fencepost_broker.server.control.values.model import SchemaRefusedError, UndecodableError


class AvroSchema:
    """A schema that is read."""

    def __init__(self, content: bytes) -> None:
        """Raises ``SchemaRefusedError``."""
        import fastavro

        self._read = fastavro.schemaless_reader
        try:
            given = json.loads(content)
            self._schema: Any = fastavro.parse_schema(given)
        except RecursionError:
            raise SchemaRefusedError("it is nested too deeply") from None
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise SchemaRefusedError(
                f"it is not JSON: {error}", "An .avsc file is an Avro schema in JSON."
            ) from None
        except Exception as error:  # noqa: BLE001 (what a library raises for a hostile schema)
            raise SchemaRefusedError(f"it is not an Avro schema: {told(error)}") from None
        self.types = [_name(given)]

    def decode(self, value: bytes, type_name: str, *, is_framed: bool) -> tuple[str, str, str]:
        """Return text, type and what is odd; raises ``UndecodableError``."""
        del type_name, is_framed
        content = BytesIO(value)
        try:
            read = self._read(content, self._schema)
        except Exception as error:  # noqa: BLE001 (what a library raises for hostile bytes)
            at = content.tell()
            raise UndecodableError(
                f"it is not {self.types[0]}: after byte {at} of {len(value)}: {told(error)}"
            ) from None
        left = len(value) - content.tell()
        if left:
            raise UndecodableError(
                f"it is not {self.types[0]}, or of another schema: {left} bytes are left after it"
            )
        text = json.dumps(read, indent=2, ensure_ascii=False, default=_shown)
        return text, self.types[0], ""


def told(error: Exception) -> str:
    """Return what an error of a library says; some say one word, or nothing."""
    if isinstance(error, (EOFError, IndexError)):
        return "it ends too early"
    text = str(error)
    return text if " " in text else f"{type(error).__name__} {text}".rstrip()


def _name(given: Any) -> str:
    if isinstance(given, dict):
        name, space = given.get("name"), given.get("namespace")
        if isinstance(name, str):
            return f"{space}.{name}" if isinstance(space, str) and "." not in name else name
        return _name(given.get("type"))
    return given if isinstance(given, str) else "a union"


def _shown(value: Any) -> str:
    """Return what JSON does not have, as text: bytes in hex, dates, decimals and UUIDs."""
    return value.hex(" ") if isinstance(value, bytes) else str(value)
