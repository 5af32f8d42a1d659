"""Takes guards out of a copy of the broker, one at a time; simulations have to notice each.

    python -m tests.mutations.campaign --page docs/proofs/mutations.md

A mutation whose line is no longer in the sources ends the campaign: it has to be written anew. The
sources themselves are never changed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.mutations.mutations import MUTATIONS, Mutation

_ROOT: Final = Path(__file__).resolve().parents[2]
_PACKAGE: Final = "fencepost_broker"
_WITHIN_S: Final = 600
_HEAD: Final = """\
# Mutations: guards taken out, and found

Each row is the broker without one of its guards. A simulation runs with seed after seed until it
fails. `zombies` sends what a network delivers late or twice (`tests/mutations/zombies.py`), and
`late brokers` does that between brokers (`tests/mutations/late_brokers.py`). `power cuts` and
`transactions without power` have one broker, whose power is cut and whose syncs fail. The other
programs are those of `fencepost simulate`, with three brokers and faults. The changes are applied
to a copy of the sources: `tests/mutations/mutations.py` has them all.

Written by `make mutations`.

"""


class Found(NamedTuple):
    """What became of a mutation."""

    mutation: Mutation
    program: str
    """The program that has found it, or all that have not."""
    seeds: int
    verdict: str
    is_found: bool


class StaleMutationError(Exception):
    """The line that a mutation changes is not in its file, or there several times."""


def apply(mutation: Mutation, package: Path) -> None:
    """Change a copy of the package."""
    path = package / mutation.file
    text = path.read_text()
    if text.count(mutation.old) != 1:
        raise StaleMutationError(
            f"{mutation.guard}: {mutation.file} has {text.count(mutation.old)} times:"
            f" {mutation.old!r}"
        )
    changed = text.replace(mutation.old, mutation.new)
    compile(changed, str(path), "exec")
    path.write_text(changed)


def hunt(mutation: Mutation, seeds: int) -> Found:
    """Run the mutation's programs until one finds it."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / _PACKAGE
        ignored = shutil.ignore_patterns("static")
        shutil.copytree(_ROOT / "broker" / _PACKAGE, package, ignore=ignored)
        apply(mutation, package)
        for program in mutation.programs:
            told = _run(program, seeds, folder)
            if told["verdict"] != "ok":
                return Found(mutation, program, told["seeds"], told["verdict"], is_found=True)
    return Found(mutation, ", ".join(mutation.programs), seeds, mutation.reason, is_found=False)


def _run(program: str, seeds: int, folder: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.mutations.hunt", program, str(seeds)]
    paths = os.pathsep.join((folder, str(_ROOT)))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, check=False,
            timeout=_WITHIN_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"verdict": f"it runs for more than {_WITHIN_S} s", "seeds": 1}
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        raise RuntimeError(f"the program does not run: {done.stderr}")
    told: dict[str, Any] = json.loads(lines[-1])
    if not told["sources"].startswith(folder):
        raise RuntimeError(f"the copy was not used, but {told['sources']}")
    return told


def page(results: Sequence[Found]) -> str:
    """Return the page for the documentation."""
    found = [each for each in results if each.is_found]
    lines = [
        f"{len(found)} of {len(results)} were found.",
        "",
        "| guard | found by | seeds | how |",
        "| --- | --- | ---: | --- |",
    ]
    lines += [
        f"| {each.mutation.guard} | {each.program} | {each.seeds} | {_cell(each.verdict)} |"
        for each in found
    ]
    missed = [each for each in results if not each.is_found]
    if missed:
        lines += ["", "## Not found", "", "| guard | programs | seeds | why |"]
        lines += ["| --- | --- | ---: | --- |"]
        lines += [
            f"| {each.mutation.guard} | {each.program} | {each.seeds} | {_cell(each.verdict)} |"
            for each in missed
        ]
    return _HEAD + "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")[:160]


def main(arguments: Iterable[str] | None = None) -> int:
    """Run the campaign; fails if a mutation without a reason was not found."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations.campaign")
    parser.add_argument("--seeds", type=int, default=100, help="of each program")
    parser.add_argument("--only", default="", help="a part of the guard's name")
    parser.add_argument("--page", type=Path, help="write the page there")
    options = parser.parse_args(None if arguments is None else list(arguments))
    results = []
    for mutation in MUTATIONS:
        if options.only in mutation.guard:
            results.append(hunt(mutation, options.seeds))
            print(results[-1].is_found, mutation.guard, *results[-1][1:4], sep="; ", flush=True)
            if options.page is not None:
                options.page.write_text(page(results))
    return int(any(not (each.is_found or each.mutation.reason) for each in results))


if __name__ == "__main__":
    sys.exit(main())
