"""What a test gets when it fails in a run with second tries (tests/support/second_tries.py)."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

from tests.support import inner_pytest
from tests.support.second_tries import NOTHING_LOST, RUNS_KEPT, TESTS_MAX

HERE = Path(__file__).parents[2]
OUT_OF_TIME = """
import asyncio, subprocess, time
import pytest

pytestmark = pytest.mark.slow
seen = set()

@pytest.fixture
def is_first(request):
    yield request.node.name not in seen
    seen.add(request.node.name)

def test_a_wait(is_first):
    if is_first:
        raise TimeoutError("no leader")

def test_a_wait_in_a_loop(is_first):
    async def wait():
        async with asyncio.timeout(0):
            await asyncio.Event().wait()
    if is_first:
        asyncio.run(wait())

def test_a_wait_for_a_process(is_first):
    if is_first:
        raise subprocess.TimeoutExpired(["true"], 1.0)

@pytest.mark.timeout(0.2)
def test_the_test_itself(is_first):
    if is_first:
        time.sleep(60)
"""
WRONG = """
import pytest

@pytest.mark.slow
def test_a_wrong_answer():
    assert "TimeoutError: " == "Timeout"

@pytest.mark.slow
def test_an_error_of_the_broker():
    raise KeyError("Request timed out")

def test_of_one_process():
    raise TimeoutError
"""
ONE_WAIT = OUT_OF_TIME.partition("def test_a_wait_in_a_loop")[0]


def run(folder: Path, source: str, file: str = "test_it.py") -> CompletedProcess[str]:
    return inner_pytest.run(folder, file, source, "--second-try", str(folder / "kept/tries.json"))


def kept(folder: Path) -> list[list[str]]:
    found: list[list[str]] = json.loads((folder / "kept/tries.json").read_text())
    return found


def test_a_time_limit_has_a_second_try_which_is_told_and_kept(tmp_path: Path) -> None:
    result = run(tmp_path, OUT_OF_TIME)
    assert result.returncode == 0, result.stdout
    assert "4 passed, 4 rerun" in result.stdout
    assert "failed at first: test_it.py::test_a_wait_in_a_loop" in result.stdout
    [names] = kept(tmp_path)
    assert [each.partition("::")[2] for each in names] == [
        "test_a_wait", "test_a_wait_for_a_process", "test_a_wait_in_a_loop", "test_the_test_itself",
    ]  # fmt: skip


def test_nothing_else_has_one(tmp_path: Path) -> None:
    result = run(tmp_path, WRONG)
    assert result.returncode == 1, result.stdout
    assert "3 failed" in result.stdout
    assert "rerun" not in result.stdout.splitlines()[-1]
    assert kept(tmp_path) == [[]]


def test_what_proves_that_nothing_is_lost_is_there() -> None:
    assert [path for path in NOTHING_LOST if not (HERE / path).exists()] == []


def test_what_proves_that_nothing_is_lost_has_none(tmp_path: Path) -> None:
    result = run(tmp_path, ONE_WAIT, "tests/kill/test_it.py")
    assert result.returncode == 1, result.stdout
    assert "rerun" not in result.stdout.splitlines()[-1]


def test_twice_in_ten_runs_is_a_failure(tmp_path: Path) -> None:
    name = "test_it.py::test_a_wait"
    (tmp_path / "kept").mkdir()
    for earlier, code in [
        ([[name], *[[]] * (RUNS_KEPT - 1)], 0),
        ([[], [name], *[[]] * (RUNS_KEPT - 2)], 1),
    ]:
        (tmp_path / "kept/tries.json").write_text(json.dumps(earlier))
        result = run(tmp_path, ONE_WAIT)
        assert result.returncode == code, result.stdout
        assert (f"{name} needed a second try before" in result.stdout) == bool(code)
        assert kept(tmp_path) == [*earlier[1:], [name]]


def test_too_many_in_one_run_are_a_failure(tmp_path: Path) -> None:
    many = f"""
@pytest.mark.parametrize("number", range({TESTS_MAX}))
def test_many(number, is_first):
    if is_first:
        raise TimeoutError
"""
    result = run(tmp_path, ONE_WAIT + many)
    assert f"{TESTS_MAX + 1} tests needed a second try" in result.stdout
    assert result.returncode == 1
