"""``fencepost transactions`` and Apache Kafka's own tool tell the same of the same broker.

Both are asked about an Apache Kafka and about a Fencepost, in which one transaction is open and
two hang: with the verification of old producers switched off, they wrote where their coordinator
never heard of it. One of these is ended by us and one by Kafka's tool.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError, fetch, run_tool
from tests.support.broker import Client
from tests.support.up import Up
from tests.wire.transaction_harness import Producer

pytestmark = pytest.mark.conformance

COMMAND = (sys.executable, "-m", "fencepost_broker", "transactions")
TOOL = "org.apache.kafka.tools.TransactionsCommand"
UNVERIFIED = "transaction.partition.verification.enable"
PATIENCE_SECONDS = 60


@contextmanager
def broker(which: str) -> Iterator[str]:
    try:
        fetch()
        if which == "fencepost":
            with Up("-c", f"{UNVERIFIED}=false") as ours:
                yield f"127.0.0.1:{ours.port}"
        else:
            with ApacheKafka({UNVERIFIED: "false"}) as kafka:
                yield kafka.bootstrap
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


async def prepare(bootstrap: str) -> None:
    """``open`` writes to t-0 and t-1, ``lost`` to t-1 and t-2 behind its coordinator's back."""
    async with Client(bootstrap) as client, asyncio.timeout(PATIENCE_SECONDS):
        kept = [CreatableTopicConfig("retention.ms", "-1")]  # records are of 1970
        await client.ask(CreateTopicsRequest(topics=[CreatableTopic("t", 3, 1, configs=kept)]), 5)
        producer = Producer(client, "open")
        await until_done(producer.start, timeout_ms=900_000)
        await until_done(producer.send, number=0)
        await until_done(producer.send, number=1)
        lost = Producer(client, "lost")
        await until_done(lost.start)
        await until_done(lost.send, number=1, version=11)
        await until_done(lost.send, number=2, version=11)


async def until_done(ask: Any, **given: Any) -> None:
    """Kafka's coordinators and new leaders take their time."""
    while await ask(**given) is not ErrorCode.NONE:  # noqa: ASYNC110 (nobody tells when)
        await asyncio.sleep(0.05)


class Both:
    """Our command and Kafka's tool, asked the same."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def ours(self, *words: str, code: int = 0) -> Any:
        command = [*COMMAND, "--bootstrap", self.bootstrap, *words, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if code == 0 else done.stderr

    def theirs(self, *words: str) -> list[list[str]]:
        """The rows of its table."""
        out = run_tool(TOOL, "--bootstrap-server", self.bootstrap, *words)
        rows = [line.split("\t") for line in out.splitlines() if "\t" in line]
        return sorted([cell.strip() for cell in row if cell.strip()] for row in rows[1:])


def rows(told: list[dict[str, Any]], *columns: str, unknown: str = "-1") -> list[list[str]]:
    """Ours as the tool would write it."""
    return sorted(
        [unknown if each[column] is None else str(each[column]) for column in columns]
        for each in told
    )


@pytest.mark.parametrize("which", ["fencepost", "apache"])
def test_the_same_as_kafkas_tool_tells(which: str) -> None:
    with broker(which) as bootstrap:
        asyncio.run(prepare(bootstrap))
        both = Both(bootstrap)
        told = both.ours("list")
        columns = ("transactional_id", "coordinator_id", "producer_id", "state")
        assert rows(told, *columns) == both.theirs("list")
        assert [each["transactional_id"] for each in told] == ["lost", "open"]
        some = both.ours("list", "--state", "ongoing", "--pattern", "o.*", "--longer-than", "0")
        assert [each["transactional_id"] for each in some] == ["open"]
        assert "INVALID_REGULAR_EXPRESSION" in both.ours("list", "--pattern", "(", code=1)
        check_descriptions(both)
        check_hanging(both, explains=which == "fencepost")


def check_descriptions(both: Both) -> None:
    [told] = both.ours("describe", "open")
    [theirs] = both.theirs("describe", "--transactional-id", "open")
    columns = (
        "coordinator_id", "transactional_id", "producer_id", "producer_epoch", "state",
        "timeout_ms", "started_ms",
    )  # fmt: skip
    assert rows([told], *columns) == [theirs[: len(columns)]]
    assert int(theirs[len(columns)]) >= told["duration_ms"] > 0  # it was asked later
    partitions = [f"{each['topic']}-{each['partition']}" for each in told["partitions"]]
    assert partitions == sorted(theirs[-1].split(",")) == ["t-0", "t-1"]
    assert "did you mean 'open'?" in both.ours("describe", "opne", code=1)
    place = ("--topic", "t", "--partition", "1")
    facts = (
        "producer_id", "producer_epoch", "coordinator_epoch", "last_sequence",
        "last_timestamp_ms", "start_offset",
    )  # fmt: skip
    told = both.ours("describe-producers", *place)
    assert rows(told, *facts) == both.theirs("describe-producers", *place)
    assert len(told) == 2


def check_hanging(both: Both, *, explains: bool) -> None:
    explained = both.ours("explain", "open")
    assert explained["not_told"] is not explains
    assert (explained["since_ms"] is not None) == explains
    assert 0 < explained["ends_in_ms"] < 900_000
    assert [each["holder"]["transactional_id"] for each in explained["partitions"]] == ["open"] * 2
    behind = both.ours("explain", "--partition", "t:2")
    assert (behind["holder"]["transactional_id"], behind["holder"]["hangs"]) == ("lost", True)
    assert (behind["last_stable_offset"], behind["high_watermark"]) == (0, 1)

    columns = ("topic", "partition", "producer_id", "producer_epoch", "coordinator_epoch",
               "start_offset", "last_timestamp_ms")  # fmt: skip
    hanging = both.ours("find-hanging", "--topic", "t")
    theirs = both.theirs("find-hanging", "--topic", "t")
    assert rows(hanging, *columns) == [row[: len(columns)] for row in theirs]
    assert [(each["partition"], each["transactional_id"]) for each in hanging] == [
        (1, "lost"), (2, "lost"),
    ]  # fmt: skip

    assert "'open' is Ongoing" in both.ours(
        "abort", "--topic", "t", "--partition", "0", "--start-offset", "0", code=1
    )
    done = both.ours("abort", "--topic", "t", "--partition", "2", "--start-offset", "0")
    assert (done["last_stable_offset"], done["high_watermark"]) == (2, 2)
    both.theirs("abort", "--topic", "t", "--partition", "1", "--start-offset", "1")
    assert both.ours("find-hanging") == both.theirs("find-hanging", "--topic", "t") == []
    [by_us] = both.ours("describe-producers", "--topic", "t", "--partition", "2")
    by_them = both.ours("describe-producers", "--topic", "t", "--partition", "1")[-1]
    for each in (by_us, by_them):
        del each["last_timestamp_ms"]
    assert by_us == {**by_them, "last_sequence": by_us["last_sequence"]}
    assert (by_us["coordinator_epoch"], by_us["start_offset"]) == (0, None)
