"""The answer that is copied is byte for byte the one that would be encoded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from fencepost_broker.apis.produce import responses
from fencepost_broker.apis.produce.responses import answer_all
from fencepost_broker.apis.request import Request, encode_answer
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.storage.log import AppendResult
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import ProduceRequest, ProduceResponse, TopicProduceData

VERSIONS = range(ProduceRequest.MIN_VERSION, ProduceRequest.MAX_VERSION + 1)
RESULTS = [
    AppendResult(ErrorCode.NONE, 0, 9, -1, 0),
    AppendResult(ErrorCode.NONE, 1 << 40, (1 << 40) + 1, 1_700_000_000_000, 1 << 39),
]
IDS = [bytes(16), bytes.fromhex("5eedf00d" * 4)]


class Watched(Request):
    """One whose answer has to be a message."""

    needs_message = True


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("topic_id", IDS)
def test_a_copied_answer_is_the_encoded_one(version: int, topic_id: bytes) -> None:
    nobody: Any = SimpleNamespace(metrics=Metrics())
    for name in ("t", "größer" * 30):
        data = TopicProduceData(name, topic_id)
        for number, result in enumerate(RESULTS):
            outcomes = [(data, [(number, result)])]
            request = Request(nobody, 0, version, 1000 + number, None, memoryview(b""), 0)
            watched = Watched(nobody, 0, version, 1000 + number, None, memoryview(b""), 0)
            copied, message = answer_all(request, outcomes), answer_all(watched, outcomes)
            assert isinstance(message, ProduceResponse)
            assert copied == encode_answer(request, message)


def test_the_copied_answers_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[Any, Any] = dict.fromkeys(range(responses.FRAMES_MAX - 3))
    monkeypatch.setattr(responses, "_frames", kept)
    nobody: Any = None
    for number in range(10):
        request = Request(nobody, 0, 9, number, None, memoryview(b""), 0)
        answer_all(request, [(TopicProduceData(f"t{number}"), [(0, RESULTS[0])])])
        assert 1 <= len(kept) <= responses.FRAMES_MAX
