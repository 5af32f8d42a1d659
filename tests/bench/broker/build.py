"""Compiles the clients that are not ours, on first use."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

from tests.support.apache_kafka import build_once

BENCH_DIR: Final = Path(__file__).parent
NATIVE_DIR: Final = BENCH_DIR / "native"
C_FLAGS: Final = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror")


class MissingToolError(Exception):
    """Something that the benchmark needs is not installed; says what."""


class BuildError(Exception):
    """A compiler refused."""


def find_tool(command: str, what: str) -> str:
    """The path of a command; raises MissingToolError when there is none."""
    path = shutil.which(command)
    if path is None:
        raise MissingToolError(f"the benchmark needs {what}: there is no '{command}' on the PATH")
    return path


def loader_program() -> Path:
    """The program that replays frames (native/loader.c)."""
    program = NATIVE_DIR / "target" / "loader"

    def compile_(folder: Path) -> None:
        program.parent.mkdir()
        compiler = find_tool("cc", "a C compiler")
        run_build([compiler, *C_FLAGS, "-o", str(program), "loader.c"], folder)

    build_once(NATIVE_DIR, ["loader.c"], "target", compile_)
    return program


def run_build(command: list[str], folder: Path) -> None:
    """Runs a compiler; raises BuildError with what it said."""
    result = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if result.returncode != 0:
        raise BuildError(f"'{' '.join(command)}' failed in {folder}:\n{result.stdout[-4000:]}")
