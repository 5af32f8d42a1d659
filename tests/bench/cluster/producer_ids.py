"""InitProducerId: how many a second, and what it takes where a block of ids ends."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest

from tests.bench.cluster.clusters import BROKERS, OURS, PATIENCE_S, Cluster
from tests.support.up import Wire

VERSION: Final = 4
DEPTH: Final = 100
WITHOUT: Final = f"{OURS}, no prefetch"
UNITS: Final = {
    "rate": "ids/s",
    "p99": "ms p99",
    "worst": "ms at worst",
    "refused": "times told to wait, of 1,000",
}
REMARK: Final = (
    "Rate: 100 requests under way on one connection. p99: one at a time, until there is an id; who"
    " is told to wait (COORDINATOR_LOAD_IN_PROGRESS, CONCURRENT_TRANSACTIONS) asks again after"
    " 1 ms. Without prefetch a controller and one broker of ours run that ask for a block when the"
    " last one is used up, which nobody can set: it is there to compare."
)
_WAIT: Final = frozenset(
    {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.CONCURRENT_TRANSACTIONS}
)
_REQUEST: Final = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
_WITHOUT_PREFETCH: Final = """
import sys
import fencepost_broker.coordinator.transaction.producer_id_manager as source
source._PREFETCH_AT = 1.0
from fencepost_broker.cli.main import main
sys.exit(main())
"""


def measure(cluster: Cluster, count: int) -> Mapping[str, Mapping[str, float]]:
    """A running cluster; beside ours the same without prefetch."""
    told = {cluster.name: _asked(cluster.port(BROKERS[0]), count)}
    if cluster.name == OURS:
        with _without_prefetch() as port:
            told[WITHOUT] = _asked(port, count)
    return told


def _asked(port: int, count: int) -> Mapping[str, float]:
    with Wire(port) as wire:
        _take_one(wire)
        begin = time.monotonic()
        given = 0
        while given < count:
            asked = [wire.send_request(_REQUEST, VERSION) for _ in range(DEPTH)]
            answers = [wire.receive(_REQUEST, VERSION, each) for each in asked]
            given += sum(not answer.error_code for answer in answers)
        rate = given / (time.monotonic() - begin)
        times, refused = [], 0
        for _ in range(count):
            begin = time.monotonic()
            refused += _take_one(wire)
            times.append((time.monotonic() - begin) * 1000)
    times.sort()
    return {
        "rate": rate,
        "p99": times[int(len(times) * 0.99)],
        "worst": times[-1],
        "refused": refused / count * 1000,
    }


def _take_one(wire: Wire) -> int:
    """Ask until there is an id; gives how often there was none."""
    give_up_at = time.monotonic() + PATIENCE_S
    for refused in range(1_000_000):
        code = wire.ask(_REQUEST, VERSION).error_code
        if not code:
            return refused
        if code not in _WAIT or time.monotonic() > give_up_at:
            raise ValueError(f"InitProducerId is answered with {ErrorCode(code).name}")
        time.sleep(0.001)
    raise AssertionError


@contextmanager
def _without_prefetch() -> Iterator[int]:
    """A controller and a broker; gives the broker's port."""
    with _member("process.roles=controller", "node.id=1000") as controller:
        where = f"controller.quorum.bootstrap.servers=127.0.0.1:{controller}"
        with _member("process.roles=broker", "node.id=1", where) as broker:
            yield broker


@contextmanager
def _member(*settings: str) -> Iterator[int]:
    words = [word for setting in settings for word in ("-c", setting)]
    command = [sys.executable, "-c", _WITHOUT_PREFETCH, "up", "--port", "0", "--json"]
    command += ["--log-level", "error", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            yield int(told["bootstrap"].rpartition(":")[2])
        finally:
            process.kill()
