"""``python -m fencepost_protocol.codegen [--check]``: write the generated modules, or compare."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from fencepost_protocol.codegen.index import emit_error_codes, emit_error_texts, emit_index
from fencepost_protocol.codegen.module import emit_module
from fencepost_protocol.schema.files import load_all, load_errors, schema_folder
from fencepost_protocol.schema.model import Message
from fencepost_protocol.schema.parse import SchemaError

OUTPUT: Final = Path(__file__).resolve().parent.parent / "generated"
PACKAGE_TEXT: Final = (
    '"""Generated from the schemas; see ``fencepost_protocol.codegen``. Do not edit."""\n'
)


def generate(folder: Path | None = None) -> dict[str, str]:
    """File name -> text of everything that belongs into the generated package."""
    messages = load_all(folder)
    grouped: dict[str, list[Message]] = {}
    for message in messages.values():
        grouped.setdefault(message.module, []).append(message)
    texts = {"__init__.py": PACKAGE_TEXT, "index.py": emit_index(list(messages.values()))}
    for module, members in sorted(grouped.items()):
        bases = {member.base_name for member in members}
        if len(bases) > 1 or f"{module}.py" in texts:
            raise SchemaError(f"{module}.py: name clash between {', '.join(sorted(bases))}")
        members.sort(key=lambda m: (m.name.endswith(("Response", "Value")), m.name))
        texts[f"{module}.py"] = emit_module(members)
    errors = load_errors(folder)
    texts["error_code.py"] = emit_error_codes(errors)
    texts["error_texts.py"] = emit_error_texts(errors)
    return texts


def differences(texts: dict[str, str], output: Path = OUTPUT) -> list[str]:
    """What ``output`` lacks, has different, or has too much (orphans), as sentences."""
    orphans = [p.name for p in sorted(output.glob("*.py")) if p.name not in texts]
    return differences_of(texts, output) + [f"{name} has no schema" for name in orphans]


def differences_of(texts: dict[str, str], folder: Path) -> list[str]:
    """Which of these files ``folder`` lacks or has different, as sentences."""
    found = []
    for name, text in sorted(texts.items()):
        path = folder / name
        if not path.is_file():
            found.append(f"{name} is missing")
        elif path.read_text(encoding="utf-8") != text:
            found.append(f"{name} is not what the schemas generate")
    return found


def write(texts: dict[str, str], output: Path = OUTPUT) -> None:
    """Write what changed, delete orphans."""
    output.mkdir(exist_ok=True)
    for name, text in texts.items():
        path = output / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in output.glob("*.py"):
        if path.name not in texts:
            path.unlink()


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m fencepost_protocol.codegen", description=__doc__
    )
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 on a difference")
    options = parser.parse_args(arguments)
    try:
        texts = generate()
    except SchemaError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if not options.check:
        write(texts)
        sys.stdout.write(f"{len(texts)} modules generated from {schema_folder()}\n")
        return 0
    found = differences(texts)
    for sentence in found:
        sys.stderr.write(f"generated/{sentence}\n")
    if found:
        sys.stderr.write("run `make codegen` and commit the result\n")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
