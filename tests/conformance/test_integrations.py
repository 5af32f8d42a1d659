"""The helpers in ``integrations/``: their own tests, run by the tools of Java, Node and Go."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.clients.clients import new_enough
from tests.support.apache_kafka import build_once

pytestmark = pytest.mark.conformance

FOLDER = Path(__file__).resolve().parents[2] / "integrations"
COMMAND = Path(sys.executable).with_name("fencepost")


def test_java_transaction_is_broken_and_healed() -> None:
    run("java", tool("mvn"), "-B", "test", ran=r"Tests run: [1-9]\d*, Failures: 0, Errors: 0")


def test_node_transaction_is_broken_and_healed() -> None:
    npm = tool("npm")

    def install(folder: Path) -> None:
        run(folder.name, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")

    packages = ["package.json", "package-lock.json"]
    build_once(FOLDER / "node", packages, "node_modules", install)
    run("node", tool("node"), "--test", "--test-reporter=tap", ran=r"# pass [1-9]")


def test_go_transaction_is_broken_and_healed() -> None:
    run("go", new_enough(tool("go")), "test", "-count=1", "-v", ".", ran="--- PASS")


def tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"there is no '{name}' on the PATH")
    return path


def run(folder: str, *command: str, ran: str = "") -> None:
    """Run the command, which must end with 0 and print the pattern."""
    done = subprocess.run(
        command,
        cwd=FOLDER / folder,
        env={**os.environ, "FENCEPOST": str(COMMAND)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    assert re.search(ran, done.stdout), done.stdout[-6000:]
