"""What installing Fencepost brings along has a licence that its users expect."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOL = ROOT / ".ci/licences.py"


def told_of(*names: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, TOOL, *names], capture_output=True, text=True, timeout=120, check=False
    )


def test_each_licence_is_one_that_is_allowed() -> None:
    told = told_of("--installed")
    assert told.returncode == 0, told.stdout
    names = {line.partition(" ")[0] for line in told.stdout.splitlines()}
    assert names >= {"aiohttp", "yarl", "numpy", "pyspark", "cffi"}, "with extras of users"
    assert not names & {"pytest", "mkdocs", "twine", "aiokafka"}, "without those of developers"


def package(folder: Path, name: str, *lines: str) -> None:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    head = ("Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0")
    (info / "METADATA").write_text("\n".join((*head, *lines)) + "\n")


def test_other_licences_are_refused(tmp_path: Path) -> None:
    package(tmp_path, "choice", "License-Expression: GPL-3.0-only OR MIT")
    package(tmp_path, "both", "License-Expression: GPL-3.0-only AND MIT")
    package(tmp_path, "old", "Classifier: License :: OSI Approved :: MIT License")
    package(tmp_path, "silent")
    told = subprocess.run(
        # With the standard library alone, as in the environment of the single file.
        [sys.executable, "-S", TOOL, "choice", "both", "old", "silent"],
        capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert told.returncode == 1
    assert told.stdout.splitlines()[:4] == [
        "both 1.0: GPL-3.0-only AND MIT IS NOT ALLOWED",
        "choice 1.0: GPL-3.0-only OR MIT",
        "old 1.0: MIT",
        "silent 1.0: none IS NOT ALLOWED",
    ]
