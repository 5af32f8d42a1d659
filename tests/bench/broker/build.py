"""Compiles the clients that are not ours, on first use."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.support.apache_kafka import build_once

BENCH_DIR: Final = Path(__file__).parent
NATIVE_DIR: Final = BENCH_DIR / "native"
GO_DIR: Final = BENCH_DIR / "go"
REQUIREMENTS: Final = "requirements.txt"
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


def go_program() -> Path:
    """franz-go as a client, and kfake (go/)."""
    program = GO_DIR / "target" / "bench"
    go = find_tool("go", "Go, 1.26 or later")

    def compile_(folder: Path) -> None:
        run_build([go, "build", "-o", str(program), "."], folder)

    sources = ["go.mod", "go.sum", *sorted(path.name for path in GO_DIR.glob("*.go"))]
    build_once(GO_DIR, sources, "target", compile_)
    return program


def librdkafka_python() -> str:
    """A Python that has librdkafka, in an environment of its own (.venv-librdkafka)."""
    environment = BENCH_DIR / ".venv-librdkafka"
    python = str(environment / "bin" / "python")

    def install(folder: Path) -> None:
        run_build([sys.executable, "-m", "venv", str(environment)], folder)
        run_build([python, "-m", "pip", "install", "-q", "-r", REQUIREMENTS], folder)

    build_once(BENCH_DIR, [REQUIREMENTS], environment.name, install)
    return python


def librdkafka_version() -> str:
    """Which one that is."""
    text = (BENCH_DIR / REQUIREMENTS).read_text(encoding="utf-8")
    return text.rpartition("==")[2].strip()


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
