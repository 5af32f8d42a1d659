"""``fencepost doctor``: each check sees what is wrong; the exit code says whether it matters."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

import pytest
from fencepost_broker.cli import machine
from fencepost_broker.cli.main import main


def test_all_is_well_with_a_machine_that_runs_the_tests(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(machine, "FILES_MIN", 1)
    assert main(["doctor", "--port", "0", "--data-dir", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {each["part"] for each in found} == set(machine.PARTS)
    assert not [each for each in found if each["part"] == "broker" and each["to_do"]]


def test_a_port_that_is_taken_is_a_problem(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert main(["doctor", "--part", "broker", "--port", str(port)]) == 1
    [line] = [each for each in capsys.readouterr().out.splitlines() if each.startswith("  port")]
    assert f"127.0.0.1:{port}" in line
    assert "to do: end what listens there" in line


def test_what_only_other_parts_need_is_no_problem_of_a_broker(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "FILES_MIN", 1)
    monkeypatch.setenv("PATH", "")
    assert main(["doctor", "--port", "0"]) == 0
    assert "apt-get install tshark" in capsys.readouterr().out
    assert main(["doctor", "--part", "conformance"]) == 1


def test_an_old_python() -> None:
    assert machine.python((3, 11, 0)).to_do == ""
    assert "3.11" in machine.python((3, 10, 9)).to_do


def test_a_package_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "crc32c", None)
    assert "crc32c" in machine.packages().what
    assert "pip install" in machine.packages().to_do


def test_the_loop_without_uvloop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    assert "asyncio's own" in machine.loop().what


@pytest.mark.parametrize(
    ("soft", "hard", "to_do"),
    [
        (machine.FILES_MIN, machine.FILES_MIN, ""),
        (None, None, ""),
        (256, machine.FILES_MIN, "ulimit -n 1024"),
        (256, 256, "ulimit -n 1024, after root has raised the hard limit"),
    ],
)
def test_the_limit_of_open_files(
    monkeypatch: pytest.MonkeyPatch, soft: int | None, hard: int | None, to_do: str
) -> None:
    resource = pytest.importorskip("resource", reason="Windows has no limits")
    limits = [resource.RLIM_INFINITY if each is None else each for each in (soft, hard)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    assert machine.open_files().to_do == to_do


def test_a_clock_that_was_never_set() -> None:
    assert machine.clock(0.0).to_do
    assert not machine.clock(1_800_000_000.0).to_do


def test_a_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not machine.disk(tmp_path / "not" / "made").to_do
    monkeypatch.setattr(machine, "FREE_BYTES_MIN", 1 << 80)
    assert "make room" in machine.disk(tmp_path).to_do
    assert "written" in machine.disk(Path("/proc")).to_do


def test_a_page_without_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    from fencepost_broker.server.control import console

    monkeypatch.setattr(console, "_FOLDER", Path("/nowhere"))
    [found] = machine.findings(machine.Wanted(0, "."), ["console"])
    assert "index.html" in found.what
    assert found.to_do
