"""Makes all that a release publishes, in dist/release, and publishes nothing: `make release`.

Wheels, sdists, the single file and the image are built twice, and have to be equal byte by byte.
"""

from __future__ import annotations

import argparse
import filecmp
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "build/release"
SOURCE = BUILT / "source"
"""A copy of the committed files as they are now: both builds have the same."""
OUT = ROOT / "dist/release"
REPRODUCIBLE = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
COMPILED = {"FENCEPOST_COMPILE": "1", "MYPYPATH": f"{SOURCE}/protocol:{SOURCE}/client"}
"""For wheels that are compiled for this system; the broker's needs the client's types."""
UNRELEASED = "Unreleased"


def main() -> int:
    """Build, compare, describe."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="the Python that the single file has")
    python = parser.parse_args().python
    version = read_version()
    for folder in (BUILT, OUT):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    changes = changes_of(version)
    copy_source()
    first, second = (build(python, BUILT / name) for name in ("first", "second"))
    names = sorted(str(path.relative_to(first)) for path in first.rglob("*") if path.is_file())
    _, different, missing = filecmp.cmpfiles(first, second, names, shallow=False)
    if different or missing:
        print(f"not reproducible: {', '.join(different + missing)}")
        return 1
    for name in names:
        shutil.copy(first / name, OUT / Path(name).name)
    (OUT / "CHANGES.md").write_text(changes, encoding="utf-8")
    inside = environment_of_the_file(python, first)
    run(inside, ROOT / ".ci/licences.py")
    in_file = packages_of(
        sorted((BUILT / "first-binary/frozen/fencepost/_internal").glob("lib*.so*"))
    )
    in_image = packages_of(outside_of_the_file(BUILT / "first-image/root"))
    libraries = in_image | in_file
    (OUT / "fencepost.cdx.json").write_text(
        sbom(inside, in_file, in_image, version), encoding="utf-8"
    )
    (OUT / "LICENSES.txt").write_text(licences(inside, libraries), encoding="utf-8")
    published = sorted(path for path in OUT.iterdir())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in published]
    (OUT / "SHA256SUMS").write_text("".join(sums))
    print(f"version {version}, in {OUT.relative_to(ROOT)}, built twice with the same bytes:")
    print("".join(sums), end="")
    return 0


def copy_source() -> None:
    """Copy what git knows."""
    for name in run("git", "ls-files").splitlines():
        (SOURCE / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, SOURCE / name)


def read_version() -> str:
    """Return the version, which both distributions have."""
    text = (ROOT / "protocol/fencepost_protocol/__init__.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "(.+)"', text)
    assert found
    return found[1]


def changes_of(version: str) -> str:
    """Return the changelog's section for this version, or the unreleased one."""
    sections: dict[str, str] = {}
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        sections[heading.strip("[] ").partition("]")[0]] = body.strip() + "\n"
    if version not in sections:
        print(f"CHANGELOG.md has no section {version}: taking {UNRELEASED}, as for a trial")
    return sections.get(version) or sections[UNRELEASED]


def build(python: str, folder: Path) -> Path:
    """Build wheels, compiled ones too, sdists, the single file and the image in this folder."""
    folder.mkdir()
    for project in (SOURCE, SOURCE / "client"):
        run(sys.executable, "-m", "build", "--outdir", folder, project)
    run(
        sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder / "compiled",
        *sorted(folder.glob("*.tar.gz")), added=COMPILED,
    )  # fmt: skip
    binary, image = (folder.with_name(f"{folder.name}-{what}") for what in ("binary", "image"))
    run(
        sys.executable, SOURCE / ".ci/binary/build.py", "--python", python, "--wheels", folder,
        "--work", binary, "--out", folder / "fencepost",
    )  # fmt: skip
    run(
        sys.executable, SOURCE / ".ci/image/build.py", "--frozen", binary / "frozen/fencepost",
        "--work", image, "--out", folder / "fencepost-image.tar",
    )  # fmt: skip
    return folder


