"""``fencepost_broker.blocking.Broker``: brokers of programs that have no loop."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fencepost_broker import DiskFull, ListenError, StateClock, TopicRefusedError
from fencepost_broker.blocking import Broker
from fencepost_broker.operations import OperationRefusedError, TimeOutTransaction
from fencepost_broker.server.embedded import broker as asyncio_broker
from fencepost_broker.server.loop_thread import LoopThread, enter, leave
from fencepost_client import TopicPartition
from fencepost_client.blocking import Consumer, Producer

from tests.support.always_due import AlwaysDue
from tests.support.waiting import polled

DAY_MS = 86_400_000
LONG_MS = 600_000
T = TopicPartition("t", 0)


def read(broker: Broker, count: int) -> list[bytes | None]:
    """The first committed records of the topic."""
    with Consumer(broker.bootstrap, isolation_level="read_committed") as consumer:
        consumer.assign([T])
        consumer.seek_to_beginning(T)
        found: list[bytes | None] = []
        while len(found) < count:
            found += [record.value for record in consumer.getmany(timeout_ms=LONG_MS)]
        return found


def write(broker: Broker, *sent: bytes) -> None:
    with Producer(broker.bootstrap) as producer:
        for each in sent:
            producer.send("t", each)
        producer.flush()


def broker_threads() -> int:
    return sum(thread.name == "fencepost-broker" for thread in threading.enumerate())


def test_a_client_that_blocks_is_served() -> None:
    with Broker(topics={"t": 1}) as broker:
        write(broker, b"one", b"two")
        assert read(broker, 2) == [b"one", b"two"]
        assert broker.stats()["topics"]["t"]["partitions"]


def test_the_clock_is_paused_and_set_from_a_thread() -> None:
    clock = StateClock(at_ms=LONG_MS)
    with Broker(topics=["t:1:message.timestamp.type=LogAppendTime"], clock=clock) as broker:
        broker.clock.pause()
        before = broker.clock.now_ms()
        broker.clock.jump(seconds=-5)
        with Producer(broker.bootstrap) as producer:
            assert producer.send_and_wait("t", b"one").timestamp_ms == before - 5000
        broker.clock.resume()
        polled(lambda: broker.clock.now_ms() > before - 5000)


def test_faults_of_the_disk_are_added_and_removed_from_a_thread() -> None:
    broker = Broker(topics={"t": 1})
    full = broker.disk.add(DiskFull(topic="t"))  # before there is a file of the topic
    full.remove()
    with broker, Producer(broker.bootstrap) as producer:
        full = broker.disk.add(DiskFull(topic="t"))
        delivery = producer.send("t", b"one")
        polled(lambda: full.fired)
        assert not delivery.done
        full.remove()
        assert delivery.result(timeout=60).offset == 0


def test_one_that_was_stopped_goes_on_where_it_was() -> None:
    broker = Broker(topics={"t": 1})
    with broker:
        before = broker.bootstrap
        write(broker, b"one")
    assert broker_threads() == 0
    assert broker.stop(), "a second time nothing is left to do"
    with broker:
        assert broker.bootstrap == before
        write(broker, b"two")
        assert read(broker, 2) == [b"one", b"two"]
        with pytest.raises(RuntimeError, match="is already running"):
            broker.start()


def test_all_share_a_thread_and_may_share_a_clock() -> None:
    clock = StateClock(manual=True, at_ms=DAY_MS)
    with Broker(clock=clock) as one, Broker(clock=clock) as other:
        assert broker_threads() == 1
        one.clock.advance(days=1)
        assert other.clock.now_ms() == 2 * DAY_MS


def test_time_moves_when_it_is_told_to() -> None:
    topic = "t:1:retention.ms=604800000"
    with Broker(topics=[topic], clock=StateClock(manual=True)) as broker:
        write(broker, b"old")
        broker.clock.advance(days=8)
        with Consumer(broker.bootstrap) as consumer:
            assert consumer.beginning_offsets([T]) == {T: 1}


def test_a_long_advance_leaves_the_broker_to_other_threads() -> None:
    clock = StateClock(manual=True)
    with Broker(topics={"t": 1}, clock=clock) as broker:
        due, before = AlwaysDue(clock), clock.now_ms()
        advance = threading.Thread(target=broker.clock.advance, kwargs={"days": 1}, daemon=True)
        advance.start()
        polled(lambda: due.expired)
        write(broker, b"meanwhile")
        due.is_over = True
        advance.join()
        assert clock.now_ms() == before + DAY_MS


def test_markers_are_held_until_they_are_released() -> None:
    with (
        Broker(topics={"t": 1}) as broker,
        Producer(broker.bootstrap, transactional_id="held") as producer,
    ):
        hold = broker.hold_markers("held")
        with producer.transaction() as transaction:
            transaction.send("t", b"kept back")
        explained = broker.explain_transaction("held")
        assert explained is not None
        assert explained.state == "PrepareCommit"
        partition = broker.explain_partition("t", 0)
        assert partition is not None
        assert partition.last_stable_offset == 0
        hold.release()
        # The next transaction begins when the last one's markers are there.
        with producer.transaction() as transaction:
            transaction.send("t", b"behind it")
        assert read(broker, 2) == [b"kept back", b"behind it"]


def test_errors_are_those_of_the_other_broker() -> None:
    with Broker() as broker:
        with pytest.raises(TopicRefusedError, match="no spaces"):
            broker.create_topic("no spaces")
        port = int(broker.bootstrap.rpartition(":")[2])
        with pytest.raises(ListenError, match="in use already"):
            Broker(port=port).start()
    assert broker_threads() == 0
    for call in (broker.stats, lambda: broker.clock.advance(days=1)):
        with pytest.raises(RuntimeError, match="not running"):
            call()


def test_its_own_thread_cannot_wait_for_itself() -> None:
    thread = LoopThread()

    async def nothing() -> None:
        """Never begun."""

    async def waits_for_itself() -> None:
        thread.run(nothing)

    try:
        with pytest.raises(RuntimeError, match="wait for itself"):
            thread.run(waits_for_itself)
    finally:
        thread.end()


def test_who_gives_up_waiting_for_a_stop_has_a_broker_that_closes(tmp_path: Path) -> None:
    broker = Broker(data_dir=tmp_path / "data")
    broker.start()
    with pytest.raises(TimeoutError):
        broker.stop(timeout_seconds=0)
    broker.stop()
    with Broker(data_dir=tmp_path / "data"):
        """The directory is free again."""


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="there is no such signal here")
def test_a_start_that_is_cut_short_leaves_nothing_behind(tmp_path: Path) -> None:
    thread = enter()
    broker = asyncio_broker.Broker(data_dir=tmp_path / "data")

    async def starts_and_goes_on() -> None:
        async with broker:
            os.kill(os.getpid(), signal.SIGUSR1)  # comes to the thread that waits
            await asyncio.get_running_loop().create_future()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            thread.run(starts_and_goes_on)
    finally:
        signal.signal(signal.SIGUSR1, before)
        leave(thread)
    with Broker(data_dir=tmp_path / "data"):
        """The directory is free again."""


PROGRAM = """
import sys
from fencepost_broker.blocking import Broker
from fencepost_broker.operations import OperationRefusedError, TimeOutTransaction

