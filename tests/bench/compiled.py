"""What a compiled build saves inside of the broker: both builds in turn, by the same Python.

    .venv-compiled-3.13/bin/python -m tests.bench.compiled     # writes docs/bench/compiled.md

The Python that runs this has the compiled build; a checkout's sources stand before it on the path
for the pure one. Each row is the smallest time of all rounds, so that other processes matter less.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Final

from fencepost_broker.cli.machine import build_name

from tests.bench.inside import CASES
from tests.bench.table import markdown_table, microseconds

PAGE: Final = Path("docs/bench/compiled.md")
BEGIN: Final = "<!-- measured: make bench-compiled -->"
END: Final = "<!-- end -->"
SOURCES: Final = ("protocol", "client", "broker", "pipeline")


def main() -> None:
    """Measure, and write the page's table anew."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], metavar="CASE")
    arguments = parser.parse_args()
    if build_name() != "compiled":
        parser.error(f"{sys.executable} has no compiled build: make bench-compiled makes one")
    cases = arguments.cases or list(CASES)
    pure, compiled = dict.fromkeys(cases, float("inf")), dict.fromkeys(cases, float("inf"))
    checkout = {"PYTHONPATH": os.pathsep.join(SOURCES)}
    for _ in range(arguments.rounds):
        for best, added in ((pure, checkout), (compiled, {})):
            for case, us in _measured(cases, added).items():
                best[case] = min(best[case], us)
    rows = [
        [case, microseconds(pure[case]), microseconds(compiled[case]),
         f"{100 * (compiled[case] / pure[case] - 1):+.0f} %"]
        for case in cases
    ]  # fmt: skip
    table = markdown_table(["request", "pure, us", "compiled, us", "difference"], rows)
    if arguments.cases:
        print(table)
        return
    told = f"Python {platform.python_version()}, the best of {arguments.rounds} rounds in turn."
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{told}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def _measured(cases: list[str], added: dict[str, str]) -> dict[str, float]:
    """Run the cases in a process of their own."""
    command = [sys.executable, "-m", "tests.bench.inside", "--time", *cases]
    done = subprocess.run(command, check=True, capture_output=True, env=os.environ | added)
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
