"""``fencepost bench``, small, against real brokers."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from pathlib import Path

import pytest
from fencepost_client import Admin, Consumer, NewTopic, Producer, RequestMetrics, TopicPartition
from fencepost_client.commands import bench
from fencepost_protocol.generated.index import ApiKey

pytestmark = pytest.mark.asyncio


class Bench:
    """Runs ``fencepost bench`` in another thread, since it has a loop of its own."""

    def __init__(self, bootstrap: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.bootstrap = bootstrap
        self._capsys = capsys

    def _run(self, words: list[str]) -> int:
        parser = argparse.ArgumentParser()
        bench.COMMAND.add_arguments(parser)
        return bench.COMMAND.run(parser.parse_args([*words, "--bootstrap-server", self.bootstrap]))

    async def run(self, words: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        code = await asyncio.to_thread(self._run, words.split())
        return code, *self._capsys.readouterr()

    async def lines(self, words: str) -> list[str]:
        code, out, err = await self.run(words)
        assert (code, err) == (0, "")
        return out.splitlines()


@pytest.fixture
def command(bootstrap: str, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(bootstrap, capsys)


async def create(bootstrap: str, *names: str) -> None:
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(name, 2, 1) for name in names])


async def test_records_are_sent_read_and_copied(command: Bench, topic: str) -> None:
    copy = f"{topic}-copy"
    await create(command.bootstrap, topic, copy)
    [warmup, steady, *windows, total, rest] = await command.lines(
        f"producer --topic {topic} --num-records 50 --record-size 100 --throughput -1 "
        "--warmup-records 10 --producer-props linger.ms=0"
    )
    assert warmup.startswith("The first 10 records warm up")
    assert steady == "In steady state."
    assert total.startswith("50 records sent, ")
    assert rest.startswith("40 steady state records sent, ")
    assert not windows
    header, line = await command.lines(
        f"consumer --topic {topic} --num-records 50 --group {topic}-group"
    )
    assert header.startswith("start.time, end.time, ")
    assert line.split(", ")[4] == "50"
    *_, last = await command.lines(
        f"eos --input-topic {topic} --output-topic {copy} --num-records 50 --throughput 2000 "
        f"--transaction-duration-ms 1 --group-id {topic}-eos"
    )
    found = re.match(r"(\d+) transactions, .* (\d+) TxnOffsetCommit, (\d+) EndTxn\.$", last)
    assert found is not None
    assert int(found[1]) == int(found[2]) == int(found[3]) > 1, "by their age"
    async with Admin(command.bootstrap) as admin:
        committed = await admin.list_group_offsets(f"{topic}-eos")
    assert sum(each.offset for each in committed.values()) == 50
    code, out, err = await command.run(
        f"consumer --topic {copy} --num-records 60 --timeout 300 --json "
        "--consumer-props isolation.level=read_committed"
    )
    assert (code, json.loads(out)["records"]) == (0, 50)
    assert err.startswith("WARNING: no record came for")


async def test_transactions_of_the_producer(command: Bench, topic: str, tmp_path: Path) -> None:
    await create(command.bootstrap, topic)
    payloads = tmp_path / "payloads"
    payloads.write_text("one\ntwo\n")
    total, _, *metrics = await command.lines(
        f"producer --topic {topic} --num-records 5 --payload-file {payloads} --throughput -1 "
        "--transaction-duration-ms 1 --print-metrics"
    )
    assert total.startswith("5 records sent, ")
    assert any("END_TXN" in line for line in metrics)


async def test_preregistration_saves_requests_or_is_refused_clearly(
    command: Bench, topic: str, request: pytest.FixtureRequest
) -> None:
    copy = f"{topic}-copy"
    await create(command.bootstrap, topic, copy)
    needed = f"--topic {topic} --num-records 4 --payload-monotonic --throughput -1"
    eos = f"eos --input-topic {topic} --output-topic {copy} --num-records 4 --throughput -1 --json"
    transactional = f"producer {needed} --transactional-id {topic} --preregister"
    if "kafka" in request.node.callspec.id:
        await command.lines(f"producer {needed}")
        for words in (transactional, f"{eos} --preregister"):
            code, out, err = await command.run(words)
            assert (code, out) == (1, "")
            assert "does not support pre-registration (KIP-609)" in err
        return
    total, _, *metrics = await command.lines(f"{transactional} --print-metrics")
    assert total.startswith("4 records sent, ")
    assert any("request-total:{api=ADD_PARTITIONS_TO_TXN}" in line for line in metrics)
    told = json.loads("\n".join(await command.lines(f"{eos} --preregister")))
    assert told["records"] == 4
    assert told["requests"]["AddPartitionsToTxn"] == told["transactions"] == 1
    assert told["requests"]["AddOffsetsToTxn"] == 0
    assert told["phases_ms"]["end"]["count"] == 1


async def test_what_cannot_be_is_told_in_one_line(command: Bench, tmp_path: Path) -> None:
    needed = "producer --topic t --num-records 4 --record-size 1 --throughput -1"
    wrong = tmp_path / "wrong.properties"
    wrong.write_text("acks\n")
    for words, why in (
        (f"{needed} --producer-props acsk=1", "did you mean acks?"),
        (f"{needed} --producer.config {wrong}", "wrong.properties: line 1: expected name=value"),
        (f"{needed} --warmup-records 4", "--warmup-records must be fewer"),
        (f"{needed} --preregister", "--preregister needs --transactional-id"),
        ("consumer --topic t --num-records 1 --date-format EEE", "'EEE' is none of"),
    ):
        code, out, err = await command.run(words)
        assert (code, out) == (2, ""), words
        assert why in err
        assert err.count("\n") == 1
    command.bootstrap = "127.0.0.1:1"
    code, out, err = await command.run(needed)
    assert (code, out) == (1, "")
    assert "connection refused" in err


async def test_requests_are_counted_by_their_api(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    metrics = RequestMetrics()
    async with Producer(bootstrap, metrics=metrics) as producer:
        await producer.send_and_wait(topic, b"")  # a new topic may need more than one request
        produced = metrics.apis[ApiKey.PRODUCE]
        before = produced.times_us.count
        for _ in range(3):
            await producer.send_and_wait(topic, b"")
    assert (produced.times_us.count - before, produced.failed) == (3, 0)
    assert metrics.apis[ApiKey.METADATA].times_us.count >= 1
    assert produced.times_us.largest > 0
    consumed = RequestMetrics()
    async with Consumer(bootstrap, metrics=consumed) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        consumer.seek_to_end(TopicPartition(topic, 0))
        while ApiKey.FETCH not in consumed.apis:
            await consumer.getmany(timeout_ms=50)
    assert consumed.apis[ApiKey.LIST_OFFSETS].times_us.count >= 1
