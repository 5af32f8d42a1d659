"""Runs test suites of other projects, and writes docs/proofs/suites.md.

    make suites
    make suites SUITES='--suite kgo --place fencepost --only TestGroupETL'

Each run has a network of its own (`unshare`), so that a broker is where the suite expects it, and
nothing else is. What a run came to goes into results.json, which has the last run of each suite at
each place, and from there onto the page; what the program printed is in build/suites. A run of some
tests (`--only`) is not kept, and its exit code is 1 if one failed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

from tests.conformance.clients.clients import ClientUnavailableError, tool
from tests.conformance.suites import page
from tests.conformance.suites.outcomes import FAILED, PASSED
from tests.conformance.suites.places import NAMES
from tests.conformance.suites.running import (
    NETWORK_OF_ITS_OWN,
    REPOSITORY_DIR,
    TARGET,
    Run,
    Suite,
)
from tests.conformance.suites.table import SUITES
from tests.support.apache_kafka import KafkaUnavailableError, fetch
from tests.support.up import BUG

_SOME_FAILED = 3


def main() -> int:
    options = _options()
    if options.inside:
        return _inside(options)
    failed = did_not_run = False
    for suite in SUITES:
        for kind in suite.places if options.suite in suite.name else ():
            if options.place in ("", kind):
                try:
                    failed |= _in_a_network_of_its_own(suite, kind, options.only)
                except (ClientUnavailableError, KafkaUnavailableError) as error:
                    sys.stdout.write(f"{suite.name}, {NAMES[kind]}: not run, {error}\n")
                except subprocess.CalledProcessError as error:  # the others run all the same
                    sys.stdout.write(f"{suite.name}, {NAMES[kind]}: it did not run, {error}\n")
                    did_not_run = True
    if options.only:
        return int(failed or did_not_run)
    unexplained = page.write()
    for line in unexplained:
        sys.stdout.write(f"not explained: {line}\n")
    return int(did_not_run or bool(unexplained))


def _in_a_network_of_its_own(suite: Suite, kind: str, only: str) -> bool:
    """Whether a test failed."""
    if kind == "kafka":
        fetch()
    folder = suite.prepare()
    tool("unshare", "unshare of util-linux")
    command = [
        *NETWORK_OF_ITS_OWN,
        sys.executable,
        "-m",
        "tests.conformance.suites",
        "--inside",
        str(folder),
    ]
    command += ["--suite", suite.name, "--place", kind, "--only", only]
    done = subprocess.run(command, cwd=REPOSITORY_DIR, check=False)
    if done.returncode not in (0, _SOME_FAILED):
        done.check_returncode()
    return done.returncode == _SOME_FAILED


def _inside(options: argparse.Namespace) -> int:
    subprocess.run([tool("ip", "ip of iproute2"), "link", "set", "lo", "up"], check=True)
    kind, only = options.place, options.only
    (suite,) = (each for each in SUITES if each.name == options.suite)
    of_all = f"{re.sub(r'[^a-z0-9]+', '-', suite.name.lower())}-{kind}.txt"
    log = TARGET.with_name("some.txt" if only else of_all)
    with suite.begin(kind, suite.settings) as place:
        since = time.monotonic()
        outcomes = suite.run(place, Run(suite, Path(options.inside), log, only))
        seconds = time.monotonic() - since
        said = place.said()
    if BUG in said:
        outcomes[BUG] = FAILED
    log.with_suffix(".broker").write_text(said, encoding="utf-8")
    if not only:
        page.keep(suite, kind, outcomes, seconds)
    failed = [name for name, each in outcomes.items() if each == FAILED]
    passed = list(outcomes.values()).count(PASSED)
    sys.stdout.write(
        f"{suite.name} {suite.version}, {NAMES[kind]}: {passed} of {len(outcomes)} passed in"
        f" {seconds:.0f} s ({log})\n" + "".join(f"  failed: {name}\n" for name in failed)
    )
    return _SOME_FAILED if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make suites SUITES=")
    parser.add_argument("--suite", default="", help="a part of the suite's name")
    parser.add_argument("--place", default="", choices=["", *NAMES], help="one broker, or all")
    parser.add_argument("--only", default="", help="a pattern for names of tests, as the suite has")
    parser.add_argument("--inside", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
