"""What no linter checks: sizes, dead modules, and that schemas and code belong together."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = ("protocol", "client", "broker", "pipeline")
SKIPPED = {"generated", "target", "node_modules", "__pycache__"}
"""Folders of what nobody here wrote by hand."""
FILE_LINES_MAX = 500
LONG_FILES = {"broker/fencepost_broker/network/connection.py"}
"""Up to 700 lines for a file whose one class, or one table, is its idea."""
LONG_FILE_LINES_MAX = 700
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


def test_a_file_is_no_longer_than_one_head_holds() -> None:
    lengths = {relative(path): path.read_bytes().count(b"\n") for path in hand_written()}
    assert lengths.keys() >= LONG_FILES, "it has another name now"
    too_long = {
        name: lines
        for name, lines in lengths.items()
        if lines > (LONG_FILE_LINES_MAX if name in LONG_FILES else FILE_LINES_MAX)
    }
    assert not too_long, "split them by idea"


def test_a_function_is_no_longer_than_a_page() -> None:
    lengths = {
        f"{relative(path)}: {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in hand_written()
        if "clients" not in path.parts  # as a user writes them: one scenario from top to bottom
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name not in LONG_FOR_SPEED
    }
    assert {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES_MAX} == {}


def test_no_module_is_dead() -> None:
    """Every module is imported by another one, run by a task, or explained to library users."""
    named = "".join(
        (ROOT / page).read_text(encoding="utf-8")
        for page in ("pyproject.toml", "Makefile", "docs/how-to/read-and-write-frames.md")
    )
    used: set[str] = set()
    for path in [*hand_written(), *generated(), FACES]:
        if not relative(path).startswith("tests/"):
            own = module_name(path)
            used |= {name for name in modules_used_by(path) if name != own}
    unused = [
        name
        for path in hand_written()
        if relative(path).split("/")[0] in PARTS and path.name not in {"__init__.py", "__main__.py"}
        if (name := module_name(path)) not in used
        and not re.search(rf"\b{re.escape(name)}\b", named)
    ]
    assert unused == []


def test_helpers_of_tests_are_in_no_test() -> None:
    wrong = [
        f"{relative(path)}: {name}"
        for path in (ROOT / "tests").rglob("*.py")
        for name in {
            node.module
            for node in ast.walk(ast.parse(path.read_bytes()))
            if isinstance(node, ast.ImportFrom) and node.module is not None
        }
        if re.fullmatch(r"tests\..*\btest_\w+", name)
    ]
    assert wrong == [], "move what they share to a harness beside them, or to tests/support"


def modules_used_by(path: Path) -> Iterator[str]:
    """What it imports, or names in a string to import it later; a docstring is no use."""
    tree = ast.parse(path.read_bytes())
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (node.module, *(f"{node.module}.{each.name}" for each in node.names))
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in docstrings:
                yield from re.findall(r"fencepost_\w+(?:\.\w+)+", node.value)
        elif isinstance(node, ast.Call):
            yield from modules_of_an_api(node)


def modules_of_an_api(call: ast.Call) -> Iterator[str]:
    """A line of the registry names its handler and its check of rights by what is in `apis`."""
    apis = "fencepost_broker.apis"
    match call:
        case ast.Call(ast.Name("Later" | "OfBrokers"), [ast.Constant(str(handler)), *_]):
            yield f"{apis}.{handler}"
    for keyword in call.keywords:
        match keyword:
            case ast.keyword("rights", ast.Constant(str(check))):
                yield f"{apis}.authorization.{check.partition(':')[0]}"


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


def test_no_large_file_is_committed_by_accident() -> None:
    for folder in (*PARTS, "tests", "docs", "schemas", "examples"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and (is_ours(path) or "generated" in path.parts):
                assert path.stat().st_size <= FILE_BYTES_MAX, relative(path)
