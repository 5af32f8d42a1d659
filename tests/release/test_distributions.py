"""The two distributions: their files, what each needs, and that the client needs no broker."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path
from typing import Any

import pytest
from fencepost_protocol import __version__
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]
SOURCES = {
    "fencepost": {"broker/fencepost_broker": "", "pipeline/fencepost_pipeline": ""},
    "fencepost-client": {
        "client/fencepost_client": "",
        "protocol/fencepost_protocol": "",
        "schemas": "fencepost_protocol/",
    },
}
"""The folders of each distribution, and where its wheel has them."""


def released(project: Path, folder: Path) -> Path:
    """Build an sdist and from it a wheel, as `make dist` does."""
    [sdist] = SdistBuilder(str(project)).build(directory=str(folder), versions=["standard"])
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    unpacked = folder / "unpacked" / Path(sdist).name.removesuffix(".tar.gz")
    [wheel] = WheelBuilder(str(unpacked)).build(directory=str(folder), versions=["standard"])
    return Path(wheel)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("dist")
    return {
        name: released(project, folder)
        for name, project in {"fencepost": ROOT, "fencepost-client": ROOT / "client"}.items()
    }


def files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def committed(source: str, prefix: str) -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", source],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    parent = Path(source).parent
    return {f"{prefix}{Path(path).relative_to(parent)}" for path in listed}


def needed(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [each for each in archive.namelist() if each.endswith(".dist-info/METADATA")]
        metadata = message_from_string(archive.read(name).decode())
    return [each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each]


@pytest.mark.parametrize("name", SOURCES)
def test_a_wheel_has_the_committed_files_of_its_folders(wheels: dict[str, Path], name: str) -> None:
    expected = set[str]()
    for source, prefix in SOURCES[name].items():
        expected |= committed(source, prefix)
    assert files(wheels[name]) == expected


def test_only_the_broker_needs_the_client(wheels: dict[str, Path]) -> None:
    assert f"fencepost-client=={__version__}" in needed(wheels["fencepost"])
    assert not [each for each in needed(wheels["fencepost-client"]) if "fencepost" in each]


def test_a_checkout_needs_what_its_client_needs() -> None:
    def dependencies(path: str) -> list[str]:
        content: dict[str, Any] = tomllib.loads((ROOT / path).read_text(encoding="utf-8"))
        found: list[str] = content["project"]["dependencies"]
        return found

    client = dependencies("client/pyproject.toml")
    assert client
    assert set(client) <= set(dependencies("pyproject.toml"))


def test_the_client_works_without_a_broker_and_its_needs(
    wheels: dict[str, Path], tmp_path: Path
) -> None:
    with zipfile.ZipFile(wheels["fencepost-client"]) as archive:
        archive.extractall(tmp_path)
    script = """
import sys
allowed = {"construct", "crc32c", "cramjam", "msgspec", "backports", "compression"}
class Finder:
    def find_spec(self, name, path=None, target=None):
        first = name.partition(".")[0]
        if first in sys.stdlib_module_names or first.startswith("fencepost_") or first in allowed:
            return None
        raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Finder())
import fencepost_client, fencepost_client.blocking
for name in fencepost_client.__all__:
    getattr(fencepost_client, name)
from fencepost_protocol.dissect import command
from fencepost_protocol.records.compression import Compression, compress, decompress
from fencepost_protocol.schema.files import load_all
for codec in Compression:
    assert decompress(codec, compress(codec, b"x" * 100)) == b"x" * 100
assert load_all()
assert "fencepost_broker" not in sys.modules
print(fencepost_client.__file__)
"""
    third_party = sysconfig.get_path("purelib")
    # -S: the site would add this checkout, whose editable installation is in that folder.
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        env={"PYTHONPATH": f"{tmp_path}:{third_party}"},
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) in done.stdout
