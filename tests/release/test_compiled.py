"""Builds with ``FENCEPOST_COMPILE=1``: what is compiled, and what says so."""

from __future__ import annotations

import ast
import importlib
import os
import runpy
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.cli import machine
from fencepost_broker.cli.main import main
from fencepost_broker.simulation.invariants import wrapped_functions

ROOT = Path(__file__).parents[2]
MODULES: tuple[str, ...] = runpy.run_path(str(ROOT / "broker/hatch_compile.py"))["MODULES"]
IS_COMPILED = os.environ.get("FENCEPOST_TEST_COMPILED") == "1"


def source_of(name: str) -> Path:
    part = name.partition(".")[0].removeprefix("fencepost_")
    return ROOT / part / f"{name.replace('.', '/')}.py"


@pytest.mark.parametrize("name", MODULES)
def test_a_listed_module_is_a_shared_object_in_a_compiled_build_only(name: str) -> None:
    file = str(importlib.import_module(name).__file__)
    assert file.endswith(tuple(EXTENSION_SUFFIXES) if IS_COMPILED else ".py")


def test_newer_versions_of_python_compile_it_too(tmp_path: Path) -> None:
    """The build goes by the types that its own version's libraries have."""
    files = [str(source_of(name)) for name in MODULES]
    options = ["--python-version=3.14", "--follow-imports=silent", f"--cache-dir={tmp_path}"]
    found = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *files], cwd=ROOT, capture_output=True, text=True
    )
    assert not found.returncode, found.stdout + found.stderr


def test_the_version_says_which_build_this_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    told = "compiled" if IS_COMPILED else "pure Python"
    assert capsys.readouterr().err.endswith(f" ({told})\n")
    assert machine.build().what == told


def test_the_list_has_the_modules_that_tell_the_build() -> None:
    assert set(machine._COMPILED.values()) <= set(MODULES)


@pytest.mark.parametrize("compiled", ["fencepost", "fencepost-client"])
def test_one_compiled_distribution_is_named(monkeypatch: pytest.MonkeyPatch, compiled: str) -> None:
    module = machine._COMPILED[compiled]
    monkeypatch.setattr(machine, "is_compiled", lambda name: name == module)
    assert machine.build_name() == f"{compiled} is compiled, the rest is pure Python"


def parents_of_others(path: Path) -> list[str]:
    """The classes of listed modules from which classes of this file inherit."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in MODULES
        for alias in node.names
    }
    bases = [
        ast.unparse(base).partition("[")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for base in node.bases
    ]
    return [name for name in bases if name in imported]


@pytest.mark.parametrize("name", MODULES)
def test_no_listed_module_has_a_coroutine(name: str) -> None:
    """A compiled one passes exceptions on in a way that Python 3.12 and later warn of."""
    kinds = {
        type(node) for node in ast.walk(ast.parse(source_of(name).read_text(encoding="utf-8")))
    }
    assert not kinds & {ast.AsyncFunctionDef, ast.Await}


def test_no_interpreted_class_inherits_from_a_listed_module() -> None:
    """A compiled build refuses it, for protocols too: such modules are not to be listed."""
    wrong = {}
    for part in ("protocol", "client", "broker", "pipeline"):
        for path in (ROOT / part).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT / part).with_suffix("").parts)
            if name not in MODULES and (found := parents_of_others(path)):
                wrong[name] = found
    assert wrong == {}


def test_the_simulator_wraps_no_function_of_a_listed_module() -> None:
    """Compiled callers would go past what it puts there, and it would find nothing wrong."""
    by: Any = None
    wrapped = wrapped_functions(by)
    homes = {getattr(owner, "__module__", owner.__name__) for owner, _, _ in wrapped}
    assert "fencepost_broker.storage.log.appending" in homes
    assert homes.isdisjoint(MODULES)
