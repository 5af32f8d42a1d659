"""The quick half of `make suites`: tests of other projects that take seconds, with one broker."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.conformance.suites.running import NETWORK_OF_ITS_OWN, REPOSITORY_DIR

pytestmark = pytest.mark.conformance

_KGO = "^Test(ShareGroup$|ShareGroupOffsets|SCRAM|OAuth|848|Pause|Direct|Issue[678]|.*Regex)"


@pytest.mark.parametrize(
    ("suite", "only"),
    [("franz-go, kadm", "."), ("franz-go, kgo", _KGO)],
    ids=["kadm", "kgo"],
)
def test_all_pass(suite: str, only: str) -> None:
    if subprocess.run([*NETWORK_OF_ITS_OWN, "true"], check=False).returncode != 0:
        pytest.skip("a process may not have a network of its own here")
    command = [sys.executable, "-m", "tests.conformance.suites"]
    done = subprocess.run(
        [*command, "--suite", suite, "--place", "fencepost", "--only", only],
        cwd=REPOSITORY_DIR,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    if "not run, " in done.stdout:
        pytest.skip(done.stdout.strip())
    passed = re.search(r": (\d+) of \d+ passed", done.stdout)
    assert passed, done.stdout
    assert int(passed[1]) > 10, done.stdout
