"""Both distributions, installed from dist/ in environments that have nothing else."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.release.every_command import Installed, use_each

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
MEGABYTES_MAX = 15
VERSIONS = os.environ.get("FENCEPOST_TEST_VERSIONS", "3.11").split()

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("FENCEPOST_TEST_DIST"),
        reason="make dist-test has it: it installs packages",
    ),
    pytest.mark.timeout(900),  # each waits for a registry, and compiles what it has installed
]

SDK = """
import asyncio, sys
from fencepost_client import Consumer, Producer, TopicPartition

async def main(bootstrap):
    async with Producer(bootstrap) as producer:
        await producer.send("orders", b"42")
    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([TopicPartition("orders", 0)])
        async for record in consumer:
            return print(record.value, record.topic)

asyncio.run(main(sys.argv[1]))
"""


def python_of(version: str, folder: Path) -> Path | None:
    """Make an environment of this version, if it is installed here."""
    found = subprocess.run(
        [ROOT / ".ci/find-python", version], capture_output=True, text=True, check=False
    ).stdout.strip()
    if not found:
        return None
    subprocess.run([found, "-m", "venv", folder], check=True)
    return folder / "bin/python"


def install(python: Path, name: str) -> None:
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--find-links", DIST, name], check=True
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_every_command_of_an_installation(version: str, tmp_path: Path) -> None:
    python = python_of(version, tmp_path / "environment")
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    install(python, "fencepost")
    environment = {"HOME": str(tmp_path), "PATH": ""}
    use_each(Installed([str(python.parent / "fencepost")], environment, tmp_path))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_client_alone(version: str, tmp_path: Path) -> None:
    python = python_of(version, tmp_path / "environment")
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    install(python, "fencepost-client")
    broker = Installed([str(ROOT / ".venv/bin/fencepost")], dict(os.environ), tmp_path)
    with broker.serving("up", "--port", "0", "--topic", "orders:1") as told:
        done = subprocess.run(
            [python, "-c", SDK, told["bootstrap"]], cwd=tmp_path, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
    assert done.stdout == "b'42' orders\n"
    listed = subprocess.run(
        [python, "-m", "pip", "list"], check=True, capture_output=True, text=True
    ).stdout
    assert "uvloop" not in listed
    assert "aiohttp" not in listed


def test_an_installation_from_sdists_has_what_the_wheels_have(tmp_path: Path) -> None:
    python = python_of("3.11", tmp_path / "environment")
    assert python is not None
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--find-links", DIST,
         "--no-binary", "fencepost,fencepost-client", *DIST.glob("fencepost-*.tar.gz")],
        check=True,
    )  # fmt: skip
    (packages,) = (tmp_path / "environment/lib").glob("*/site-packages")
    installed = {
        path.relative_to(packages).as_posix()
        for path in packages.glob("fencepost_*/**/*")
        if path.is_file() and path.suffix != ".pyc" and ".dist-info" not in path.parts[-2]
    }
    in_wheels = {
        name
        for wheel in DIST.glob("*.whl")
        for name in zipfile.ZipFile(wheel).namelist()
        if ".dist-info/" not in name
    }
    assert {name for name in installed if ".dist-info/" not in name} == in_wheels
    fencepost = Installed([str(python.parent / "fencepost")], {"PATH": ""}, tmp_path)
    with fencepost.serving("up", "--port", "0", "--topic", "orders:1") as told:
        assert told["bootstrap"]


@pytest.mark.parametrize(
    "words",
    [
        ["tool", "run", "--find-links", DIST, "--from", "{wheel}", "fencepost"],
        ["tool", "run", "pipx", "run", "--spec", "{wheel}", f"--pip-args=--find-links {DIST}",
         "fencepost"],
    ],
    ids=["uvx", "pipx run"],
)  # fmt: skip
def test_it_runs_without_an_installation(words: list[str | Path], tmp_path: Path) -> None:
    (wheel,) = DIST.glob("fencepost-*.whl")
    command = [str(each).format(wheel=wheel) for each in words]
    own = {
        name: str(tmp_path / name)
        for name in ("UV_CACHE_DIR", "UV_TOOL_DIR", "PIPX_HOME", "PIPX_BIN_DIR")
    }
    runner = Installed([str(ROOT / ".venv/bin/uv"), *command], {**os.environ, **own}, tmp_path)
    with runner.serving("up", "--port", "0", "--topic", "orders:1") as told:
        assert told["bootstrap"]


def test_what_an_installation_downloads(tmp_path: Path) -> None:
    python = python_of("3.11", tmp_path / "environment")
    assert python is not None
    subprocess.run(
        [python, "-m", "pip", "download", "--quiet", "--find-links", DIST, "--dest", "downloaded",
         "fencepost"],
        check=True, cwd=tmp_path,
    )  # fmt: skip
    sizes = {each.name: each.stat().st_size for each in (tmp_path / "downloaded").iterdir()}
    total = sum(sizes.values())
    print(*(f"{size:>9} {name}" for name, size in sorted(sizes.items())), total, sep="\n")
    assert total <= MEGABYTES_MAX * 1_000_000
