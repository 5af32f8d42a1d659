"""Finding and reading schema files.

In a checkout they are in the folder ``schemas``; a wheel has them inside of the package. Code
generation, the dissector and explanations of errors read them; ordinary requests do not.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from fencepost_protocol.schema.model import Message
from fencepost_protocol.schema.parse import SchemaError, parse_message

FOLDERS = ("messages", "records")


@functools.cache
def schema_folder() -> Path:
    """The folder that holds ``messages``, ``records`` and ``errors.json``."""
    package = Path(__file__).resolve().parent.parent
    for candidate in (package / "schemas", package.parent.parent / "schemas"):
        if (candidate / "messages").is_dir():
            return candidate
    raise SchemaError(f"no schema folder beside {package}: is the installation whole?")


def load_all(folder: Path | None = None) -> dict[str, Message]:
    """Every message and record by name."""
    folder = folder or schema_folder()
    messages: dict[str, Message] = {}
    for part in FOLDERS:
        for path in sorted((folder / part).glob("*.json")):
            message = parse_message(path.read_bytes(), f"{part}/{path.name}")
            if message.name in messages:
                raise SchemaError(f"{message.source}: {message.name} is defined twice")
            messages[message.name] = message
    return messages


@functools.cache
def load(name: str) -> Message:
    """One message or record by its name, for example ``EndTxnRequest``."""
    for part in FOLDERS:
        path = schema_folder() / part / f"{name}.json"
        if path.is_file():
            return parse_message(path.read_bytes(), f"{part}/{path.name}")
    raise SchemaError(f"there is no schema called {name!r}")


def load_errors(folder: Path | None = None) -> dict[str, Any]:
    """The raw content of ``errors.json``."""
    path = (folder or schema_folder()) / "errors.json"
    content: dict[str, Any] = json.loads(path.read_bytes())
    return content
