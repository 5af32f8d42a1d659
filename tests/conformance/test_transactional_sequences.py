"""Epochs and sequences of transactions: what our producer asks, beside Apache Kafka's in Java.

Both do the same, line by line, at a broker of ours behind a proxy that writes down what they ask
and, where the scenario says so, answers in the broker's place or not at all. Where they do not ask
the same, the scenario says what ours asks instead.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from fencepost_broker import Broker
from fencepost_client import Admin, GroupMetadata, KafkaError, Producer, TopicPartition
from fencepost_client.clients.delivery import Delivery
from fencepost_protocol.apis import request_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import read_request_head
from fencepost_protocol.generated.index import ApiKey

from tests.conformance.sequence_harness import SETTINGS, SILENCE, Proxy
from tests.support.apache_kafka import LIBRARY_DIR, KafkaUnavailableError, fetch
from tests.support.waiting import asked_until

pytestmark = pytest.mark.conformance
PATIENT: Final = {**SETTINGS, "delivery.timeout.ms": 3000, "transactional.id": "x"}
"""A request that is not answered is sent again, and once more, also by a machine that is slow."""
PROGRAM = Path(__file__).parent / "sequences" / "KafkaTransactions.java"
CLIENT_ID: Final = "seen"
SEEN: Final = {
    ApiKey.INIT_PRODUCER_ID: "Init",
    ApiKey.ADD_PARTITIONS_TO_TXN: "Add",
    ApiKey.ADD_OFFSETS_TO_TXN: "Add group",
    ApiKey.TXN_OFFSET_COMMIT: "Offsets",
    ApiKey.END_TXN: "End",
    ApiKey.DESCRIBE_TRANSACTIONS: "Describe",
}


class TransactionProxy(Proxy):
    """Writes down transactions, too: what is asked, in which epoch, and how it ends."""

    def __init__(self, answers: dict[int, int]) -> None:
        super().__init__(answers)
        self.seen: list[str] = []

    def look(self, frame: bytes) -> int | None:
        api_key, version, _, client_id, body = read_request_head(memoryview(frame))
        if client_id != CLIENT_ID:
            return None
        if api_key == ApiKey.PRODUCE:
            answer = super().look(frame)
            batch = self.sent[-1]
            self.seen.append(f"Produce {batch.epoch}:{batch.base_sequence} {batch.values[0]}")
            return answer
        if api_key in SEEN:
            request, _ = request_class(api_key).decode(memoryview(frame), version, body)
            line = SEEN[ApiKey(api_key)] + _about(request)
            # The transaction before is not complete yet: how often one asks is a matter of time.
            if not self.seen or self.seen[-1] != line:
                self.seen.append(line)
        return None


def _about(request: Any) -> str:
    epoch = getattr(
        request, "producer_epoch", getattr(request, "v3_and_below_producer_epoch", None)
    )
    committed = getattr(request, "committed", None)
    outcome = {None: "", True: " commit", False: " abort"}[committed]
    return ("" if epoch is None else f" {epoch}") + outcome


@asynccontextmanager
async def recorded(
    version: int, answers: dict[int, int]
) -> AsyncIterator[tuple[TransactionProxy, Broker, str]]:
    """A fresh broker that is found at its proxy."""
    proxy = TransactionProxy(answers)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings: Any = {
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "features": (f"transaction.version:{version}",),
    }
    async with Broker(topics={"t": 1}, settings=settings) as broker:
        proxy.broker_port = broker.settings.endpoints[0].port
        try:
            yield proxy, broker, f"127.0.0.1:{port}"
        finally:
            server.close()
            await proxy.close()
            await server.wait_closed()


Tell = Callable[[str], Awaitable[object]]
T1 = ("begin", "send a", "wait", "send b", "wait")
T2 = ("begin", "send c", "wait", "commit")
REFUSED = (*T1, "abort", *T2)
SCRIPTS: Final[dict[str, tuple[dict[int, int], tuple[str, ...]]]] = {
    "commit": ({}, (*T1, "commit", *T2)),
    "abort": ({}, (*T1, "abort", *T2)),
    "offsets": ({}, (*T1, "offsets", "commit", "begin", "offsets", "commit")),
    "nothing": ({}, ("begin", "commit", "begin", "abort", *T2)),
    "retried": ({1: ErrorCode.NOT_ENOUGH_REPLICAS}, (*T1, "commit", *T2)),
    "no answer": ({1: SILENCE}, (*T1, "commit", *T2)),
    "given up": ({1: SILENCE, 2: SILENCE, 3: SILENCE}, REFUSED),
    "refused": ({1: ErrorCode.INVALID_RECORD}, REFUSED),
    "sequence": ({1: ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER}, REFUSED),
    "epoch": ({1: ErrorCode.INVALID_PRODUCER_EPOCH}, REFUSED),
    "forgotten": ({1: ErrorCode.UNKNOWN_PRODUCER_ID}, REFUSED),
    "late send": ({}, (*T1, "time out", "send d", "wait", "abort", *T2)),
    "late abort": ({}, (*T1, "time out", "abort", *T2)),
    "late commit": ({}, (*T1, "time out", "commit", "abort", *T2)),
}
"""What the proxy answers to the Produce requests by their number, and what is done."""

BEGUN = {
    1: "Init -1, Add 0, Produce 0:0 a, Produce 0:1 b",
    2: "Init -1, Produce 0:0 a, Produce 0:1 b",
}
IN_NEXT_EPOCH = {1: "Init 0, Add 1, Produce 1:0 c, End 1 commit", 2: "Produce 1:0 c, End 1 commit"}
TAKEN_UP_AGAIN = "Describe, Init 1, Add 2, Produce 2:0 c, End 2 commit"
OURS: Final = {
    # Kafka's sends it again under number 0 and commits; ours does not know what else went.
    (1, "forgotten"): f"{BEGUN[1]}, End 0 abort, {IN_NEXT_EPOCH[1]}",
    (2, "forgotten"): f"{BEGUN[2]}, End 0 abort, {IN_NEXT_EPOCH[2]}",
    # Kafka's is fenced for good.
    (1, "late send"): f"{BEGUN[1]}, Produce 0:2 d, End 0 abort, {TAKEN_UP_AGAIN}",
    (1, "late abort"): f"{BEGUN[1]}, End 0 abort, {TAKEN_UP_AGAIN}",
    (1, "late commit"): f"{BEGUN[1]}, End 0 commit, {TAKEN_UP_AGAIN}",
    (2, "late commit"): f"{BEGUN[2]}, End 0 commit, Describe, Init 0, Produce 1:0 c, End 1 commit",
}
"""Where ours asks something else, by transaction version and script; and why."""
OURS_AND_SOMETIMES_KAFKAS: Final = {
    # Kafka's may come from its abort before it has asked for the next epoch, and begin without it.
    (1, "given up"): f"{BEGUN[1]}, Produce 0:1 b, Produce 0:1 b, End 0 abort, {IN_NEXT_EPOCH[1]}",
    (1, "refused"): f"{BEGUN[1]}, End 0 abort, {IN_NEXT_EPOCH[1]}",
    # Kafka's mostly goes on in its epoch where a record was refused for its number. Ours makes sure
    # that nothing of before is taken for something of after.
    (1, "sequence"): f"{BEGUN[1]}, End 0 abort, {IN_NEXT_EPOCH[1]}",
    (1, "epoch"): f"{BEGUN[1]}, End 0 abort, {IN_NEXT_EPOCH[1]}",
}


async def asked(version: int, name: str, tell: Tell) -> list[str]:
    """What a producer asks when it is told the script, line by line."""
    answers, script = SCRIPTS[name]
    async with recorded(version, answers) as (proxy, broker, address):
        await tell(f"start {address}")
        for line in script:
            if line == "time out":
                await time_out(broker)
            else:
                await tell(line)
        seen = list(proxy.seen)
        await tell("close")
        return seen


async def time_out(broker: Broker) -> None:
    """The coordinator's patience ends."""
    broker.clock.advance(minutes=2)
    async with Admin(broker.bootstrap) as admin:

        async def is_over() -> bool:
            return (await admin.describe_transactions(["x"]))["x"].state == "CompleteAbort"

        await asked_until(is_over)