def run(*words: str | Path, added: dict[str, str] | None = None) -> str:
    """Run a command, and return what it prints."""
    environment = REPRODUCIBLE | (added or {})
    done = subprocess.run(
        words, check=False, capture_output=True, text=True, env=environment, cwd=ROOT
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def environment_of_the_file(python: str, wheels: Path) -> Path:
    """Return a Python that has the packages of the single file, and no others."""
    folder = BUILT / "inside"
    run(python, "-m", "venv", "--without-pip", folder)
    run(
        sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--constraint",
        ROOT / ".ci/binary/requirements.txt", *sorted(wheels.glob("*.whl")),
    )  # fmt: skip
    return folder / "bin/python"


def packages_of(paths: Iterable[Path]) -> dict[str, str]:
    """Return the names of files that come from this system, each with Debian's package."""
    found = {}
    for path in paths:
        if path.name.startswith("libpython"):
            continue
        listed = subprocess.run(
            ["dpkg", "--search", f"*/{path.name}"], check=False, capture_output=True, text=True
        ).stdout
        found[path.name] = listed.partition(":")[0] or "unknown"
    return found


def outside_of_the_file(root: Path) -> list[Path]:
    """Return the programs and libraries of the image that are not the single file's."""
    libraries = [each for each in root.glob("lib*/**/*.so*") if each.is_file()]
    programs = [root / "bin/bash-static", root / "bin/busybox"]
    return sorted([*libraries, *programs])


def sbom(python: Path, in_file: dict[str, str], in_image: dict[str, str], version: str) -> str:
    """Return the CycloneDX list: packages and CPython, libraries, and what only the image has."""
    told: dict[str, Any] = json.loads(
        run(sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible",
            "--pyproject", ROOT / "pyproject.toml", "--output-format", "JSON", python)
    )  # fmt: skip
    told["metadata"]["component"]["version"] = version
    cpython = run(python, "-c", "import platform; print(platform.python_version())").strip()
    told["components"].append({"type": "framework", "name": "CPython", "version": cpython})
    for name, package in (in_image | in_file).items():
        listed = subprocess.run(
            ["dpkg-query", "--showformat", "${Version}", "--show", package],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        component = {"type": "library", "name": name, "version": listed.stdout or "unknown"}
        where = "in the file and the image" if name in in_file else "only in the image"
        description = f"of Debian's package {package}, {where}"
        told["components"].append(component | {"description": description})
    return json.dumps(told, indent=2) + "\n"


def licences(python: Path, libraries: dict[str, str]) -> str:
    """Return the licence texts of all that is in the single file and the image."""
    texts: dict[str, str] = {}
    [packages] = python.parents[1].glob("lib/python*/site-packages")
    for info in sorted(packages.glob("*.dist-info")):
        files = sorted(
            path
            for path in info.rglob("*")
            if re.match(r"(?i)licen[cs]e|copying|notice|authors", path.name) and path.is_file()
        )
        texts[info.name.removesuffix(".dist-info")] = joined(files)
    prefix = Path(run(python, "-c", "import sys; print(sys.base_prefix)").strip())
    texts["CPython"] = joined(sorted(prefix.glob("lib/python3.*/LICENSE.txt"))[:1])
    for package in sorted(set(libraries.values())):
        texts[f"Debian's {package}"] = joined([Path(f"/usr/share/doc/{package}/copyright")])
    without = [name for name, text in texts.items() if not text.strip()]
    if without:
        print(f"without a licence text: {', '.join(without)}")
    return "\n".join(f"=== {name} ===\n\n{text.strip()}\n" for name, text in texts.items())


def joined(paths: list[Path]) -> str:
    """Return the files' texts."""
    return "\n".join(path.read_text(errors="replace") for path in paths if path.is_file())


if __name__ == "__main__":
    sys.exit(main())
