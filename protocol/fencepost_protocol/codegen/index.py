"""Emits the tables over all schemas: the API keys, the index of messages, the error codes."""

from __future__ import annotations

import json
from typing import Any, Final

from fencepost_protocol.codegen.source import Source
from fencepost_protocol.schema.model import Message

_ERROR_KINDS: Final = frozenset(
    {"none", "retriable", "refresh", "abortable", "application-recoverable", "fatal"}
)

_COORDINATORS: Final = {
    "TransactionLog": "TRANSACTION",
    "ShareSnapshot": "SHARE",
    "ShareUpdate": "SHARE",
}
"""The records that are not the group coordinator's, and the coordinators that own them."""
"""The one record of the transaction coordinator; all others are the group coordinator's."""


def emit_index(messages: list[Message]) -> str:
    """``index.py``: what is needed to find and advertise an API without importing its module."""
    page = Source()
    page.line("# Generated from schemas/messages and schemas/records")
    page.line("# by python -m fencepost_protocol.codegen. Do not edit.")
    page.docstring("Every message by name, every API by key; modules are imported on first use.")
    page.line()
    page.line("from enum import IntEnum")
    page.line()
    page.line()
    requests = sorted(
        (m for m in messages if m.kind == "request"), key=lambda m: (m.api_key or 0, m.name)
    )
    responses = {m.api_key: m for m in messages if m.kind == "response"}
    with page.block("class ApiKey(IntEnum):"):
        page.docstring("The number that opens a request's header.")
        page.line()
        for message in requests:
            page.line(f"{message.module.upper()} = {message.api_key}")
    page.line()
    page.line()
    page.line("# key: (module, valid versions, flexible from, latest unstable, listeners)")
    page.line("APIS: dict[int, tuple[str, int, int, int | None, bool, tuple[str, ...]]] = {")
    for message in requests:
        response = responses[message.api_key]
        assert message.valid == response.valid, f"{message.name} and its response disagree"
        assert message.flexible == response.flexible, f"{message.name}: flexible versions disagree"
        flexible = message.flexible.lowest if message.flexible else None
        listeners = "".join(f'"{name}", ' for name in message.listeners)
        page.line(
            f'    {message.api_key}: ("{message.base_name}", {message.valid.lowest}, '
            f"{message.valid.highest}, {flexible}, {message.latest_version_unstable}, "
            f"({listeners.rstrip() if len(message.listeners) == 1 else listeners.rstrip(', ')})),"
        )
    page.line("}")
    page.line()
    page.line("MODULES: dict[str, str] = {")
    for message in sorted(messages, key=lambda m: m.name):
        page.line(f'    "{message.name}": "{message.module}",')
    page.line("}")
    records = sorted(messages, key=lambda m: (m.api_key or 0, m.name))
    values = [m for m in records if m.kind == "coordinator-value"]
    _emit_records(page, "METADATA_RECORDS", [m for m in records if m.kind == "metadata"])
    # Each coordinator numbers its records for itself: all have a 0.
    for owner in ("TRANSACTION", "SHARE", "GROUP"):
        owned = [m for m in values if _COORDINATORS.get(m.base_name, "GROUP") == owner]
        _emit_records(page, f"{owner}_COORDINATOR_RECORDS", owned)
    return "\n".join(page.lines) + "\n"


def _emit_records(page: Source, label: str, messages: list[Message]) -> None:
    page.line()
    page.line(f"{label}: dict[int, str] = {{")
    for message in messages:
        page.line(f'    {message.api_key}: "{message.base_name}",')
    page.line("}")
    keys = [message.api_key for message in messages]
    assert len(keys) == len(set(keys)), f"{label}: two records have the same key"


def emit_error_codes(errors: dict[str, Any]) -> str:
    """``error_code.py``: the codes and their kinds, without their texts."""
    entries = errors["errors"]
    for entry in entries:
        if entry["kind"] not in _ERROR_KINDS:
            raise ValueError(f"errors.json: {entry['name']}: unknown kind {entry['kind']!r}")
    page = Source()
    page.line("# Generated from schemas/errors.json by python -m fencepost_protocol.codegen.")
    page.line("# Do not edit.")
    page.docstring("The error codes that travel in replies.")
    page.line()
    page.line("from enum import IntEnum")
    page.line()
    page.line()
    with page.block("class ErrorCode(IntEnum):"):
        page.docstring("An error code of the Kafka protocol; see ``fencepost_protocol.errors``.")
        page.line()
        for entry in entries:
            page.line(f"{entry['name']} = {entry['code']}")
    page.line()
    page.line()
    page.line("RETRIABLE: frozenset[int] = frozenset(")
    page.line(f"    {_wrapped_set([e['code'] for e in entries if e['retriable']])}")
    page.line(")")
    page.line('"""Codes after which the same request may be sent again."""')
    page.line()
    page.line("KINDS: dict[int, str] = {")
    for entry in entries:
        page.line(f'    {entry["code"]}: "{entry["kind"]}",')
    page.line("}")
    page.line('"""What a transactional client does about a code (KIP-1050)."""')
    return "\n".join(page.lines) + "\n"


def _wrapped_set(codes: list[int]) -> str:
    rows = [", ".join(map(str, codes[at : at + 20])) for at in range(0, len(codes), 20)]
    return "{" + ",\n     ".join(rows) + "}"


def emit_error_texts(errors: dict[str, Any]) -> str:
    """``error_texts.py``: explanation and hint of each code, loaded when one is printed."""
    page = Source()
    page.line("# Generated from schemas/errors.json by python -m fencepost_protocol.codegen.")
    page.line("# Do not edit.")
    page.docstring("What each error code means and what to do about it.")
    page.line()
    page.line("TEXTS: dict[int, tuple[str, str, dict[str, str]]] = {")
    for entry in errors["errors"]:
        page.line(f"    {entry['code']}: (")
        page.line(f"        {json.dumps(entry['about'])},")
        page.line(f"        {json.dumps(entry['hint'])},")
        page.line("        {")
        for role, hint in entry.get("hints", {}).items():
            page.line(f"            {json.dumps(role)}: {json.dumps(hint)},")
        page.line("        },")
        page.line("    ),")
    page.line("}")
    return "\n".join(page.lines) + "\n"
