"""``fencepost transactions`` as a person starts it: a process beside the broker's."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.up import Up

COMMAND = (sys.executable, "-m", "fencepost_broker", "transactions")
HTTP = b"HTTP/1.1 400 Bad Request\r\n\r\n"
PATIENCE_SECONDS = 120.0


def run(*words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """A broker in which ``payments`` has a transaction open."""
    with Up("--topic", "orders:2") as broker, broker.connect() as client:
        client.ask(FindCoordinatorRequest("payments", 1), 3)
        answer = client.ask(InitProducerIdRequest("payments", 60_000), 4)
        assert not answer.error_code
        records = bytes(
            build_batch(
                None, [b"x"], 1000, producer_id=answer.producer_id,
                producer_epoch=answer.producer_epoch, base_sequence=0, transactional=True,
            )
        )  # fmt: skip
        data = TopicProduceData("orders", partition_data=[PartitionProduceData(1, records)])
        produced = client.ask(ProduceRequest("payments", -1, 5000, [data]), 12)
        assert not produced.responses[0].partition_responses[0].error_code
        yield f"127.0.0.1:{broker.port}"


def test_explains_for_people_and_for_programs(bootstrap: str) -> None:
    code, out, _ = run("explain", "payments", "--bootstrap", bootstrap)
    assert code == 0
    assert out.startswith("payments: Ongoing, at broker 1 (127.0.0.1:")
    assert "orders-1" in out
    assert "at the latest, by abort (timeout 1 min)" in out
    code, out, _ = run("--bootstrap", bootstrap, "--json", "explain", "--partition", "orders:1")
    assert code == 0
    told = json.loads(out)
    assert told["holder"]["transactional_id"] == "payments"
    assert 0 < told["holder"]["ends_in_ms"] <= 60_000


def test_a_broker_that_was_killed_and_what_is_no_broker(bootstrap: str) -> None:
    code, out, err = run("list", "--bootstrap", "127.0.0.1:1")
    assert (code, out) == (1, "")
    assert "127.0.0.1:1: connection refused" in err
    code, out, err = run("list", "--bootstrap", "brokr.invalid:9092")
    assert (code, out) == (1, "")
    assert "'brokr.invalid' could not be resolved" in err
    code, out, err = run("describe", "no-one", "--bootstrap", bootstrap)
    assert (code, out) == (1, "")
    assert "there is no transactional id 'no-one'" in err


def test_arguments_that_make_no_sense(bootstrap: str) -> None:
    for words in (
        (),
        ("lits",),
        ("list", "--producer-id", "x"),
        ("list", "--state", "Opne"),
        ("describe-producers", "--topic", "orders"),
        ("describe-producers", "--topic", "orders", "--partition", "-1"),
        ("find-hanging", "--max-transaction-timeout", "0"),
        ("list", "--timeout", "nan"),
    ):
        code, out, err = run(*words, *(("--bootstrap", bootstrap) if words else ()))
        assert (code, out) == (2, ""), words
        assert err


def test_help_names_the_subcommands_and_gives_examples() -> None:
    code, out, _ = run("--help")
    assert code == 0
    for word in ("find-hanging", "explain", "exit code"):
        assert word in out
    code, out, _ = run("abort", "--help")
    assert code == 0
    assert "--start-offset" in out


@pytest.mark.parametrize("answer", [HTTP, b"", b"\x00\x00\x00\x02ab", b"\x7f\xff\xff\xff"])
def test_somebody_else_listens_there(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        code, out, err = run("list", "--bootstrap", f"127.0.0.1:{server.getsockname()[1]}")
        thread.join()
    assert (code, out) == (1, "")
    assert "is it a broker's listener" in err


def test_somebody_who_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        code, out, err = run("list", "--timeout", "0.2", "--bootstrap", address)
        assert (code, out) == (1, "")
        assert "no answer in time" in err


def heed_ctrl_c() -> None:
    """Tests may run in the background of a shell, which has what it starts ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with subprocess.Popen(
            [*COMMAND, "list", "--bootstrap", address], stderr=subprocess.PIPE, text=True,
            preexec_fn=heed_ctrl_c,
        ) as process:  # fmt: skip
            connection, _ = server.accept()
            with connection:
                assert connection.recv(1000)
                process.send_signal(signal.SIGINT)
                _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, err) == (130, "")


def test_nobody_reads_on(bootstrap: str) -> None:
    with subprocess.Popen(
        [*COMMAND, "list", "--bootstrap", bootstrap], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 0
