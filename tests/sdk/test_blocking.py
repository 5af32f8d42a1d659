"""``fencepost_client.blocking``: the same, from threads that have no loop."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from fencepost_client import (
    IllegalStateError,
    NewTopic,
    TopicPartition,
    UnknownTopicOrPartitionError,
)
from fencepost_client.blocking import Admin, Consumer, Producer
from fencepost_client.clients.blocking import portal
from fencepost_client.clients.blocking.codegen import TARGET, faces

AGAIN_SECONDS = 5.0


pytestmark = pytest.mark.usefixtures("no_thread_is_left")


def test_the_generated_module_is_up_to_date() -> None:
    assert TARGET.read_text(encoding="utf-8") == faces()


def send_and_fail(producer: Producer, topic: str) -> None:
    with producer.transaction() as transaction:
        transaction.send(topic, b"never").result(timeout=60)
        raise ZeroDivisionError


def test_everything_once(servers: str, topic: str) -> None:
    with Admin(servers) as admin:
        admin.create_topics([NewTopic(topic, partitions=1), NewTopic(f"{topic}-out", partitions=1)])
    with Producer(servers) as producer:
        first = producer.send(topic, b"0", key=b"k", headers=[("h", b"v")])
        assert producer.send_and_wait(topic, b"1").offset == 1
        many = producer.send_many(topic, [b"2", b"3"])
        many.result(timeout=60)
        assert (many.done, many[0].result().offset, [d.done for d in many[:]]) == (
            True,
            2,
            [True, True],
        )
    assert (first.done, first.error, first.result().offset) == (True, None, 0)
    with (
        Consumer(
            servers,
            group_id=topic,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            enable_auto_commit=False,
        ) as consumer,
        Producer.transactional(f"{topic}-id", consumer=consumer) as transformer,
    ):
        consumer.subscribe([topic])
        seen = []
        for record in consumer:
            seen.append((record.offset, record.value))
            if len(seen) == 4:
                break
        assert seen == [(0, b"0"), (1, b"1"), (2, b"2"), (3, b"3")]
        with transformer.transaction() as transaction:
            transaction.send(f"{topic}-out", b"sum")
            transaction.send_offsets(consumer.positions())
        with pytest.raises(ZeroDivisionError):
            send_and_fail(transformer, f"{topic}-out")
        assert consumer.committed([TopicPartition(topic, 0)])[TopicPartition(topic, 0)].offset == 4
    with Consumer(servers, isolation_level="read_committed") as reader:
        reader.assign([TopicPartition(f"{topic}-out", 0)])
        reader.seek_to_beginning()
        batches = reader.fetch_batches(timeout_ms=60_000)
        assert [bytes(v or b"") for batch in batches for v in batch.values] == [b"sum"]


def test_errors_are_raised_where_the_call_is(servers: str, topic: str) -> None:
    with Producer(servers) as producer:
        producer.send_and_wait(topic, b"")
        with pytest.raises(UnknownTopicOrPartitionError):
            producer.send(topic, b"", partition=99)
    with pytest.raises(IllegalStateError, match="use `with Producer"):
        producer.send(topic, b"")
    with pytest.raises(IllegalStateError, match="started before"):
        producer.start()


def test_an_outcome_is_waited_for_so_long(servers: str, topic: str) -> None:
    with Producer(servers, linger_ms=3_600_000, delivery_timeout_ms=7_200_000) as producer:
        delivery = producer.send(topic, b"waits")
        with pytest.raises(TimeoutError):
            delivery.result(timeout=0.01)
        assert not delivery.done
        producer.flush()
        assert delivery.result().offset == 0


def test_listeners_run_in_the_thread_that_reads_and_may_commit(servers: str, topic: str) -> None:
    here = threading.current_thread()
    heard: list[str] = []
    with Producer(servers) as producer:
        producer.send_and_wait(topic, b"0")
    with Consumer(servers, group_id=topic, auto_offset_reset="earliest") as consumer:

        def assigned(partitions: set[TopicPartition]) -> None:
            assert threading.current_thread() is here
            heard.append("assigned")
            with pytest.raises(IllegalStateError, match="rebalance listener cannot"):
                consumer.getmany()

        def revoked(partitions: set[TopicPartition]) -> None:
            assert threading.current_thread() is here
            consumer.commit({TopicPartition(topic, 0): 1})
            heard.append("revoked")

        consumer.subscribe([topic], on_assigned=assigned, on_revoked=revoked)
        assert [r.value for r in consumer.getmany(timeout_ms=60_000)] == [b"0"]
        consumer.unsubscribe()
        assert heard == ["assigned", "revoked"]
        assert consumer.committed([TopicPartition(topic, 0)])[TopicPartition(topic, 0)].offset == 1


def test_what_a_listener_raises_is_raised_by_the_call(servers: str, topic: str) -> None:
    def fail(_: set[TopicPartition]) -> None:
        raise ZeroDivisionError

    with Producer(servers) as producer:
        producer.send_and_wait(topic, b"0")
    with Consumer(servers, group_id=topic) as consumer:
        consumer.subscribe([topic], on_assigned=fail)
        with pytest.raises(ZeroDivisionError):
            consumer.getmany(timeout_ms=60_000)


class Interrupter:
    """Somebody at the keyboard, who tries again if nothing happens.

    The handler is Python's own meanwhile, whatever loops of other tests have left behind.
    """

    def __init__(self, condition: threading.Event) -> None:
        self._condition = condition
        self._over = threading.Event()
        self._before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self._thread = threading.Thread(target=self._interrupt)
        self._thread.start()

    def _interrupt(self) -> None:
        self._condition.wait()
        while not self._over.is_set():
            os.kill(os.getpid(), signal.SIGINT)
            self._over.wait(AGAIN_SECONDS)

    def end(self) -> None:
        """What was to be interrupted was."""
        self._over.set()
        self._thread.join()
        signal.signal(signal.SIGINT, self._before)


def test_an_interrupt_cancels_the_call_that_waits() -> None:
    waits, ended = threading.Event(), threading.Event()

    async def forever() -> None:
        try:
            waits.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    here = portal.enter()
    keyboard = Interrupter(waits)
    try:
        with pytest.raises(KeyboardInterrupt):
            here.call(forever)
        assert ended.is_set()
    finally:
        keyboard.end()
        portal.leave(here)


def test_an_interrupt_within_a_callback_cancels_the_call_around_it() -> None:
    ended = threading.Event()

    def callback() -> None:
        raise KeyboardInterrupt

    async def asks() -> None:
        try:
            await portal.in_calling_thread(callback)
        finally:
            ended.set()

    here = portal.enter()
    try:
        with pytest.raises(KeyboardInterrupt):
            here.call(asks)
        assert ended.is_set()
    finally:
        portal.leave(here)


def test_who_waits_while_the_loop_ends_is_told() -> None:
    here = portal.enter()

    async def ends_the_loop() -> None:
        portal._shared.portal = None
        here._is_open = False
        here._stop.set()
        await asyncio.Event().wait()

    with pytest.raises(IllegalStateError, match="closed while"):
        here.call(ends_the_loop)
    with pytest.raises(IllegalStateError, match="closed"):
        here.call(asyncio.sleep, 0)
    here._thread.join()


def test_several_threads_share_a_producer(servers: str, topic: str) -> None:
    offsets: list[int] = []
    with Producer(servers, linger_ms=0) as producer:
        producer.send_and_wait(topic, b"")

        def some() -> None:
            offsets.extend(
                producer.send_and_wait(topic, b"", partition=0).offset for _ in range(10)
            )

        threads = [threading.Thread(target=some) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert len(set(offsets)) == 40


@pytest.mark.asyncio
async def test_within_a_running_loop_as_in_a_notebook(servers: str, topic: str) -> None:
    with Producer(servers) as producer:
        assert producer.send_and_wait(topic, b"").offset == 0


def run_script(tmp_path: Path, servers: str, text: str) -> str:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(text), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script, servers], capture_output=True, text=True, check=True
    )
    assert not done.stderr
    return done.stdout


def test_the_interpreter_ends_with_all_left_open(servers: str, topic: str, tmp_path: Path) -> None:
    text = f"""
        import sys
        from fencepost_client.blocking import Consumer, Producer
        producer = Producer(sys.argv[1])
        producer.start()
        consumer = Consumer(sys.argv[1], group_id="{topic}")
        consumer.start()
        consumer.subscribe(["{topic}"])
        print(producer.send_and_wait("{topic}", b"").offset)
        consumer.block_on_rebalance(60_000)
    """
    assert run_script(tmp_path, servers, text) == "0\n"


def test_the_interpreter_ends_while_a_client_connects(tmp_path: Path) -> None:
    """No thread resolves a name then; the first look-up ends when that is so."""
    text = """
        import concurrent.futures.thread as pools
        import contextlib, socket, threading, time
        from fencepost_client import IllegalStateError
        from fencepost_client.blocking import Producer
        resolve, is_asked = socket.getaddrinfo, threading.Event()
        def resolve_late(*arguments, **more):
            is_asked.set()
            while not pools._shutdown:
                time.sleep(0.01)
            return resolve(*arguments, **more)
        def start():
            with contextlib.suppress(IllegalStateError):
                Producer("127.0.0.1:1,127.0.0.2:1").start()
        socket.getaddrinfo = resolve_late
        threading.Thread(target=start, daemon=True).start()
        is_asked.wait()
    """
    assert run_script(tmp_path, "", text) == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_forked_child_is_refused_and_starts_its_own(
    servers: str, topic: str, tmp_path: Path
) -> None:
    text = f"""
        import os, sys, warnings
        from fencepost_client.blocking import Producer
        warnings.simplefilter("ignore", DeprecationWarning)  # forks of programs with threads
        with Producer(sys.argv[1]) as producer:
            if child := os.fork():
                assert os.waitpid(child, 0)[1] == 0
                print("parent", producer.send_and_wait("{topic}", b"").offset)
            else:
                try:
                    producer.send("{topic}", b"")
                except Exception as error:
                    print(error)
                with Producer(sys.argv[1]) as own:
                    print("child", own.send_and_wait("{topic}", b"").offset, flush=True)
    """
    said = run_script(tmp_path, servers, text).splitlines()
    assert "before the process was forked" in said[0]
    assert said[1:] == ["child 0", "parent 1"]
