"""Messages as plain data, to be shown as JSON."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any, Final

BYTES_SHOWN: Final = 64
ELEMENTS_SHOWN: Final = 100


def plain(value: Any) -> Any:
    """Return a message or a field of one; long lists and bytes are cut short."""
    if isinstance(value, bytes | bytearray | memoryview):
        shown = bytes(value[:BYTES_SHOWN]).hex()
        return shown if len(value) <= BYTES_SHOWN else f"{shown}... ({len(value)} bytes)"
    if isinstance(value, list):
        found = [plain(each) for each in value[:ELEMENTS_SHOWN]]
        return found if len(value) <= ELEMENTS_SHOWN else [*found, f"... ({len(value)} elements)"]
    if is_dataclass(value):
        return {
            name: plain(getattr(value, name))
            for name in getattr(value, "__slots__", ())
            if name != "unknown_tagged_fields"
        }
    return value