broker = Broker(data_dir=sys.argv[1], topics={"t": 1})
broker.start()
if sys.argv[2] == "fork":
    import os
    if not os.fork():
        try:
            broker.stats()
        except RuntimeError as error:
            print(error, flush=True)
        os._exit(0)
    os.wait()
"""


def run(data_dir: Path, how: str) -> str:
    program = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(data_dir), how]
    return subprocess.run(program, check=True, capture_output=True, text=True).stdout


def test_a_program_that_ends_without_stopping_it_leaves_its_files_in_order(tmp_path: Path) -> None:
    run(tmp_path / "data", "end")
    assert (tmp_path / "data" / ".kafka_cleanshutdown").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_that_was_forked_has_no_broker(tmp_path: Path) -> None:
    assert "before the process was forked" in run(tmp_path / "data", "fork")


def test_an_operation_is_performed_where_the_broker_runs() -> None:
    with (
        Broker(topics={"t": 1}) as broker,
        Producer(broker.bootstrap, transactional_id="a") as producer,
    ):
        producer.begin()
        producer.send_and_wait("t", b"lost")
        now = broker.perform(TimeOutTransaction(transactional_id="a"))
        assert (now.state, now.producer_epoch) == ("PrepareAbort", 1)
        with pytest.raises(OperationRefusedError, match="did you mean 'a'"):
            broker.perform(TimeOutTransaction(transactional_id="aa"))
        producer.abort()
    with pytest.raises(RuntimeError, match="not running"):
        broker.perform(TimeOutTransaction(transactional_id="a"))
