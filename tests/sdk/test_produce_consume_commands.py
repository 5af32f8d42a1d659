"""``fencepost produce`` and ``fencepost consume`` against our broker, and beside kcat."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_client import Admin, Consumer, NewTopic, Producer, TopicPartition

from tests.sdk.harness.commands import Shell

FILE = "lines"
RUN = """
import argparse, importlib, sys
command = importlib.import_module(f"fencepost_client.commands.{sys.argv[1]}").COMMAND
parser = argparse.ArgumentParser()
command.add_arguments(parser)
sys.exit(command.run(parser.parse_args(sys.argv[2:])))
"""
Write = Callable[[bytes], int]
pytestmark = pytest.mark.asyncio


@asynccontextmanager
async def running(bootstrap: str, *words: str) -> AsyncIterator[Process]:
    """The command as a process, which a terminal could interrupt."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", RUN, *words, "--bootstrap", bootstrap,
        stdin=PIPE, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes the file that is produced from."""
    monkeypatch.chdir(tmp_path)
    return (tmp_path / FILE).write_bytes


async def create(bootstrap: str, topic: str, partitions: int = 1) -> None:
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, partitions, 1)])


async def values(shell: Shell, topic: str, *more: str) -> list[str]:
    code, out, err = await shell.run("consume", "-t", topic, "-e", *more)
    assert (code, err) == (0, "")
    return out.splitlines()


async def test_there_and_back(shell: Shell, bootstrap: str, topic: str, lines: Write) -> None:
    await create(bootstrap, topic, 2)
    lines(b"a=1,b=2\n=x\n\xff=\n")
    to = ("produce", "-t", topic, "--file", FILE, "-K", "=", "-p", "1")
    code, out, err = await shell.run(*to, "-H", "of=all", "-z", "gzip")
    assert (code, out) == (0, "")
    assert err == f"3 records written to {topic}\n  partition 1: offsets 0 to 2\n"
    assert await values(shell, topic, "-f", r"%p %o %k %s %h %K %S\n", "-c", "2") == [
        "1 0 a 1,b=2 of=all 1 5", "1 1  x of=all 0 1"
    ]  # fmt: skip
    told = [json.loads(each) for each in await values(shell, topic, "--json")]
    assert told[2]["key"] == {"base64": "/w=="}
    assert told[2]["headers"] == [["of", "all"]]
    lines("".join(json.dumps(each) + "\n" for each in told).encode())
    assert (await shell.run("produce", "-t", topic, "--json", "--file", FILE, "-q"))[2] == ""
    again = [json.loads(each) for each in await values(shell, topic, "--json", "-o", "-3")]
    assert [each.pop("offset") for each in again] == [3, 4, 5]
    for each in told:
        del each["offset"]
    assert again == told


async def test_where_to_begin(shell: Shell, bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    assert await values(shell, topic) == []
    now_ms = int(time.time() * 1000)  # records of 1970 would be deleted after some minutes
    async with Producer(bootstrap) as producer:
        for number in range(5):
            await producer.send(topic, b"%d" % number, timestamp_ms=now_ms + number)
    for where, wanted in (
        ("beginning", "01234"), ("3", "34"), ("-2", "34"), ("-9", "01234"),
        (f"s@{now_ms + 1}", "1234"), (f"s@{now_ms + 9999}", ""), ("end", ""),
        ("earliest", "01234"), ("latest", ""),
    ):  # fmt: skip
        assert await values(shell, topic, "-o", where) == list(wanted), where
    assert await values(shell, topic, "-c", "2", "-K", "|") == ["|0", "|1"]
    code, out, _ = await shell.run("consume", "--regex", f"{topic[:-1]}.", "-e", "-c", "1")
    assert (code, out) == (0, "0\n")


async def test_broken_lines_are_told_and_the_rest_is_written(
    shell: Shell, bootstrap: str, topic: str, lines: Write
) -> None:
    await create(bootstrap, topic)
    lines(b"a:1\nbroken\nb:2\n" + b"c:" + b"x" * 3_000_000 + b"\nd:4\n")
    to = ("produce", "-t", topic, "--file", FILE, "-K", ":")
    code, _, err = await shell.run(*to)
    assert code == 1
    assert "produce: line 2: no ':' ends the key" in err
    assert "1 record written" in err
    code, _, err = await shell.run(*to, "--ignore-errors")
    assert code == 1
    assert "line 4: MESSAGE_TOO_LARGE" in err
    assert await values(shell, topic) == ["1", "1", "2", "4"]
    await shell.refused("produce", "-t", topic, "--file", "/nowhere/at/all", code=2)
    await shell.refused("produce", "-t", topic, "--commit-every", "2", code=2)
    assert "is not a setting of this client" in await shell.refused(
        "consume", "-t", topic, "-X", "a=b", code=2
    )
    assert "%y" in await shell.refused("consume", "-t", topic, "-f", "%y", code=2)
    assert "no partition 7" in await shell.refused("consume", "-t", topic, "-p", "7")
    await shell.refused("consume", "-t", topic, "-g", "g", "-o", "3", code=2)


async def test_transactions(shell: Shell, bootstrap: str, topic: str, lines: Write) -> None:
    await create(bootstrap, topic)
    lines(b"1\n2\n3\n4\n5\n")
    to = ("produce", "-t", topic, "--file", FILE, "--transactional-id", topic)
    code, _, err = await shell.run(*to, "--commit-every", "2")
    assert (code, err.splitlines()[0]) == (0, f"5 records written to {topic}")
    lines(b"6:\n7:\nbroken\n")
    code, _, err = await shell.run(*to, "-K", ":")
    assert code == 1
    assert "the transaction of 2 records was aborted" in err
    assert f"0 records written to {topic}" in err
    committed = ("--isolation", "read_committed")
    assert await values(shell, topic, *committed) == ["1", "2", "3", "4", "5"]


async def test_a_group_goes_on_behind_what_was_printed(
    shell: Shell, bootstrap: str, topic: str
) -> None:
    await create(bootstrap, topic, 2)
    async with Producer(bootstrap) as producer:
        for number in range(6):
            await producer.send(topic, b"%d" % number, partition=number % 2)
    found = await values(shell, topic, "-g", topic, "-c", "4")
    found += await values(shell, topic, "-g", topic, "-X", "enable.auto.commit=false")
    found += await values(shell, topic, "-g", topic)
    assert sorted(found[:4] + found[4:6]) == sorted(found[:4] + found[6:]) == list("012345")
    assert await values(shell, topic, "-g", topic) == []


async def committed(bootstrap: str, group: str, where: TopicPartition) -> int:
    async with Consumer(bootstrap, group_id=group) as consumer:
        found = await consumer.committed([where])
    return found[where].offset if where in found else 0


async def test_ctrl_c_flushes_what_was_taken(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    async with running(bootstrap, "produce", "-t", topic) as writing:
        assert writing.stdin is not None
        assert writing.stderr is not None
        writing.stdin.write(b"one\ntwo\nhalf a li")
        async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
            consumer.assign([TopicPartition(topic, 0)])
            count = 0
            while count < 2:  # what was typed is written without waiting for more
                count += len(await consumer.getmany(timeout_ms=1000))
        writing.send_signal(signal.SIGINT)
        assert (await writing.stderr.readline()).startswith(b"2 records written")
        assert await writing.wait() == 130


async def test_whoever_reads_no_more_has_seen_enough(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap) as producer:
        await producer.send_and_wait(topic, b"first")
        async with running(bootstrap, "consume", "-t", topic, "-g", topic) as reading:
            assert reading.stdout is not None
            assert reading.stderr is not None
            assert await reading.stdout.readline() == b"first\n"
            transport = reading._transport  # type: ignore[attr-defined]
            transport.get_pipe_transport(1).close()
            await producer.send_and_wait(topic, b"second")
            assert await reading.wait() == 0
            assert await reading.stderr.read() == b""
    assert await committed(bootstrap, topic, TopicPartition(topic, 0)) == 1


async def test_a_full_disk_is_told(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap) as producer:
        await producer.send_and_wait(topic, b"first")
    process = await asyncio.create_subprocess_shell(
        f"exec {sys.executable} -c '{RUN}' consume -t {topic} -e -b {bootstrap} >/dev/full",
        stderr=PIPE,
    )
    _, err = await process.communicate()
    assert process.returncode == 1
    assert err.startswith(b"fencepost consume: cannot write to standard output")
    assert err.count(b"\n") == 1


@pytest.mark.conformance
@pytest.mark.skipif(shutil.which("kcat") is None, reason="needs kcat (apt-get install kcat)")
@pytest.mark.ours_alone("kcat is the peer here")
async def test_beside_kcat(capsys: pytest.CaptureFixture[str], topic: str, lines: Write) -> None:
    async with Broker() as broker:
        shell = Shell(broker.bootstrap, capsys)
        await create(broker.bootstrap, topic)
        format_ = r"%t %p %o %k %s %h %T %K %S\n"

        async def kcat(*words: str, given: bytes | None = None) -> str:
            process = await asyncio.create_subprocess_exec(
                "kcat", "-b", broker.bootstrap, "-t", topic, "-p", "0", *words,
                stdin=PIPE, stdout=PIPE, stderr=PIPE, env=dict(os.environ),
            )  # fmt: skip
            out, err = await process.communicate(given)
            assert process.returncode == 0, err
            return out.decode()

        headers = ("-H", "a=1", "-H", "b", "-H", "c=")
        await kcat("-P", "-K", ":", "-Z", *headers, given=b"theirs:1\n:2\nx:\n")
        lines(b"ours:1\n:2\nx:\n")
        to = ("produce", "-t", topic, "--file", FILE, "-K", ":", "-Z")
        assert (await shell.run(*to, *headers))[0] == 0
        theirs = await kcat("-C", "-e", "-Z", "-f", format_)
        assert (await values(shell, topic, "-Z", "-f", format_)) == theirs.splitlines()
        assert "ours 1 a=1,b=NULL,c=" in theirs
        assert len(theirs.splitlines()) == 6
