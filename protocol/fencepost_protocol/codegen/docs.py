"""``python -m fencepost_protocol.codegen.docs [--check]``: pages of docs/reference."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from fencepost_protocol.apis import Api
from fencepost_protocol.codegen.__main__ import differences_of
from fencepost_protocol.schema.files import load_all, load_errors
from fencepost_protocol.schema.model import Message

FOLDER: Final = Path(__file__).resolve().parents[3] / "docs/reference"
NOTICE: Final = "<!-- Generated from schemas/ by `make docs`. Do not edit. -->\n"


def pages() -> dict[str, str]:
    """File name -> text."""
    messages = load_all()
    return {"apis.md": _apis(messages), "records.md": _records(messages), "errors.md": _errors()}


def _apis(messages: dict[str, Message]) -> str:
    rows = []
    requests = [m for m in messages.values() if m.kind == "request"]
    for message in sorted(requests, key=lambda m: m.api_key or 0):
        api = Api.of(message.api_key or 0)
        assert api is not None
        low, high = api.advertised
        flexible = f"{api.flexible_from}+" if api.flexible_from is not None else "-"
        rows.append(
            f"| {message.api_key} | [{api.name}](../../schemas/messages/{message.name}.json) "
            f"| {low}-{high} | {message.valid} | {flexible} | {', '.join(message.listeners)} "
            f"| {_cell(message.about)} |"
        )
    return "\n".join(
        [
            NOTICE,
            "# APIs of the protocol",
            "",
            "The schemas describe these APIs, so the codec and the dissector understand them.",
            "*Advertised* are the versions that Apache Kafka 4.3 tells clients, and that a broker",
            "tells if it serves the API; *schema* are those that can be encoded and decoded.",
            "",
            "| key | API | advertised | schema | flexible | listeners | what it is for |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _records(messages: dict[str, Message]) -> str:
    kinds = {
        "metadata": "In the metadata log (`__cluster_metadata-0`), by record type",
        "coordinator-value": "In the coordinators' logs (`__consumer_offsets`, "
        "`__transaction_state`), by record type; each has a key beside its value",
        "data": "Inside control records, client blobs and files",
        "header": "In front of requests and responses",
    }
    lines = [NOTICE, "# Records in logs", ""]
    for kind, title in kinds.items():
        lines += [
            f"## {title}",
            "",
            "| type | record | versions | what it is for |",
            "|---|---|---|---|",
        ]
        chosen = sorted(
            (m for m in messages.values() if m.kind == kind), key=lambda m: (m.api_key or 0, m.name)
        )
        for message in chosen:
            number = "-" if message.api_key is None else str(message.api_key)
            lines.append(
                f"| {number} | [{message.base_name}](../../schemas/{message.source}) "
                f"| {message.valid} | {_cell(message.about)} |"
            )
        lines.append("")
    return "\n".join(lines)


def _errors() -> str:
    content = load_errors()
    lines = [
        NOTICE,
        "# Error codes",
        "",
        "*Kind* is what a transactional producer does about a code (KIP-1050):",
        "",
        *(f"- `{kind}`: {meaning}" for kind, meaning in content["kinds"].items()),
        "",
        "| code | name | retriable | kind | what happened | what to do |",
        "|---|---|---|---|---|---|",
    ]
    for entry in content["errors"]:
        retriable = "yes" if entry["retriable"] else ""
        lines.append(
            f"| {entry['code']} | `{entry['name']}` | {retriable} | {entry['kind']} "
            f"| {_cell(entry['about'])} | {_cell(entry['hint'])} |"
        )
    lines += [
        "",
        "## Hints for users of the SDK",
        "",
        "The column above is for authors of requests. Exceptions of a `Producer`, a `Consumer` or",
        "an `Admin` have these hints where they differ.",
        "",
        "| code | class | what to do |",
        "|---|---|---|",
        *(
            f"| `{entry['name']}` | {role} | {_cell(hint)} |"
            for entry in content["errors"]
            for role, hint in entry.get("hints", {}).items()
        ),
    ]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m fencepost_protocol.codegen.docs")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 on a difference")
    options = parser.parse_args(arguments)
    texts = pages()
    found = differences_of(texts, FOLDER)
    if options.check:
        for sentence in found:
            sys.stderr.write(f"docs/reference/{sentence}\n")
        if found:
            sys.stderr.write("run `make docs` and commit the result\n")
        return 1 if found else 0
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"{', '.join(texts)} written to {FOLDER}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
