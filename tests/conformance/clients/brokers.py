"""The brokers that clients are tried against: ours, and Apache Kafka as the measure.

with start_broker("fencepost") as broker:
    talk_to(broker.bootstrap)
    broker.restart()
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Protocol, Self

from tests.support.apache_kafka import ApacheKafka, advertised_apis, free_ports

# Bounds for giving up.
READY_SECONDS = 30.0
STOP_SECONDS = 30.0

# What a scenario needs of a broker besides the data plane: API keys, with their names.
JOIN_GROUP = (11, "JoinGroup")
NEEDS: Final[Mapping[str, Sequence[tuple[int, str]]]] = {
    "groups": [JOIN_GROUP],
    "groups-consumer-protocol": [(68, "ConsumerGroupHeartbeat")],
    "transactions": [JOIN_GROUP, (26, "EndTxn")],
}

# The protocol of KIP-848 has its heartbeat interval from the broker: 5 s, unless it is told so.
BROKER_SETTINGS = {
    "group.consumer.min.heartbeat.interval.ms": "200",
    "group.consumer.heartbeat.interval.ms": "200",
}


class BrokerUnavailableError(Exception):
    """There is no broker of that kind here; says why."""


class BrokerFailedError(Exception):
    """The broker did not start, or not stop; says what it said."""


class RunningBroker(Protocol):
    """A broker that scripts can be run against."""

    @property
    def bootstrap(self) -> str: ...

    def restart(self) -> None: ...

    def stderr(self) -> str: ...


@contextmanager
def start_broker(kind: str) -> Iterator[RunningBroker]:
    """A broker of that kind, gone at the end; it keeps its address and its data in a restart."""
    if kind == "kafka":
        with ApacheKafka(BROKER_SETTINGS) as kafka:
            yield kafka
    elif kind == "fencepost":
        with FencepostBroker() as fencepost:
            yield fencepost
    else:
        raise ValueError(f"no kind of broker: {kind!r} (there are 'fencepost' and 'kafka')")


class FencepostBroker:
    """`fencepost up` in a process of its own, with a data directory of its own."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="fencepost-"))
        # Not 0: the port that it gives out may be gone when the broker is started again.
        (self._port,) = free_ports(1)
        self._bootstrap = ""
        self._process: subprocess.Popen[str] | None = None
        self._stderr: IO[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        return self._bootstrap

    def __enter__(self) -> Self:
        try:
            self._refuse_missing_command()
            self._stderr = (self._folder / "stderr").open("w+b")
            self._start()
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._clean_up()

    def restart(self) -> None:
        """Stops it in an orderly way and starts it again, on the same port with the same data."""
        process = self._process
        assert process is not None
        process.terminate()
        try:
            code = process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            raise BrokerFailedError(
                f"not stopped after {STOP_SECONDS:.0f} s; it said:\n{self.stderr()[-4000:]}"
            ) from None
        if code != 0:
            raise BrokerFailedError(f"stopped with {code}; it said:\n{self.stderr()[-4000:]}")
        process.communicate()
        self._start()

    def stderr(self) -> str:
        return (self._folder / "stderr").read_text(errors="replace")

    def _refuse_missing_command(self) -> None:
        result = subprocess.run(
            [sys.executable, "-m", "fencepost_broker", "up", "--help"],
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != 0:
            last = result.stderr.strip().splitlines()[-1:]
            raise BrokerUnavailableError(f"there is no command 'fencepost up': {last}")

    def _start(self) -> None:
        assert self._stderr is not None
        known = self._known_settings()
        settings = [f"{name}={value}" for name, value in BROKER_SETTINGS.items() if name in known]
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "fencepost_broker", "up", "--json"),
                *("--port", str(self._port), "--data-dir", str(self._folder / "data")),
                *(word for setting in settings for word in ("-c", setting)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
        )
        assert self._process.stdout is not None
        too_late = threading.Timer(READY_SECONDS, self._process.kill)
        too_late.start()
        line = self._process.stdout.readline()
        too_late.cancel()
        if not line:
            code = self._process.wait()
            raise BrokerFailedError(
                f"'fencepost up' ended with {code}; it said:\n{self.stderr()[-4000:]}"
            )
        self._bootstrap = json.loads(line)["bootstrap"]

    def _known_settings(self) -> str:
        """What `fencepost config` lists: settings of what is not built yet are left out."""
        return subprocess.run(
            [sys.executable, "-m", "fencepost_broker", "config"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout

    def _clean_up(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._stderr is not None:
            self._stderr.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def missing_apis(bootstrap: str, scenario: str) -> list[str]:
    """The names of the APIs that a scenario needs and the broker does not serve."""
    return [name for key, name in NEEDS.get(scenario, []) if not serves(bootstrap, (key, name))]


def serves(bootstrap: str, api: tuple[int, str]) -> bool:
    return api[0] in advertised_apis(int(bootstrap.rpartition(":")[2]))
