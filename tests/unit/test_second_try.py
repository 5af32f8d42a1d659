"""What a test gets when it fails at first in a run with second tries (tests/conftest.py)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SHARING = """
import pytest
import pytest_asyncio

made = {"plain": 0, "async": 0}

@pytest.fixture(scope="module")
def plain():
    made["plain"] += 1
    yield made["plain"]

@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def awaited():
    made["async"] += 1
    yield made["async"]

def test_before(plain, awaited):
    assert (plain, awaited) == (1, 1)

@pytest.mark.slow
def test_it(plain, awaited):
    assert (plain, awaited) == (2, 2)

def test_after(plain, awaited):
    assert (plain, awaited) == (2, 2)
"""
HOPELESS = """
def test_of_one_process():
    raise AssertionError
"""


def run(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(source)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow: slow\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    here = Path(__file__).parents[2]
    return subprocess.run(
        [*command, "--second-try", "--rootdir", str(folder), str(folder)],
        cwd=here, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_second_try_shares_nothing_with_the_first(tmp_path: Path) -> None:
    result = run(tmp_path, SHARING)
    assert "1 rerun" in result.stdout, result.stdout
    assert "failed at first: " in result.stdout, "and it is told"
    assert result.returncode == 0, result.stdout


def test_a_test_of_one_process_has_none(tmp_path: Path) -> None:
    result = run(tmp_path, HOPELESS)
    assert "rerun" not in result.stdout.splitlines()[-1]
    assert result.returncode == 1
