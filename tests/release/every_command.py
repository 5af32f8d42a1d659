"""Uses each command of `fencepost` as it was installed: from a wheel, or as a single file.

The commands are those of the table of entry points; one that is not used here is an error.
"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, NamedTuple

from fencepost_broker.cli.main import GROUP

WITHIN_S: Final = 120


class Installed(NamedTuple):
    """A `fencepost` command, and where it is run."""

    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    is_small: bool = True
    """It has no numpy and no pyarrow, which the audit needs."""

    def run(self, *words: str, given: str = "", code: int = 0) -> str:
        """Run a command to its end."""
        done = subprocess.run(
            [*self.command, *words], env=self.environment, cwd=self.folder, input=given,
            capture_output=True, text=True, timeout=WITHIN_S, check=False,
        )  # fmt: skip
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    @contextmanager
    def serving(self, *words: str) -> Iterator[dict[str, Any]]:
        """Run a command that serves until it is stopped; gives the JSON that it prints."""
        log = self.folder / "log.txt"
        with log.open("a") as stderr:
            process = subprocess.Popen(
                [*self.command, *words, "--json"], env=self.environment, cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, text=True,
            )  # fmt: skip
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, f"{words}: {process.wait(WITHIN_S)}\n{log.read_text()}"
            yield json.loads(line)
            process.send_signal(signal.SIGTERM)
            assert process.wait(WITHIN_S) == 0, words
        finally:
            process.kill()
            process.communicate()


def names() -> set[str]:
    """Return the names of all commands."""
    return {entry.name for entry in entry_points(group=GROUP)}


class Uses:
    """Uses of commands, and how many seconds each of them took."""

    def __init__(self, installed: Installed, stack: ExitStack) -> None:
        self.installed = installed
        self.stack = stack
        self.took: dict[str, list[float]] = {}

    def use(self, words: str, given: str = "", code: int = 0) -> str:
        """Run a command to its end."""
        with self._timed(words):
            return self.installed.run(*words.split(), given=given, code=code)

    def serve(self, words: str) -> dict[str, Any]:
        """Start a command that serves until all is over."""
        with self._timed(words):
            return self.stack.enter_context(self.installed.serving(*words.split()))

    @contextmanager
    def _timed(self, words: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.took.setdefault(words.split()[0], []).append(time.perf_counter() - begun)


def use_each(installed: Installed) -> dict[str, float]:
    """Use each command, and return how many seconds its shortest use took."""
    for name in sorted(names()):
        assert f"usage: fencepost {name}" in installed.run(name, "--help")
    with ExitStack() as stack:
        uses = Uses(installed, stack)
        _use_a_broker(uses)
        _use_a_cluster(uses)
        _use_what_needs_no_broker(uses)
    assert uses.took.keys() == names(), "a command is not used, or is not in the table"
    return {name: min(seconds) for name, seconds in uses.took.items()}


def _use_a_broker(uses: Uses) -> None:
    use = uses.use
    broker = uses.serve("up --port 0 --control 0 --topic orders:1 --data-dir data")
    at, control = broker["bootstrap"], f"--control {broker['control']}"
    assert "orders" in use(f"topics list -b {at}")
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        use(f"produce -b {at} -t orders -q -z {codec}", given=f"{codec} {codec * 100}\n")
    use(f"produce -b {at} -t orders -q --transactional-id loader", given="one\ntwo\n")
    said = use(f"consume -b {at} -t orders -g readers -o beginning -e")
    assert [line.split()[0] for line in said.splitlines()] == [
        "none", "gzip", "snappy", "lz4", "zstd", "one", "two",
    ]  # fmt: skip
    assert "readers" in use(f"groups list -b {at}")
    assert "loader" in use(f"transactions list -b {at}")
    assert "orders" in use(f"transactions explain -b {at} --partition orders:0")
    use(f"configs describe -b {at} topic orders --all")
    use(f"bench producer -b {at} --topic orders --num-records 10 --record-size 10 --throughput -1")
    use(f"fault add {control} --name lost --api Fetch delay --ms 1")
    assert "lost" in use(f"fault list {control}")
    use(f"operation rebalance-group {control} --group readers", code=1)
    use(f"requests {control}")
    use(f"telemetry {control}")
    use(f"clock advance 1h {control}")
    use(f"snapshot list {control}")
    use(f"tap {at} --stats")
    record = uses.serve(f"record bug.fprec --port 0 --upstream {at}")
    assert "orders" in use(f"topics list -b {record['bootstrap']}")
    proxy = uses.serve(f"proxy --port 0 --upstream {at}")
    assert "orders" in use(f"topics list -b {proxy['bootstrap']}")


def _use_a_cluster(uses: Uses) -> None:
    uses.serve("up --brokers 2 --run-dir cluster --topic spread:2")
    assert '"id": 2' in uses.use("cluster status --run-dir cluster --json")
    uses.use("broker kill 2 --run-dir cluster")
    uses.use("broker start 2 --run-dir cluster")


def _use_what_needs_no_broker(uses: Uses) -> None:
    use = uses.use
    use("config num.partitions")
    assert '"part": "broker"' in use("doctor --port 0 --json")
    assert "request_api_key" in use("dissect 0000000d00120000000000010003616263")
    (uses.installed.folder / "history.jsonl").write_text('{"fencepost_history":1}\n')
    use("check history.jsonl")
    use("simulate --program transactions --seeds 1")
    assert "late-end-txn" in use("scenario list")
    use("scenario run late-end-txn --json")
    use("producer-ids history data")
    use("audit data", code=2 if uses.installed.is_small else 0)
    recorded = uses.installed.folder / "replayed.fprec"
    with uses.installed.serving("up", "--port", "0", "--record", str(recorded)) as broker:
        use(f"topics create -b {broker['bootstrap']} new")
    with uses.installed.serving("up", "--port", "0") as broker:
        use(f"replay -b {broker['bootstrap']} {recorded}")
    uses.serve(f"console {recorded} --console 0")
