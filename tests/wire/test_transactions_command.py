"""``fencepost transactions`` asks a broker that runs in the test's own loop, and is asked there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fencepost_broker import Broker, StateClock
from fencepost_broker.cli.main import main
from fencepost_broker.observability.explained import KeepingProducer
from fencepost_broker.storage.log import StorageError
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest

from tests.support.broker import Client
from tests.wire.transaction_harness import Producer, stable_offset, until

START_MS = 1_800_000_000_000
UNVERIFIED = {"transaction.partition.verification.enable": "false"}
PREPARING = {
    "unstable.api.versions.enable": "true",
    "transaction.two.phase.commit.enable": "true",
}
TOPICS = ["t:3:retention.ms=-1"]  # records are of 1970
MINUTE_MS = 60_000


class Shell:
    """Runs the command in another thread, since it blocks."""

    def __init__(self, broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
        self.broker = broker
        self._capsys = capsys

    async def run(self, *words: str) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        self._capsys.readouterr()
        arguments = ["transactions", "--bootstrap", self.broker.bootstrap, *words]
        code = await asyncio.to_thread(main, arguments)
        told = self._capsys.readouterr()
        return code, told.out, told.err

    async def lines(self, *words: str) -> list[str]:
        """Its lines; it must have succeeded."""
        code, out, err = await self.run(*words)
        assert code == 0, err
        return [" ".join(line.split()) for line in out.splitlines()]

    async def json(self, *words: str) -> Any:
        """What it writes for programs."""
        code, out, err = await self.run(*words, "--json")
        assert code == 0, err
        return json.loads(out)

    async def refused(self, *words: str, code: int = 1) -> str:
        """Why it fails."""
        got, out, err = await self.run(*words)
        assert (got, out) == (code, "")
        assert err.startswith(f"fencepost transactions {words[0]}: ")
        return err


class Scene:
    """A broker with two producers, ``first`` and ``second``, each with a connection."""

    def __init__(self, shell: Shell, clock: StateClock, clients: list[Client]) -> None:
        self.shell = shell
        self.clock = clock
        self.broker = shell.broker
        self.first = Producer(clients[0], "first")
        self.second = Producer(clients[1], "second")


@asynccontextmanager
async def scene(
    capsys: pytest.CaptureFixture[str], settings: dict[str, str] | None = None
) -> AsyncIterator[Scene]:
    clock = StateClock(manual=True, at_ms=START_MS)
    async with (
        Broker(topics=TOPICS, clock=clock, settings=settings) as broker,
        Client(broker.bootstrap) as one,
        Client(broker.bootstrap) as two,
    ):
        made = Scene(Shell(broker, capsys), clock, [one, two])
        await made.first.start(timeout_ms=2 * MINUTE_MS)
        await made.second.start(timeout_ms=5 * MINUTE_MS)
        yield made


async def prepare(producer: Producer, *, keeps: bool = False) -> None:
    """Start it again as a producer of a two-phase commit."""
    request = InitProducerIdRequest(producer.name, enable2_pc=True, keep_prepared_txn=keeps)
    answer = await producer.client.ask(request, 6)
    assert not answer.error_code
    producer.id, producer.epoch = answer.producer_id, answer.producer_epoch


@pytest.mark.asyncio
async def test_lists_by_each_filter(capsys: pytest.CaptureFixture[str]) -> None:
    async with scene(capsys) as it:
        await it.first.send()
        it.clock.advance(seconds=90)
        await it.second.send()
        assert await it.shell.lines("list") == [
            "TRANSACTIONAL ID COORDINATOR PRODUCER ID STATE",
            f"first 1 {it.first.id} Ongoing",
            f"second 1 {it.second.id} Ongoing",
        ]

        async def ids(*words: str) -> list[str]:
            return [each["transactional_id"] for each in await it.shell.json("list", *words)]

        assert await ids("--state", "ongoing") == ["first", "second"]
        assert await ids("--state", "Empty", "--state", "PrepareCommit") == []
        assert await ids("--producer-id", str(it.second.id)) == ["second"]
        assert await ids("--longer-than", "60000") == ["first"]
        assert await ids("--duration-filter", "90000") == []
        assert await ids("--pattern", "f.*") == ["first"]
        code, out, err = await it.shell.run("list", "--pattern", "none")
        assert (code, out, err) == (0, "", "no transactional ids like that\n")
        assert "did you mean Ongoing?" in await it.shell.refused(
            "list", "--state", "Ongoin", code=2
        )
        assert "INVALID_REGULAR_EXPRESSION" in await it.shell.refused("list", "--pattern", "(")


@pytest.mark.asyncio
async def test_describes_by_the_state_clock(capsys: pytest.CaptureFixture[str]) -> None:
    async with scene(capsys) as it:
        await it.first.send(number=2)
        await it.first.send(number=0)
        it.clock.advance(seconds=90)
        [described] = await it.shell.json("describe", "first")
        assert described == {
            "coordinator_id": 1,
            "transactional_id": "first",
            "producer_id": it.first.id,
            "producer_epoch": it.first.epoch,
            "state": "Ongoing",
            "timeout_ms": 2 * MINUTE_MS,
            "started_ms": START_MS,
            "duration_ms": 90_000,
            "partitions": [{"topic": "t", "partition": 0}, {"topic": "t", "partition": 2}],
            "kept_by": None,
        }
        lines = await it.shell.lines("describe", "second", "--transactional-id", "first")
        assert "state Empty" in lines
        assert "began -" in lines
        assert "open for 1 min 30 s" in lines
        assert "partitions t-0, t-2" in lines
        reason = await it.shell.refused("describe", "frist")
        assert "there is no transactional id 'frist'; did you mean 'first'?" in reason
        assert "list" in await it.shell.refused("describe", code=2)


@pytest.mark.asyncio
async def test_producers_of_a_partition(capsys: pytest.CaptureFixture[str]) -> None:
    async with scene(capsys) as it:
        await it.first.send()
        await it.first.end()
        await until(lambda: stable_offset(it.first.client), 2)
        await it.second.send()
        ended, begun = await it.shell.json("describe-producers", "--topic", "t", "--partition", "0")
        assert ended["producer_id"] == it.first.id
        assert ended["coordinator_epoch"] == 0
        assert (ended["start_offset"], ended["last_sequence"]) == (None, None)
        assert begun == {
            "producer_id": it.second.id,
            "producer_epoch": it.second.epoch,
            "coordinator_epoch": None,
            "last_sequence": 0,
            "last_timestamp_ms": 1000,
            "start_offset": 2,
        }
        asked = ("describe-producers", "--partition", "0", "--broker-id", "1", "--topic")
        heading, *_ = await it.shell.lines(*asked, "t")
        assert heading.endswith("OPEN SINCE OFFSET")
        assert "did you mean 't'" not in await it.shell.refused(*asked, "elsewhere")
        one = ("describe-producers", "--topic", "t", "--partition")
        assert "which has 0 to 2" in await it.shell.refused(*one, "3")
        assert "there is no broker 9" in await it.shell.refused(*one, "0", "--broker-id", "9")
        assert (await it.shell.run(*one, "1"))[0] == 0


@pytest.mark.asyncio
async def test_what_a_transaction_waits_for_and_who_is_before_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with scene(capsys) as it:
        await it.first.send()
        it.clock.advance(seconds=30)
        await it.second.send()
        await it.second.send(number=1)
        it.clock.advance(seconds=15)

        told = await it.shell.json("explain", "second")
        assert (told["state"], told["ends_in_ms"]) == ("Ongoing", 5 * MINUTE_MS - 15_000)
        assert (told["since_ms"], told["now_ms"]) == (START_MS + 30_000, START_MS + 45_000)
        behind, alone = told["partitions"]
        assert (behind["last_stable_offset"], behind["high_watermark"], behind["lag"]) == (0, 2, 2)
        assert behind["start_offset"] == 1
        assert behind["holder"] == {
            "producer_id": it.first.id,
            "producer_epoch": it.first.epoch,
            "start_offset": 0,
            "transactional_id": "first",
            "coordinator_id": 1,
            "state": "Ongoing",
            "hangs": False,
            "ends_in_ms": 2 * MINUTE_MS - 45_000,
        }
        assert alone["holder"]["transactional_id"] == "second"

        lines = await it.shell.lines("explain", "second")
        assert lines[0].startswith("second: Ongoing, at broker 1 (127.0.0.1:")
        assert "ends in 4 min 45 s at the latest, by abort (timeout 5 min)" in lines
        assert lines[-2] == (
            f"t-0 1 1 0 2 2 producer {it.first.id} epoch 0 of first (Ongoing), since offset 0,"
            " for at most 1 min 15 s"
        )
        assert lines[-1] == "t-1 1 0 0 1 1 this transaction, since offset 0"

        partition = await it.shell.json("explain", "--partition", "t:0")
        assert partition == behind | {"start_offset": None}
        lines = await it.shell.lines("explain", "--partition", "t:0")
        assert "readers wait for 2 offsets" in lines
        assert "ends in 1 min 15 s at the latest, by abort" in lines
        assert (
            "no transaction is open" in (await it.shell.lines("explain", "--partition", "t:2"))[1]
        )


@pytest.mark.asyncio
async def test_markers_and_the_requests_behind_them(capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"transaction.park.max.ms": "60000"}
    async with scene(capsys, settings) as it:
        await it.first.send(number=0)
        await it.first.send(number=1)
        hold = it.broker.hold_markers("first", partition=1)
        await it.first.end()
        await until(lambda: stable_offset(it.first.client), 2)
        sending = asyncio.ensure_future(it.first.send(number=0))

        async def waiting() -> int:
            explained = it.broker.explain_transaction("first")
            assert explained is not None
            return len(explained.requests or ())

        await until(waiting, 1)
        told = await it.shell.json("explain", "first")
        assert told["state"] == "PrepareCommit"
        assert told["markers"] == [
            {"topic": "t", "partition": 1, "broker_id": 1, "last_error": None, "is_held": True}
        ]
        [request] = told["requests"]
        assert (request["api"], request["client"]["client_id"]) == ("Produce", "test")
        assert request["client"]["is_connected"]
        assert (told["ends_in_ms"], told["not_told"]) == (None, False)
        lines = await it.shell.lines("explain", "first")
        assert "waits for 1 commit marker; no timeout ends this" in lines
        assert "t-1 at broker 1: held back by a test (Broker.hold_markers)" in lines
        assert any(line.startswith("Produce of client test at 127.0.0.1:") for line in lines)
        assert lines[-1].endswith("this transaction, since offset 0")
        lines = await it.shell.lines("explain", "--partition", "t:1")
        assert lines[-1].endswith(f"{it.broker.bootstrap} explain first")
        hold.release()
        assert await sending is ErrorCode.NONE
        await it.first.end("abort")
        lines = await it.shell.lines("explain", "second")
        assert "waits for nothing: no transaction is open" in lines
        assert "forgotten in 7 d, unless it is used" in lines


@pytest.mark.asyncio
async def test_markers_that_fail(capsys: pytest.CaptureFixture[str]) -> None:
    async with scene(capsys) as it:
        await it.first.send()
        assert it.broker._process is not None
        log = it.broker._process.broker.table.by_name["t"].partitions[0].log
        log.flush_failed(StorageError("sync", "t-0", "the disk is broken"))
        await it.first.end("abort")

        async def repeats() -> bool:
            explained = it.broker.explain_transaction("first")
            assert explained is not None
            return (explained.repeats or 0) > 2

        await until(repeats, True)
        told = await it.shell.json("explain", "first")
        assert [each["last_error"] for each in told["markers"]] == ["KAFKA_STORAGE_ERROR"]
        assert told["repeats"] > 2
        lines = await it.shell.lines("explain", "first")
        assert "waits for 1 abort marker; no timeout ends this" in lines
        assert "t-0 at broker 1: the last attempt failed: KAFKA_STORAGE_ERROR" in lines
        assert any(line.startswith("sent again ") for line in lines)


@pytest.mark.asyncio
async def test_names_that_a_terminal_would_obey(capsys: pytest.CaptureFixture[str]) -> None:
    async with scene(capsys) as it:
        await Producer(it.first.client, "\x1b[2Jgone\u202eé").start()
        listed = await it.shell.lines("list")
        assert listed[1].startswith(r"\x1b[2Jgone\u202eé 1 ")
        [told] = await it.shell.json("list", "--pattern", ".*gone.*")
        assert told["transactional_id"] == "\x1b[2Jgone\u202eé"
        assert r"'\x1b" in await it.shell.refused("describe", "\x1b")


@pytest.mark.asyncio
async def test_what_hangs_is_found_explained_and_ended(capsys: pytest.CaptureFixture[str]) -> None:
    async with scene(capsys, UNVERIFIED) as it:
        await it.first.send(number=0)  # old records, but its coordinator keeps it open
        await it.second.send(number=1, version=11)  # its coordinator never hears of this one
        await it.first.send(number=1)
        [found] = await it.shell.json("find-hanging")
        assert found == {
            "topic": "t",
            "partition": 1,
            "producer_id": it.second.id,
            "producer_epoch": it.second.epoch,
            "coordinator_epoch": None,
            "start_offset": 0,
            "last_timestamp_ms": 1000,
            "duration_ms": START_MS - 1000,
            "transactional_id": "second",
        }
        heading, row = await it.shell.lines("find-hanging", "--topic", "t", "--partition", "1")
        assert (heading.split()[0], row.split()[:4]) == (
            "TOPIC",
            ["t", "1", str(it.second.id), "0"],
        )
        century = ("--max-transaction-timeout", "52560000")
        for where in (("--partition", "0", "--topic", "t"), century):
            code, out, err = await it.shell.run("find-hanging", *where)
            assert (code, out) == (0, "")
            assert err.startswith("no transaction is hanging in ")
        assert len(await it.shell.json("find-hanging", "--broker-id", "1")) == 1
        assert "needs --topic" in await it.shell.refused("find-hanging", "--partition", "1", code=2)

        told = await it.shell.json("explain", "second")
        [partition] = told["partitions"]
        assert (told["state"], partition["holder"]["hangs"]) == ("Empty", True)
        lines = await it.shell.lines("explain", "first")
        begun = "--topic t --partition 1 --start-offset 0"
        at = f"--bootstrap {it.broker.bootstrap}"
        assert lines[-1] == f"fencepost transactions {at} abort {begun}"

        done = await it.shell.lines("abort", *begun.split())
        assert done == [
            f"aborted in t-1: producer {it.second.id} epoch 0; readers of committed records get to"
            " offset 1 of 3 now"
        ]
        assert await it.shell.json("find-hanging") == []


@pytest.mark.asyncio
async def test_an_abort_by_hand_spares_what_a_coordinator_will_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with scene(capsys) as it:
        await it.first.send()
        place = ("--topic", "t", "--partition", "0")
        reason = await it.shell.refused("abort", *place, "--start-offset", "0")
        assert "'first' is Ongoing" in reason
        reason = await it.shell.refused("abort", *place, "--start-offset", "7")
        assert f"open are: offset 0 (producer {it.first.id})" in reason
        assert "no transaction is given" in await it.shell.refused("abort", *place, code=2)
        by_producer = [
            *place, "--producer-id", str(it.first.id), "--producer-epoch", "0",
            "--coordinator-epoch", "0",
        ]  # fmt: skip
        assert "excludes the options" in await it.shell.refused(
            "abort", *by_producer, "--start-offset", "0", code=2
        )
        assert "is not hanging" in await it.shell.refused("abort", *by_producer)
        done = await it.shell.json("abort", *by_producer, "--force")
        assert done["last_stable_offset"] == done["high_watermark"] == 2
        stale = by_producer.copy()
        stale[stale.index("--producer-id") + 1] = str(it.second.id)
        await it.shell.lines("abort", *stale)  # a producer that never was there: as in Kafka
        assert await it.second.initialize() is ErrorCode.NONE
        await it.second.send()
        reason = await it.shell.refused("abort", *stale, "--force")
        assert "INVALID_PRODUCER_EPOCH" in reason


@pytest.mark.asyncio
async def test_what_makes_no_sense_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    async with scene(capsys) as it:
        for words in ((), ("a", "--partition", "t:0"), ("--partition", "t"), ("--partition", ":1")):
            await it.shell.refused("explain", *words, code=2)
        assert "there is no topic 'T'; did you mean 't'?" not in await it.shell.refused(
            "explain", "--partition", "orders:0"
        )
        await it.shell.refused("explain", "nobody")
        for bootstrap in ("a:b", ":1", "a:0", "a:70000", ""):
            reason = await it.shell.refused("list", "--bootstrap", bootstrap, code=2)
            assert "host:port" in reason
        # The first of these is nobody's: the second is asked.
        both = f"127.0.0.1:1,{it.broker.bootstrap}"
        assert (await it.shell.run("list", "--bootstrap-server", both))[0] == 0


@pytest.mark.asyncio
async def test_a_kept_transaction_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    async with scene(capsys, PREPARING) as it:
        await prepare(it.first)
        await it.first.send()
        epoch = it.first.epoch
        assert "timeout none (two-phase commit)" in await it.shell.lines("describe", "first")
        assert (await it.shell.json("describe", "first"))[0]["kept_by"] is None
        await prepare(it.first, keeps=True)
        it.clock.advance(days=30)
        kept_by = {"producer_id": it.first.id, "producer_epoch": epoch + 1}

        [described] = await it.shell.json("describe", "first")
        assert (described["producer_epoch"], described["kept_by"]) == (epoch, kept_by)
        who = f"producer {it.first.id} epoch {epoch + 1}"
        assert f"kept by {who}" in await it.shell.lines("describe", "first")
        told = await it.shell.json("explain", "first")
        assert (told["ends_in_ms"], told["kept_by"]) == (None, kept_by)
        explained = it.broker.explain_transaction("first")
        assert explained is not None
        assert explained.kept_by == KeepingProducer(**kept_by)
        lines = await it.shell.lines("explain", "first")
        assert f"waits for {who}, which has kept it, to commit or abort it" in lines
        assert "ends when its producer ends it; no timeout (two-phase commit)" in lines
        assert await it.shell.json("find-hanging") == []
        [partition] = told["partitions"]
        assert (partition["holder"]["hangs"], partition["holder"]["ends_in_ms"]) == (False, None)
        lines = await it.shell.lines("explain", "--partition", "t:0")
        assert any(line.endswith("without a timeout (two-phase commit)") for line in lines)
        assert "ends when its producer ends it; no timeout (two-phase commit)" in lines


@pytest.mark.asyncio
async def test_a_prepared_transaction_is_terminated(capsys: pytest.CaptureFixture[str]) -> None:
    async with scene(capsys, PREPARING) as it:
        await prepare(it.first)
        await it.first.send()
        it.clock.advance(days=6)
        terminate = ("force-terminate", "--transactional-id")
        assert "did you mean 'first'" in await it.shell.refused(*terminate, "firs")
        assert "is empty" in await it.shell.refused(*terminate, "", code=2)
        assert await it.shell.lines(*terminate, "first") == [
            "terminated: first has no open transaction, and its producer is fenced"
        ]
        assert await it.first.end() is ErrorCode.PRODUCER_FENCED
        assert await stable_offset(it.first.client) == 2
        ended = await it.shell.json(*terminate, "first")
        assert (ended["transactional_id"], ended["state"]) == ("first", "Empty")
        listed = await it.shell.json("list")
        assert [each["transactional_id"] for each in listed] == ["first", "second"]
