"""Commands whose output goes nowhere: a full disk, a closed pipe, or no standard output at all."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import pytest
from fencepost_broker.cli import main as cli
from fencepost_client.commands.output import write
from fencepost_protocol.commands import Command

FULL = Path("/dev/full")
SHORT, LONG = 1, 100_000
"""Characters: the short line is written when its buffer is flushed, after the command."""
BUFFERINGS = pytest.mark.parametrize("buffering", [-1, 0], ids=["buffered", "python -u"])


def printing(characters: int, code: int = 7) -> Command:
    def run(_: object) -> int:
        write("x" * characters)
        return code

    return Command("printing", "prints", lambda parser: None, run)


def stream(descriptor: int, buffering: int) -> TextIO:
    """One like Python's own, with or without -u."""
    file = os.fdopen(descriptor, "wb", buffering)
    return io.TextIOWrapper(file, "utf-8", write_through=buffering == 0)


Outcome = Callable[[TextIO | None, int], tuple[int, str]]


@pytest.fixture
def outcome(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Outcome:
    def run(stdout: TextIO | None, characters: int) -> tuple[int, str]:
        monkeypatch.setattr(cli, "_wanted", lambda given: [printing(characters)])
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stdout)
            code = cli.main(["printing"])
            assert sys.stdout is stdout
        if stdout is not None:
            stdout.close()
        return code, capsys.readouterr().err

    return run


@BUFFERINGS
@pytest.mark.parametrize("characters", [SHORT, LONG])
@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_in_one_line(characters: int, buffering: int, outcome: Outcome) -> None:
    descriptor = os.open(FULL, os.O_WRONLY)
    code, told = outcome(stream(descriptor, buffering), characters)
    assert code == 1
    assert told == (
        "fencepost printing: cannot write to standard output: No space left on device\n"
    )


@pytest.mark.parametrize("characters", [SHORT, LONG])
def test_an_output_that_is_closed_is_told_in_one_line(characters: int, outcome: Outcome) -> None:
    code, told = outcome(None, characters)
    assert code == 1
    assert told == "fencepost printing: cannot write to standard output: Bad file descriptor\n"


@BUFFERINGS
@pytest.mark.parametrize(
    ("characters", "codes"), [(SHORT, (7, 141)), (LONG, (141, 141))], ids=["short", "long"]
)
def test_a_reader_that_has_gone_is_no_fault(
    characters: int, codes: tuple[int, int], buffering: int, outcome: Outcome
) -> None:
    """The exit code is the command's own only if it has come to its end."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    code, told = outcome(stream(write_end, buffering), characters)
    assert (code, told) == (codes[buffering == 0], "")


def test_another_pipe_that_breaks_is_a_fault(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(_: object) -> int:
        raise BrokenPipeError

    command = Command("printing", "prints", lambda parser: None, run)
    monkeypatch.setattr(cli, "_wanted", lambda given: [command])
    assert cli.main(["printing"]) == 70
    assert "please report" in capsys.readouterr().err


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", ["--help", "config", "scenario list", "dissect --records 00"])
def test_so_do_all_commands(words: str) -> None:
    with FULL.open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "fencepost_broker", *words.split()],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.endswith("cannot write to standard output: No space left on device\n")
    assert len(done.stderr.splitlines()) == 1
