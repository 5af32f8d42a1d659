"""`fencepost up --record`, `fencepost record` and `fencepost replay`."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_broker.server.proxy.proxy import Proxy
from fencepost_client import Producer
from fencepost_client.recordings import replay
from fencepost_client.recordings.file import EntryKind, read_entries
from fencepost_client.recordings.replaying import Replay, replay_file
from fencepost_client.recordings.result import Replayed
from fencepost_protocol.framing import read_request_head
from fencepost_protocol.generated.index import ApiKey

from tests.support.cluster_processes import ClusterProcesses
from tests.support.sessions import ORDERS, play_session
from tests.support.up import Up

COMMAND = [sys.executable, "-m", "fencepost_broker"]


@pytest.mark.asyncio
async def test_a_proxy_records_and_its_addresses_are_mapped(tmp_path: Path) -> None:
    path = tmp_path / "proxied.fprec"
    async with (
        Broker(topics={ORDERS: 2}) as broker,
        Proxy(broker.bootstrap, record=path) as proxy,
    ):
        await play_session(proxy.bootstrap)
    with path.open("rb") as file:
        entries = list(read_entries(file))
    assert entries[-1].kind is EntryKind.CLOSED
    async with Broker(topics={ORDERS: 2}) as broker:
        found = await replay_file(path, Replay(broker.bootstrap))
    assert found.differences == []
    assert found.compared > 20


@pytest.mark.asyncio
async def test_a_proxy_hides_passwords(tmp_path: Path) -> None:
    path = tmp_path / "login.fprec"
    async with (
        Broker(topics={ORDERS: 2}, users={"ada": "engine-42"}) as broker,
        Proxy(broker.bootstrap, record=path) as proxy,
        Producer(
            proxy.bootstrap, security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN",
            sasl_plain_username="ada", sasl_plain_password="engine-42",
        ) as producer,
    ):  # fmt: skip
        await producer.send_and_wait(ORDERS, b"a value", partition=0)
    assert b"a value" in path.read_bytes()
    assert b"engine-42" not in path.read_bytes()


@pytest.mark.asyncio
async def test_raw_tokens_of_a_login_end_the_recording_of_a_connection(tmp_path: Path) -> None:
    path = tmp_path / "old.fprec"
    async with (
        Broker(topics={ORDERS: 2}, users={"ada": "engine-42"}) as broker,
        Proxy(broker.bootstrap, record=path) as proxy,
    ):
        host, port = proxy.bootstrap.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        handshake = bytes.fromhex("0011 0000 00000001 ffff 0005") + b"PLAIN"
        token = b"\0ada\0engine-42"
        for frame in (handshake, token):
            writer.write(len(frame).to_bytes(4) + frame)
            size = int.from_bytes(await reader.readexactly(4))
            await reader.readexactly(size)
        writer.close()
    with path.open("rb") as file:
        entries = list(read_entries(file))
    kinds = [each.kind for each in entries]
    assert kinds == [EntryKind.REQUEST, EntryKind.CLOSED]
    assert b"raw tokens" in entries[-1].data
    assert b"engine-42" not in path.read_bytes()


@pytest.mark.slow
def test_a_broker_records_from_its_start_and_a_replay_tells_differences(tmp_path: Path) -> None:
    path = tmp_path / "bug.fprec"
    with Up("--topic", f"{ORDERS}:2", "--record", str(path)) as up:
        done = subprocess.run(
            [*COMMAND, "produce", "-t", ORDERS, "-p", "0", "-b", up.told["bootstrap"]],
            input="42\n", text=True, check=False, env=os.environ,
        )  # fmt: skip
        assert done.returncode == 0
    with path.open("rb") as file:
        requests = [each.data for each in read_entries(file) if each.kind is EntryKind.REQUEST]
    keys = {read_request_head(memoryview(each))[0] for each in requests}
    assert ApiKey.PRODUCE in keys
    with Up("--topic", f"{ORDERS}:2") as up:
        same = _replayed(path, up.told["bootstrap"])
        assert same.returncode == 0, same.stderr
        assert same.stdout.endswith("no difference\n")
        assert replay(path, up.told["bootstrap"]) == []  # offsets are relative
    with Up("-c", "auto.create.topics.enable=false") as up:
        other = _replayed(path, up.told["bootstrap"], "--json", "--timeout", "5")
        assert other.returncode == 1
        found = json.loads(other.stdout)["differences"]
        assert {each["got"] for each in found} >= {"UNKNOWN_TOPIC_OR_PARTITION"}


@pytest.mark.slow
def test_the_brokers_of_a_cluster_write_one_recording(tmp_path: Path) -> None:
    path = tmp_path / "cluster.fprec"
    words = ("--topic", f"{ORDERS}:2", "--record", str(path))
    with ClusterProcesses(tmp_path / "run", *words, brokers=2) as cluster:
        cluster.until_settled()
        asyncio.run(play_session(cluster.bootstrap))
        replayable = shutil.copy(path, tmp_path / "session.fprec")
        for what in (cluster.kill, cluster.start):
            what(2)
        cluster.until_settled()
    with path.open("rb") as file:
        entries = list(read_entries(file))
    times = [each.time_us for each in entries]
    heads = [
        (each.connection, read_request_head(memoryview(each.data)))
        for each in entries
        if each.kind is EntryKind.REQUEST
    ]
    assert {number >> 14 for number, head in heads if head[0] == ApiKey.METADATA} == {
        1 << 8, 2 << 8, (2 << 8) + 1,
    }  # fmt: skip
    assert {head[0] for _, head in heads} >= {ApiKey.PRODUCE, ApiKey.END_TXN, ApiKey.JOIN_GROUP}
    assert not {head[0] for _, head in heads} & {ApiKey.WRITE_TXN_MARKERS, ApiKey.CREATE_TOPICS}
    assert max(times) - times[-1] < times[-1] / 2, "all use one clock"

    async def replayed() -> Replayed:
        async with Broker(topics={ORDERS: 2}) as broker:
            return await replay_file(replayable, Replay(broker.bootstrap))

    found = asyncio.run(replayed())
    assert found.differences == []
    assert found.compared > 20


def _replayed(path: Path, bootstrap: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "replay", str(path), "-b", bootstrap, *more],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("replay gone.fprec", 2, "gone.fprec: No such file or directory"),
        ("replay other -b 127.0.0.1:1", 2, "other: it is no recording of Fencepost"),
        ("record other --upstream 127.0.0.1:1 --port 0", 1, "record: other: File exists"),
        ("up --record other --port 0", 2, "up: --record other: the file exists already"),
        ("up --record other --brokers 2", 2, "up: --record other: the file exists already"),
        ("up --record gone/new --brokers 2", 1, "--record gone/new: No such file or directory"),
    ],
)
def test_wrong_files_are_told(words: str, code: int, told: str, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("something else")
    done = subprocess.run(
        [*COMMAND, *words.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, told in done.stderr) == (code, True), done.stderr