class Ours:
    """Our producer, told by lines; what it raises is its answer."""

    def __init__(self) -> None:
        self._producer: Producer
        self._sent: list[Delivery] = []

    async def tell(self, line: str) -> None:
        with contextlib.suppress(KafkaError):
            await self._obey(line)

    async def _obey(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if word == "start":
            self._sent.clear()
            settings = {**PATIENT, "client.id": CLIENT_ID}
            self._producer = Producer.from_config({"bootstrap.servers": rest, **settings})
            await self._producer.start()
        elif word == "begin":
            self._producer.begin()
        elif word == "send":
            self._sent.append(await self._producer.send("t", rest.encode(), partition=0))
        elif word == "wait":
            waited = list(self._sent)
            self._sent.clear()
            await asyncio.gather(*waited)
        elif word == "offsets":
            await self._producer.send_offsets({TopicPartition("t", 0): 1}, GroupMetadata("g"))
        elif word == "close":
            await self._producer.close(flush=False)
        else:
            await (self._producer.commit() if word == "commit" else self._producer.abort())


@asynccontextmanager
async def apache_kafkas() -> AsyncIterator[Tell]:
    """Kafka's producer, one after the other in one process."""
    java = shutil.which("java")
    if java is None:
        raise KafkaUnavailableError("running Kafka's producer needs a JDK, 17 or later")
    await asyncio.to_thread(fetch)
    settings = {**PATIENT, "client.id": CLIENT_ID}
    program = await asyncio.create_subprocess_exec(
        java, "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
        "-cp", f"{LIBRARY_DIR}{os.sep}*", str(PROGRAM),
        *(f"{name}={value}" for name, value in settings.items()),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert program.stdin is not None
    assert program.stdout is not None
    stdin, stdout = program.stdin, program.stdout

    async def tell(line: str) -> None:
        stdin.write(f"{line}\n".encode())
        answer = (await stdout.readline()).decode().strip()
        assert answer, "Kafka's producer has ended"
        assert answer == "ok" or answer.isidentifier(), f"neither ok nor an error's class: {answer}"
        assert answer == "ok" or not line.startswith("start"), f"{line}: {answer}"

    try:
        yield tell
    finally:
        await program.communicate(b"")


async def both(version: int) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What Kafka's asks, and what ours does."""
    async with apache_kafkas() as java:
        theirs = {name: await asked(version, name, java) for name in SCRIPTS}
    return theirs, {name: await asked(version, name, Ours().tell) for name in SCRIPTS}


@pytest.mark.parametrize("version", [1, 2])
def test_the_same_as_apache_kafkas(version: int) -> None:
    theirs, ours = asyncio.run(both(version))
    wanted = dict(theirs)
    for (of, name), line in {**OURS, **OURS_AND_SOMETIMES_KAFKAS}.items():
        if of == version:
            wanted[name] = line.split(", ")
    assert ours == wanted
    for of, name in OURS:
        assert of != version or theirs[name] != ours[name], f"no difference any more: {name}"
