"""What no linter checks: sizes, dead modules, and that schemas and code belong together."""

from __future__ import annotations

import ast
import re
from itertools import accumulate
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("protocol", "client", "broker", "pipeline")
SKIPPED = {"generated", "target", "node_modules", "__pycache__"}
"""Folders of what nobody here wrote by hand."""
FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
FILE_BYTES_MAX = 1_000_000
FACES = ROOT / "client/fencepost_client/clients/blocking/generated/faces.py"
LONG_FOR_SPEED = {"_walk_some"}
"""Loops over single records: a call per record would cost more than what it did."""


def hand_written() -> list[Path]:
    found = [
        path
        for folder in (*PARTS, "tests", "examples")
        for path in (ROOT / folder).rglob("*.py")
        if is_ours(path)
    ]
    assert len(found) > 20
    return found


def is_ours(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return not SKIPPED & set(parts) and not any(part.startswith(".") for part in parts)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", hand_written(), ids=relative)
def test_a_file_is_no_longer_than_one_head_holds(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= FILE_LINES_MAX, f"{relative(path)} has {lines} lines: split it by idea"


@pytest.mark.parametrize("path", hand_written(), ids=relative)
def test_a_function_is_no_longer_than_a_page(path: Path) -> None:
    if "clients" in path.parts:
        return  # scripts as a user writes them: one scenario from top to bottom
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name in LONG_FOR_SPEED:
                continue
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= FUNCTION_LINES_MAX, f"{relative(path)}: {node.name}: {length} lines"


APIS = "fencepost_broker.apis"


def test_no_module_is_dead() -> None:
    """Every module is imported by another one, run by a task, or explained to library users."""
    modules = {
        module_name(path): path
        for path in hand_written()
        if relative(path).split("/")[0] in PARTS and path.name not in {"__init__.py", "__main__.py"}
    }
    named = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for page in ("Makefile", "docs/protocol.md"):
        named += (ROOT / page).read_text(encoding="utf-8")
    users: dict[str, set[Path]] = {}
    for other in [*hand_written(), *generated(), FACES]:
        if not relative(other).startswith("tests/"):
            text = other.read_text(encoding="utf-8")
            handlers = re.findall(r'(?:Later|OfBrokers)\(\s*"([\w.]+)"', text)
            rights = (f"authorization.{each}" for each in re.findall(r'rights="(\w+):', text))
            in_apis = (f"fencepost_broker.apis.{each}" for each in (*handlers, *rights))
            for name in (*modules_named_in(text), *in_apis):
                users.setdefault(name, set()).add(other)
    for name, path in modules.items():
        used = users.get(name, set()) - {path}
        assert used or re.search(rf"{re.escape(name)}\b", named), f"{name} is used by nobody"


def modules_named_in(text: str) -> set[str]:
    """What is imported, or named in a string (handlers that are loaded later), and all above it."""
    found = set(re.findall(r"\bfencepost_\w+(?:\.\w+)+", text))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found.update(f"{node.module}.{each.name}" for each in node.names)
    return {above for name in found for above in accumulate(name.split("."), "{}.{}".format)}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts[1:])


def generated() -> list[Path]:
    return sorted((ROOT / "protocol/fencepost_protocol/generated").glob("*.py"))


def test_every_schema_has_its_module_and_every_module_its_schema() -> None:
    by_rule = {"__init__.py", "index.py", "error_code.py", "error_texts.py"}
    sources: dict[str, str] = {}
    for path in generated():
        if path.name in by_rule:
            continue
        text = path.read_text(encoding="utf-8")
        for source in re.findall(r"^# Generated from (\S+) \(sha256", text, re.MULTILINE):
            assert (ROOT / source).is_file(), f"{path.name} comes from {source}, which is gone"
            sources[source] = path.name
        assert path.name in sources.values(), f"{path.name} names no source"
    for folder in ("messages", "records"):
        for schema in (ROOT / "schemas" / folder).glob("*.json"):
            assert relative(schema) in sources, f"{relative(schema)} has no generated module"


def test_every_field_is_explained() -> None:
    for folder in ("messages", "records"):
        for schema in (ROOT / "schemas" / folder).glob("*.json"):
            assert "TODO" not in schema.read_text(encoding="utf-8"), relative(schema)


def test_no_large_file_is_committed_by_accident() -> None:
    for folder in (*PARTS, "tests", "docs", "schemas", "examples"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and (is_ours(path) or "generated" in path.parts):
                assert path.stat().st_size <= FILE_BYTES_MAX, relative(path)
