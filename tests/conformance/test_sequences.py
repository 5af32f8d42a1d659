"""Epochs and sequences behind an error: what our producer sends, beside Apache Kafka's in Java.

Both talk to the same broker through a proxy that writes down every batch and, where the scenario
says so, answers in the broker's place or not at all (KIP-360).
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_client import KafkaError, Producer
from fencepost_protocol.errors import ErrorCode

from tests.conformance.sequence_harness import ANSWER_LOST, SETTINGS, SILENCE, Proxy, Sent
from tests.support.apache_kafka import LIBRARY_DIR, KafkaUnavailableError, fetch

pytestmark = pytest.mark.conformance
PROGRAM = Path(__file__).parent / "sequences" / "KafkaSequences.java"


@asynccontextmanager
async def recorded(answers: dict[int, int]) -> AsyncIterator[tuple[Proxy, str]]:
    """A fresh broker that is found at its proxy."""
    proxy = Proxy(answers)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}"}
    async with Broker(topics={"t": 1}, settings=settings) as broker:
        proxy.broker_port = broker.settings.endpoints[0].port
        try:
            yield proxy, f"127.0.0.1:{port}"
        finally:
            server.close()
            await proxy.close()
            await server.wait_closed()


async def by_java(answers: dict[int, int], script: Iterable[str]) -> tuple[list[Sent], list[str]]:
    java = shutil.which("java")
    if java is None:
        raise KafkaUnavailableError("running Kafka's producer needs a JDK, 17 or later")
    await asyncio.to_thread(fetch)
    async with recorded(answers) as (proxy, address):
        settings = [f"{name}={value}" for name, value in SETTINGS.items()]
        program = await asyncio.create_subprocess_exec(
            java, "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "-cp", f"{LIBRARY_DIR}{os.sep}*", str(PROGRAM),
            f"bootstrap.servers={address}", *settings,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, errors = await program.communicate("\n".join(script).encode())
        assert program.returncode == 0, errors.decode()
        lines = [line for line in out.decode().splitlines() if line[:1] in "abcdef"]
        return proxy.sent, lines


async def by_us(answers: dict[int, int], script: Iterable[str]) -> tuple[list[Sent], list[str]]:
    async with recorded(answers) as (proxy, address):
        producer = Producer.from_config({"bootstrap.servers": address, **SETTINGS})
        await producer.start()
        sent = {}
        for line in script:
            if line.startswith("send "):
                value = line.removeprefix("send ")
                sent[value] = await producer.send("t", value.encode(), partition=0)
                await asyncio.sleep(0)
            else:
                await asyncio.gather(*sent.values(), return_exceptions=True)
        outcomes = []
        for value, delivery in sent.items():
            try:
                await delivery
                outcomes.append(f"{value} ok")
            except KafkaError as error:
                outcomes.append(f"{value} {type(error).__name__}")
        await producer.close(flush=False)
        return proxy.sent, outcomes


ONE_BY_ONE = ("send a", "wait", "send b", "wait", "send c", "wait")


A, B, C = Sent(0, 0, ("a",)), Sent(0, 1, ("b",)), Sent(0, 2, ("c",))
NEXT_B, NEXT_C = Sent(1, 0, ("b",)), Sent(1, 1, ("c",))
C_ALONE = Sent(1, 0, ("c",))


async def both(answers: dict[int, int]) -> tuple[tuple[list[Sent], str], tuple[list[Sent], str]]:
    """What ours and Java's sent, and which of their records were written."""
    theirs, their_outcomes = await by_java(answers, ONE_BY_ONE)
    ours, our_outcomes = await by_us(answers, ONE_BY_ONE)
    written = ["".join(line[0] for line in lines if line.endswith(" ok"))
               for lines in (our_outcomes, their_outcomes)]  # fmt: skip
    return (ours, written[0]), (theirs, written[1])


@pytest.mark.parametrize(
    ("answers", "sent", "written"),
    [
        ({}, [A, B, C], "abc"),
        ({1: ErrorCode.NOT_ENOUGH_REPLICAS}, [A, B, B, C], "abc"),
        # What the broker has forgotten goes on in the next epoch.
        ({1: ErrorCode.UNKNOWN_PRODUCER_ID}, [A, B, NEXT_B, NEXT_C], "abc"),
        # A number that is given up for certain leaves a hole: the next epoch has none.
        ({1: ErrorCode.INVALID_RECORD}, [A, B, C_ALONE], "ac"),
        # Nobody answers: the same again, under the same number.
        ({1: SILENCE}, [A, B, B, C], "abc"),
        ({1: ANSWER_LOST}, [A, B, B, C], "abc"),
        # Nor the second time: it is out of time while its request is under way.
        ({1: SILENCE, 2: SILENCE}, [A, B, B, C_ALONE], "ac"),
        ({1: ANSWER_LOST, 2: SILENCE}, [A, B, B, C_ALONE], "ac"),
    ],
    ids=range(8),
)
def test_the_same_as_apache_kafkas(answers: dict[int, int], sent: list[Sent], written: str) -> None:
    ours, theirs = asyncio.run(both(answers))
    assert theirs == (sent, written)
    assert ours == (sent, written)


def test_a_broker_that_has_lost_records_is_told_of() -> None:
    """Kafka's goes on in the next epoch; ours fails the batch, since acknowledged records went."""
    ours, theirs = asyncio.run(both({1: ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER}))
    assert theirs == ([A, B, NEXT_B, NEXT_C], "abc")
    assert ours == ([A, B, C_ALONE], "ac")


def test_an_old_epoch_is_no_end_for_who_has_no_transactional_id() -> None:
    """Kafka's fails the batch; ours, which knows that it is not written, sends it once more."""
    ours, theirs = asyncio.run(both({1: ErrorCode.INVALID_PRODUCER_EPOCH}))
    assert theirs == ([A, B, C_ALONE], "ac")
    assert ours == ([A, B, NEXT_B, NEXT_C], "abc")
