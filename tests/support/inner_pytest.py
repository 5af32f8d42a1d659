"""A pytest of its own, with the hooks of our conftest, on a file that a test has written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parents[2]
_INI: Final = """
[pytest]
asyncio_mode = strict
asyncio_default_fixture_loop_scope = function
markers = slow: slow
"""


def run(folder: Path, file: str, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the tests in ``source`` as ``file`` of an otherwise empty folder."""
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(source)
    (folder / "pytest.ini").write_text(_INI)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, *options, "--rootdir", folder, folder],
        cwd=_HERE, env=os.environ | {"COLUMNS": "300", "FENCEPOST_TEST_LOOPS": ""},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
