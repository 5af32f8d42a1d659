"""The fixture ``fencepost``, as a program's own tests have it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = "fencepost_broker.server.pytest_plugin"
TESTS = """
import sys, time
import pytest

def test_nothing_of_a_broker_is_imported_before_it_is_asked_for():
    assert "fencepost_broker.server.embedded" not in sys.modules

@pytest.mark.fencepost(topics={"orders": 3}, settings={"num.partitions": 7})
def test_the_mark_says_its_options(fencepost):
    assert fencepost.stats()["topics"].keys() == {"orders"}
    assert fencepost.settings.num_partitions == 7

def test_each_test_has_its_own(fencepost):
    assert not fencepost.stats()["topics"]

@pytest.mark.fencepost(clock="manual")
@pytest.mark.parametrize("days", [1, 2])
def test_a_clock_of_each_ones_own(fencepost, days):
    before = fencepost.clock.now_ms()
    assert before < time.time() * 1000 + 1000
    fencepost.clock.advance(days=days)
    assert fencepost.clock.now_ms() == before + days * 86_400_000

@pytest.mark.fencepost({"orders": 3})
def test_options_have_names(fencepost):
    pass
"""


def test_the_fixture_in_tests_of_ones_own(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    # From a checkout that is not installed the entry point is not there.
    named = [] if pytestconfig.pluginmanager.has_plugin("fencepost") else ["-p", PLUGIN]
    command = [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*command, *named, "test_it.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert "5 passed, 1 error" in ran.stdout, ran.stdout + ran.stderr
    assert 'options of @pytest.mark.fencepost need names, as topics={"orders": 3}' in ran.stdout
