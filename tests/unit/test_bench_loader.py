"""The benchmark's loader counts right answers and refuses wrong ones; the raw rows run."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.metadata import MetadataResponse, MetadataResponseTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)

from tests.bench.broker import run
from tests.bench.broker.loader import Load, replay
from tests.bench.broker.wire import Asked, WrongAnswerError, error_position

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None,
    reason="the loader needs Linux and a C compiler",
)

FRAME = struct.pack(">ihhih", 10, 18, 0, 0, -1)
ANSWER_SIZE = 10


def right(number: int) -> bytes:
    """The answer to the request of this number: size, correlation id, no error."""
    return struct.pack(">iih", ANSWER_SIZE - 4, number, 0)


@contextmanager
def answering(answer: Callable[[int], bytes]) -> Iterator[int]:
    """A port where each request is answered, or hung up on, by its number on its connection."""

    def serve(connection: socket.socket) -> None:
        # The loader goes without a word when it has seen a wrong answer.
        with connection, suppress(OSError), connection.makefile("rb") as requests:
            for number in itertools.count():
                if not requests.read(len(FRAME)) or not answer(number):
                    return
                connection.sendall(answer(number))

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=[connection], daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepting = threading.Thread(target=accept)
        accepting.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join()


def load(port: int, requests: int = 40, depth: int = 1) -> int:
    """How many answers a small load got in all."""
    asked = Asked(FRAME, ANSWER_SIZE, 8, None)
    return replay([asked], Load(requests, 2, depth), port, os.getpid()).answers_in_all


@pytest.mark.parametrize("depth", [1, 16])
def test_right_answers_are_counted(depth: int) -> None:
    with answering(right) as port:
        assert 44 <= load(port, 40, depth) <= 44 + 2 * depth


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (struct.pack(">iih", 6, 8, 0), "answer 7 has correlation id 8"),
        (struct.pack(">iih", 6, 7, 3), "answer 7 has error code 3"),
        (struct.pack(">iih", 6, 7, -1), "answer 7 has error code -1"),
        (struct.pack(">iihx", 7, 7, 0), "answer 7 has 11 bytes, not 10"),
        (b"", "the broker has closed the connection"),
    ],
)
def test_a_wrong_answer_ends_all(wrong: bytes, said: str) -> None:
    def answer(number: int) -> bytes:
        return wrong if number == 7 else right(number)

    with answering(answer) as port, pytest.raises(WrongAnswerError, match=said):
        load(port)


def test_the_error_code_of_an_answer_is_found() -> None:
    produced = ProduceResponse(
        [TopicProduceResponse("topic", partition_responses=[PartitionProduceResponse(7)])]
    )
    # Size, correlation id, tags of the header; counts and name before, 4 bytes of index.
    assert error_position(produced, ApiKey.PRODUCE, 9) == 9 + 1 + 6 + 1 + 4
    assert produced.responses[0].partition_responses[0].error_code == 0
    found = MetadataResponse(topics=[MetadataResponseTopic(name="t")])
    assert error_position(found, ApiKey.METADATA, 1) == 8 + 4 + 4 + 4


def test_a_smoke_run(capsys: pytest.CaptureFixture[str]) -> None:
    for only in ("raw-produce-100b", "raw-fetch-1m"):
        assert run.main(["--smoke", "--peers", "fencepost", "--only", only]) == 0
    said = capsys.readouterr()
    assert "raw-produce-100b-16" in said.err
    assert "fetch of 1 MB from rolled segments" in said.out
    assert "fails" not in said.out


HAS_GO = pytest.mark.skipif(shutil.which("go") is None, reason="there is no Go")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("peer", "only", "rows"),
    [
        ("fencepost-disk", "growth-trans,growth-groups,members-classic,restart", 5),
        pytest.param(
            "fencepost", "transactions-1-franz-go,kip447-10-", 3,
            marks=[pytest.mark.conformance, HAS_GO],
        ),
    ],
)  # fmt: skip
def test_a_smoke_run_of_transactions(
    peer: str, only: str, rows: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.main(["--smoke", "--peers", peer, "--only", only]) == 0
    said = capsys.readouterr()
    assert said.err.count(f" {peer} ") == rows
    assert "fails" not in said.err
