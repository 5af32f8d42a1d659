"""The structure of the code, counted: `make structure`. `tests/unit/test_structure.py` holds it.

Imports are those of modules, of functions, for type checkers, and of names in strings (handlers
that are imported later).
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
PARTS: Final = ("protocol", "client", "broker", "pipeline")
ROOMS: Final = (
    "cli", "server", "network", "apis", "coordinator", "replication", "controller",
    "observability", "metadata", "storage", "config", "security", "ports",
)  # fmt: skip
"""The broker's, from the top down: a room imports those behind it."""
_BROKER: Final = "fencepost_broker"
_DOTTED: Final = re.compile(r"fencepost_\w+(\.\w+)+")
_OF_NAMED_TUPLES: Final = "replace|asdict|fields|make"
"""Public, in spite of their names; and so is ``os._exit``."""
PRIVATE: Final = re.compile(
    rf"\b(?!self\b|cls\b|os\b)\w+(?:\(\))?\._(?!(?:{_OF_NAMED_TUPLES})\b)[a-z]\w*"
)


class LargestClass(NamedTuple):
    """The class of the broker with the most public members."""

    name: str
    members: int


def modules() -> dict[str, Path]:
    """Every hand-written module of the product, by its dotted name."""
    found = {}
    for part in PARTS:
        for path in (ROOT / part).rglob("*.py"):
            if "generated" not in path.parts:
                name = ".".join(path.relative_to(ROOT / part).with_suffix("").parts)
                found[name.removesuffix(".__init__")] = path
    return found


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(known: dict[str, Path]) -> dict[str, set[str]]:
    """What each module imports of the others."""
    found: dict[str, set[str]] = {}
    for name, path in known.items():
        named = _named_in(_tree(path))
        found[name] = {each for each in named if each in known} - {name}
    return found


def _named_in(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value if _DOTTED.fullmatch(node.value) else ""
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            first = node.args[0] if node.func.id in ("Later", "OfBrokers") else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield f"{_BROKER}.apis.{first.value}"


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Sets of modules that import each other; a package and its own modules do not count."""
    # A submodule's import of a name that its package gives on is an import of the package.
    trimmed = {
        name: {each for each in wanted if not name.startswith(f"{each}.")}
        for name, wanted in graph.items()
    }
    reach: dict[str, set[str]] = {}
    for name in trimmed:
        seen: set[str] = set()
        left = list(trimmed[name])
        while left:
            each = left.pop()
            if each not in seen:
                seen.add(each)
                left += trimmed[each]
        reach[name] = seen
    found: list[set[str]] = []
    for name, seen in reach.items():
        if name in seen and not any(name in circle for circle in found):
            found.append({each for each in seen if name in reach[each]})
    return found


def arrows(graph: dict[str, set[str]]) -> dict[tuple[str, str], int]:
    """From room to room of the broker, with how many imports each stands for."""
    found: dict[tuple[str, str], int] = {}
    for name, wanted in graph.items():
        for each in wanted:
            here, there = _room(name), _room(each)
            if here is not None and there is not None and here != there:
                found[here, there] = found.get((here, there), 0) + 1
    return found


def _room(name: str) -> str | None:
    package, _, rest = name.partition(".")
    room = rest.split(".", 1)[0]
    return room if package == _BROKER and room in ROOMS else None


def upward(found: dict[tuple[str, str], int]) -> list[tuple[str, str]]:
    """The arrows that go up."""
    return [(a, b) for a, b in found if ROOMS.index(a) > ROOMS.index(b)]


def entries() -> dict[str, int]:
    """How many modules and folders each room of the broker has, and its root (``""``)."""
    root = ROOT / "broker" / _BROKER
    folders = {"": root, **{room: root / room for room in ROOMS if (root / room).is_dir()}}
    return {
        name: sum(
            each.suffix == ".py" or (each.is_dir() and any(each.glob("*.py")))
            for each in folder.iterdir()
        )
        for name, folder in folders.items()
    }


def largest_class() -> LargestClass:
    """The class of the broker with the most public methods and attributes of its own."""
    found = [
        LargestClass(node.name, len(_members(node)))
        for name, path in modules().items()
        if name.startswith(_BROKER) and not name.startswith(f"{_BROKER}.config")
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ClassDef)
    ]
    return max(found, key=lambda each: each.members)


def _members(cls: ast.ClassDef) -> set[str]:
    names: set[str] = set()
    for node in cls.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    names.update(
        each.attr
        for each in ast.walk(cls)
        if isinstance(each, ast.Attribute)
        and isinstance(each.ctx, ast.Store)
        and isinstance(each.value, ast.Name)
        and each.value.id == "self"
    )
    return {each for each in names if not each.startswith("_")}


def proxies() -> list[str]:
    """Classes of the broker that stand for another object by ``__getattr__``."""
    return [
        f"{name}.{node.name}"
        for name, path in modules().items()
        if name.startswith(_BROKER)
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(each, ast.FunctionDef) and each.name == "__getattr__"
                for each in node.body)
    ]  # fmt: skip


def private_looks() -> int:
    """How often tests look at what is private in what they test."""
    return sum(
        len(PRIVATE.findall(path.read_text(encoding="utf-8")))
        for path in (ROOT / "tests").rglob("test_*.py")
    )


def main() -> None:
    """Print all of it."""
    known = modules()
    graph = imports(known)
    between = arrows(graph)
    print(f"{len(known)} modules")
    for name, count in sorted(entries().items(), key=lambda each: -each[1]):
        print(f"{count:5} entries in {name or 'the root of the broker'}")
    print(f"{len(between)} arrows between rooms, {len(upward(between))} upward")
    print(f"{len(circles(graph))} circles of imports")
    name, members = largest_class()
    print(f"{members} public members in the largest class, {name}")
    print(f"{len(proxies())} proxies by __getattr__: {', '.join(proxies())}")
    print(f"{private_looks()} looks of tests into privates")


if __name__ == "__main__":
    main()
