"""``fencepost up --brokers N``: processes, what commands do to them, and how they end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fencepost_broker.cli.cluster.control_socket import ask_supervisor
from fencepost_client.commands.errors import NotDoneError
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from tests.conformance.cluster_action_cases import logged_in
from tests.support.cluster_processes import FENCEPOST, ClusterProcesses
from tests.support.secure_kafka import make_certificates
from tests.support.up import PATIENCE_SECONDS, ClosedError, Wire, until_gone

pytestmark = pytest.mark.slow
SESSION_TIMEOUT_MS = 1500


def up(folder: Path, *words: str) -> ClusterProcesses:
    return ClusterProcesses(
        folder, *words, brokers=2, session_timeout_ms=SESSION_TIMEOUT_MS, keeps=False
    )


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ClusterProcesses]:
    block = tmp_path / "block.json"
    block.write_text('{"version":1,"broker":7,"block_start":"5000","block_end":"5999"}')
    words = ("--topic", "t:4", "--import-producer-id-block", str(block))
    with up(tmp_path, *words) as running:
        yield running


def left_by_a_dead_one(run_dir: Path) -> Path:
    """What a controller kept whose cluster was killed."""
    with subprocess.Popen(["true"]) as dead:
        dead.wait()
    left = run_dir / f"controller-{dead.pid}"
    left.mkdir(parents=True)
    return left


def test_each_process_imitates_the_release(tmp_path: Path) -> None:
    with up(tmp_path, "--as", "3.9") as running:
        for broker in (1, 2):
            with running.connect(broker) as client:
                answer = client.ask(ApiVersionsRequest("client", "1"), 4)
            told = {each.api_key: each.max_version for each in answer.api_keys}
            assert told[ApiKey.END_TXN] == 4
            levels = {each.name: each.max_version_level for each in answer.finalized_features}
            assert levels == {"metadata.version": 21}


def test_brokers_are_killed_started_paused_and_resumed(cluster: ClusterProcesses) -> None:
    # A machine that is busy may fence a broker for a moment, and its leadership comes back later.
    status = cluster.until_status(lambda now: (now[1].leads or 0) + (now[2].leads or 0) == 4)
    assert {each.role for each in status.values()} == {"controller", "broker"}
    assert [status[each].replicas for each in (1, 2)] == [4, 4]
    epochs = status[1].epoch, status[2].epoch
    assert all(epoch and epoch > 0 for epoch in epochs)
    done = cluster.command("broker", "kill", "2")
    assert (done.returncode, done.stdout) == (0, "broker-2 is down\n")
    status = cluster.until_status(lambda now: now[1].leads == 4)
    assert (status[2].state, status[2].fenced) == ("down", True)
    refused = cluster.command("broker", "pause", "2")
    assert refused.returncode == 1
    assert "broker-2 is not running" in refused.stderr
    assert cluster.command("broker", "start", "2").returncode == 0
    again = cluster.until_status(lambda now: now[2].behind == 0)
    assert again[2].address == status[2].address, "clients find it where it was"
    assert again[1].epoch == epochs[0]
    assert (again[2].epoch or 0) > (epochs[1] or 0), "it is another incarnation"
    assert cluster.command("broker", "pause", "1").returncode == 0
    cluster.until_status(lambda now: now[1].fenced is True and now[2].leads == 4)
    assert cluster.command("broker", "resume", "1").returncode == 0
    cluster.until_status(lambda now: now[1].fenced is False)
    assert cluster.command("broker", "kill", "9").returncode == 1
    with cluster.connect(1) as wire:
        answer = wire.ask(MetadataRequest([MetadataRequestTopic(name="t")]), 12)
        assert len(answer.brokers) == 2
        given = wire.ask(InitProducerIdRequest(None), 4)
        assert given.producer_id >= 6000, "behind the block that the controller has imported"
    shown = cluster.command("cluster", "status").stdout.splitlines()
    assert [line.split()[:3] for line in shown[1:]] == [
        ["1000", "controller", "up"], ["1", "broker", "up"], ["2", "broker", "up"],
    ]  # fmt: skip
    done = cluster.command("broker", "stop", "1")
    assert (done.returncode, done.stdout) == (0, "broker-1 is down\n")
    assert cluster.status()[2].leads == 4, "it has handed over what it led before it went"
    cluster.process.terminate()
    assert cluster.process.wait(PATIENCE_SECONDS) == 0, cluster.said()
    assert not (cluster.run_dir / "control").exists()
    assert "broker-2   ended by itself" not in cluster.said()


def test_a_coordinator_that_is_paused_is_named(tmp_path: Path) -> None:
    with ClusterProcesses(tmp_path, brokers=2, session_timeout_ms=60_000, keeps=False) as cluster:
        cluster.until_settled()

        def explained() -> str:
            words = "transactions", "explain", "x", "--timeout", "4"
            asked = [*FENCEPOST, *words, "--bootstrap", cluster.bootstrap]
            return subprocess.run(asked, check=False, capture_output=True, text=True).stderr

        assert "there is no transactional id 'x'" in explained()
        paused = cluster.transaction_coordinator("x")
        cluster.pause(paused)
        told = explained()
        assert f"127.0.0.1:{cluster.port(paused)} has not answered a new connection for" in told
        assert f"the cluster counts it, broker {paused}, as alive: it may be paused" in told
        assert "sequence" not in told, "who explains has no record to send again"
        cluster.resume(paused)


def test_a_controller_that_stood_still_for_a_session_fences_nobody(tmp_path: Path) -> None:
    session_ms = 3000
    with ClusterProcesses(
        tmp_path, "--topic", "t:4", brokers=2, session_timeout_ms=session_ms, keeps=False
    ) as cluster:
        cluster.until_settled()
        before = cluster.said().count("is fenced")
        epochs = {each: row.epoch for each, row in cluster.status().items()}
        cluster.pause(cluster.controller)
        over = time.monotonic() + 1.5 * session_ms / 1000
        cluster.until(lambda: time.monotonic() > over, "time does not pass")
        cluster.resume(cluster.controller)
        cluster.until(
            lambda: "the controller's process did not run for" in cluster.said(), "it is not told"
        )
        cluster.until(
            lambda: cluster.said().count("the controller can be reached again") >= 2, "not heard of"
        )
        cluster.until_settled()
        assert cluster.said().count("is fenced") == before
        assert {each: row.epoch for each, row in cluster.status().items()} == epochs


def test_nothing_is_left_of_a_cluster_whose_owner_was_killed(tmp_path: Path) -> None:
    with up(tmp_path) as cluster:
        os.kill(cluster.process.pid, signal.SIGKILL)
        until_gone([each["pid"] for each in cluster.told["members"]])
        refused = cluster.command("cluster", "status")
        assert refused.returncode == 1
        assert "no cluster runs from" in refused.stderr


def test_others_cannot_use_the_control_socket_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        (tmp_path / "run").mkdir(mode=0o777)
        with up(tmp_path) as cluster:
            address = cluster.run_dir / "control"
            assert stat.S_IMODE(address.stat().st_mode) == 0o600
            without = {"port": json.loads(address.read_bytes())["port"], "token": "guessed"}
            (tmp_path / "control").write_text(json.dumps(without))
            with pytest.raises(NotDoneError, match="ended before it answered"):
                ask_supervisor(tmp_path, "kill", 1)
            assert cluster.members()[1]["state"] == "up"
    finally:
        os.umask(before)


def test_a_run_directory_is_one_clusters(cluster: ClusterProcesses) -> None:
    elsewhere = left_by_a_dead_one(cluster.run_dir)  # its owner may be alive in another container
    words = [*FENCEPOST, "up", "--brokers", "1", "--port", "0", "--run-dir", str(cluster.run_dir)]
    second = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
    assert second.returncode == 1
    assert "another cluster runs from" in second.stderr
    assert cluster.status()[1].state == "up"
    assert elsewhere.exists()


def test_a_broker_that_may_have_no_producer_ids_ends_with_a_reason(tmp_path: Path) -> None:
    """So does what it was started with, unless all counted already, for a moment.

    KIP-730 takes it for a cluster that is set up wrongly.
    """
    words = [*FENCEPOST, "up", "--brokers", "2", "-c", "controller.producer.ids.brokers=1"]
    words += ["--run-dir", str(tmp_path / "run")]
    heard = ""
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as up:
        at_last = threading.Timer(PATIENCE_SECONDS, up.kill)
        at_last.start()
        assert up.stderr is not None
        for line in up.stderr:
            heard += line
            if line.startswith("broker-2   ended by itself"):
                up.terminate()
        at_last.cancel()
    assert "broker-2   fencepost up: broker 2 stops: the controller at 127.0.0.1:" in heard
    assert "CLUSTER_AUTHORIZATION_FAILED" in heard
    did_not_start = "fencepost up: broker-2 did not start" in heard and up.returncode == 1
    assert did_not_start or "broker-2   exited unexpectedly with exit code 1" in heard


def test_the_controller_may_be_in_the_first_brokers_process(tmp_path: Path) -> None:
    """It is killed and stopped with that broker, and found again where it was.

    Clients have to log in, which processes of this machine need not.
    """
    words = ("--combined", "--topic", "t:3", "--user", "alice:a=b c")
    with ClusterProcesses(tmp_path, *words, brokers=3) as cluster:
        assert cluster.controller == 1
        assert sorted(cluster.members()) == [1, 2, 3]
        cluster.until_settled()
        status = cluster.until_status(lambda now: now[3].metadata_lag == 0)
        assert [status[each].role for each in (1, 2)] == ["broker+controller", "broker"]
        for end in (cluster.kill, cluster.stop):
            end(1)
            with cluster.connect(2) as wire:
                producer = wire.ask(InitProducerIdRequest(None), 4)
                assert not producer.error_code, "what needs no controller goes on"
            cluster.start(1)
            cluster.until_settled()
            with cluster.connect(3) as wire:
                wire.create(f"made-after-{end.__name__}", 3)
            with logged_in(cluster.client_port(1), "alice", "a=b c") as wire:
                wire.create(f"made-by-alice-after-{end.__name__}", 3)
            with Wire(cluster.client_port(2)) as wire, pytest.raises(ClosedError):
                wire.create("made-by-nobody")
            command = Path(f"/proc/{cluster.status()[1].pid}/cmdline").read_bytes()
            assert b"--users-file" in command
            assert b"a=b c" not in command, "everybody can see the words of a command"
        refused = cluster.command("broker", "kill", "1000")
        assert "no process 1000 in this cluster, only 1, 2, 3" in refused.stderr
        cluster.process.terminate()
        assert cluster.process.wait(PATIENCE_SECONDS) == 0, cluster.said()


def test_combined_is_for_several_processes() -> None:
    words = [*FENCEPOST, "up", "--combined"]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "--combined needs --brokers N" in done.stderr


def test_who_waits_for_its_controller_ends_when_it_is_told_to() -> None:
    words = [*FENCEPOST, "up", "--port", "0", "-c", "process.roles=broker"]
    words += ["-c", "controller.quorum.bootstrap.servers=127.0.0.1:1"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "cannot be reached yet" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(PATIENCE_SECONDS) == 130
        finally:
            process.kill()


def test_programs_are_told_of_a_cluster_that_is_ready(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    left = left_by_a_dead_one(tmp_path / "run")
    make_certificates(tmp_path)
    reading, writing = os.pipe()
    words = [*FENCEPOST, "up", "--brokers", "1", "--combined", "--pid-file", str(pid_file)]
    words += ["--run-dir", str(tmp_path / "run"), "--ready-fd", str(writing)]
    words += ["--tls-cert", str(tmp_path / "broker.pem"), "--tls-key", str(tmp_path / "broker.key")]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL, pass_fds=[writing]) as process:
        os.close(writing)
        try:
            with open(reading, encoding="utf-8") as ready:  # noqa: PTH123 (no path)
                told = json.load(ready)
            assert not left.exists()
            assert told["pid"] == process.pid == int(pid_file.read_text())
            host, _, port = told["bootstrap"].rpartition(":")
            trusting = ssl.create_default_context(cafile=tmp_path / "ca.pem")
            with socket.create_connection((host, int(port)), PATIENCE_SECONDS) as plain:
                trusting.wrap_socket(plain, server_hostname=host).close()
            process.terminate()
            assert process.wait(PATIENCE_SECONDS) == 0
        finally:
            process.kill()
    assert not pid_file.exists()


def test_a_broker_without_its_copy_of_the_metadata_fetches_it_again(tmp_path: Path) -> None:
    """The partitions on its disk are no strays, although its copy does not name them."""
    with ClusterProcesses(tmp_path, "--combined", "--topic", "t:2", brokers=2) as cluster:
        cluster.until_settled()
        cluster.stop(2)
        (copy,) = cluster.data_dir.glob("*2/__cluster_metadata-0")
        shutil.rmtree(copy)
        cluster.start(2)
        cluster.until_settled()
        assert "the metadata log is missing, but there are logs of 2 partitions" in cluster.said()
        assert (copy / f"{0:020d}.log").stat().st_size
        folders = {each.name for each in copy.parent.iterdir() if each.is_dir()}
        assert folders == {copy.name, "t-0", "t-1"}
