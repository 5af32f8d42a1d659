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
from types import TracebackType
from typing import IO, Final, Protocol, Self

from fencepost_protocol.generated.index import APIS, ApiKey

from tests.support.apache_kafka import ApacheKafka, advertised_apis, free_ports
from tests.support.cluster_processes import ClusterProcesses

CLUSTER: Final = "fencepost-cluster"
READING_IN_A_GROUP: Final = "reading in a group"

# Bounds for giving up.
READY_SECONDS = 30.0
STOP_SECONDS = 30.0

# What a scenario, or one of its checks, needs of a broker besides the data plane.
_OFFSETS = (ApiKey.FIND_COORDINATOR, ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH)
_MEMBERS = (ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT, ApiKey.LEAVE_GROUP)
_GROUPS = (*_OFFSETS, ApiKey.LIST_GROUPS, ApiKey.DELETE_GROUPS)
NEEDS: Final[Mapping[str, Sequence[ApiKey]]] = {
    READING_IN_A_GROUP: (*_OFFSETS, *_MEMBERS),
    "groups": (*_GROUPS, *_MEMBERS, ApiKey.DESCRIBE_GROUPS),
    "groups-consumer-protocol": (
        *(*_GROUPS, ApiKey.CONSUMER_GROUP_HEARTBEAT),
        ApiKey.CONSUMER_GROUP_DESCRIBE,
    ),
    "transactions": (ApiKey.FIND_COORDINATOR, ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.END_TXN),
    **dict.fromkeys(
        ("transactions: send-offsets", "transactions: send-offsets-abort"),
        (*_OFFSETS, *_MEMBERS, ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.TXN_OFFSET_COMMIT),
    ),
}

# The protocol of KIP-848 has its heartbeat interval from the broker: 5 s, unless it is told so.
BROKER_SETTINGS = {
    "group.consumer.min.heartbeat.interval.ms": "200",
    "group.consumer.heartbeat.interval.ms": "200",
    # Apache Kafka looks for transactions that take too long every so often: every 10 s.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
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

    def kill_and_start(self) -> None: ...

    def stderr(self) -> str: ...


@contextmanager
def start_broker(
    kind: str, settings: Mapping[str, str] = BROKER_SETTINGS
) -> Iterator[RunningBroker]:
    """A broker of that kind, gone at the end; it keeps its address and its data in a restart."""
    if kind == "kafka":
        with KafkaBroker(settings) as kafka:
            yield kafka
    elif kind == CLUSTER:
        with FencepostCluster(settings) as cluster:
            yield cluster
    elif kind in FENCEPOST_COMMANDS:
        with FencepostBroker(FENCEPOST_COMMANDS[kind], settings) as fencepost:
            yield fencepost
    else:
        raise ValueError(
            f"no kind of broker: {kind!r} ({', '.join((*FENCEPOST_COMMANDS, CLUSTER, 'kafka'))})"
        )


_WITHOUT_UVLOOP = """
import sys
sys.modules["uvloop"] = None  # importing it fails, as where it is not installed
from fencepost_broker.cli.main import main
sys.exit(main())
"""
FENCEPOST_COMMANDS: Final[Mapping[str, Sequence[str]]] = {
    "fencepost": (sys.executable, "-m", "fencepost_broker"),
    "fencepost-asyncio": (sys.executable, "-c", _WITHOUT_UVLOOP),
}


class KafkaBroker(ApacheKafka):
    """Apache Kafka, with what the scripts' session asks for."""

    def kill_and_start(self) -> None:
        self.kill()
        self.start()


class FencepostBroker:
    """`fencepost up` in a process of its own, with a data directory of its own."""

    def __init__(
        self,
        command: Sequence[str] = FENCEPOST_COMMANDS["fencepost"],
        settings: Mapping[str, str] = BROKER_SETTINGS,
    ) -> None:
        self._command = command
        self._settings = settings
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

    def kill_and_start(self) -> None:
        """Ends it as a crash would and starts it again, on the same port with the same data."""
        assert self._process is not None
        self._process.kill()
        self._process.communicate()
        self._start()

    def stderr(self) -> str:
        return (self._folder / "stderr").read_text(errors="replace")

    def _refuse_missing_command(self) -> None:
        result = subprocess.run(
            [*self._command, "up", "--help"],
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != 0:
            last = result.stderr.strip().splitlines()[-1:]
            raise BrokerUnavailableError(f"there is no command 'fencepost up': {last}")

    def _start(self) -> None:
        assert self._stderr is not None
        settings = [f"{name}={value}" for name, value in self._settings.items()]
        self._process = subprocess.Popen(
            [
                *(*self._command, "up", "--json"),
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

    def _clean_up(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._stderr is not None:
            self._stderr.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class FencepostCluster(ClusterProcesses):
    """`fencepost up --brokers 3`: a controller and three brokers, a process each."""

    def __init__(self, settings: Mapping[str, str] = BROKER_SETTINGS) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fencepost-cluster-")
        super().__init__(Path(self._folder.name), settings=settings)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, traceback)
        self._folder.cleanup()

    def restart(self) -> None:
        """A rolling restart: one broker after the other, each in order, then the controller."""
        for node_id in (*self.broker_ids, self.controller):
            self.stop(node_id)
            self.start(node_id)
            self.until_settled()

    def kill_and_start(self) -> None:
        """A power cut: all of them at once."""
        everybody = (self.controller, *self.broker_ids)
        for node_id in everybody:
            self.kill(node_id)
        for node_id in everybody:
            self.start(node_id)
        self.until_settled()

    def stderr(self) -> str:
        return self.said()


def missing_apis(bootstrap: str, need: str) -> list[str]:
    """The names of the APIs that a scenario needs and the broker does not serve."""
    if need not in NEEDS:
        return []
    served = advertised_apis(int(bootstrap.rpartition(":")[2]))
    return [APIS[key][0] for key in NEEDS[need] if key not in served]
