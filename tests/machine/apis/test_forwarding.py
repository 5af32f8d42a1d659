"""A request that is passed on to the controller, and what may become of it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from fencepost_broker.apis.forwarding import GIVE_UP_MS, passed_on
from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.request import Request
from fencepost_broker.controller.channel.pending_requests import LOSSES_MAX, PendingRequest
from fencepost_broker.controller.channel.remote import RemoteController
from fencepost_broker.ports import RemoteClient
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import encode_request, read_request_head
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.envelope import EnvelopeRequest, EnvelopeResponse
from fencepost_protocol.generated.index import ApiKey

VERSION = 7


class Wire:
    """Keeps what the controller is asked; the test answers it."""

    def __init__(self) -> None:
        self.asked: list[EnvelopeRequest] = []
        self.questions: list[PendingRequest] = []

    def ask(self, message: Message, then: Callable[[Any], None]) -> None:
        raise AssertionError("it is asked more than once if the connection is lost")

    def is_current(self) -> bool:
        return True

    def ask_within(
        self, limit_ms: int, message: Message, then: Callable[[Any], None]
    ) -> PendingRequest:
        assert limit_ms == GIVE_UP_MS
        assert isinstance(message, EnvelopeRequest)
        self.asked.append(message)
        self.questions.append(PendingRequest(message, then, limit_ms))
        return self.questions[-1]


class Client:
    """A connection, and what is sent to it."""

    user = "alice"
    client_host = "/10.0.0.1"
    may_park = True

    def __init__(self) -> None:
        self.client = RemoteClient()
        self.answers: list[Any] = []
        self.dropped: list[str] = []
        self.lose: Callable[[], None] | None = None

    def release(self, request: Request, answer: Any) -> None:
        del request
        self.answers.append(answer)

    def drop(self, reason: str) -> None:
        self.dropped.append(reason)

    def on_loss(self, call: Callable[[], None]) -> None:
        self.lose = call


class Setting:
    """CreateTopics at a broker whose controller is another process."""

    def __init__(self) -> None:
        self.wire, self.client = Wire(), Client()
        no: Any = None
        remote = RemoteController(no, no, no, no, self.wire)
        self.context: Any = SimpleNamespace(controller=remote)
        (api,) = (each for each in SERVED if each.key is ApiKey.CREATE_TOPICS)
        self.handler = passed_on(api).handler
        asked = CreateTopicsRequest([CreatableTopic("t", 1, 1)])
        self.frame = encode_request(asked, VERSION, 5, "test")[4:]

    def ask(self) -> Any:
        frame = memoryview(self.frame)
        body = read_request_head(frame)[-1]
        client: Any = self.client
        request = Request(client, ApiKey.CREATE_TOPICS, VERSION, 5, "test", frame, body)
        answer = self.handler(self.context, request, None)
        assert bytes(request.frame) == self.frame
        return answer

    def tell(self, answer: EnvelopeResponse | None) -> None:
        self.wire.questions[0].complete(answer)


@pytest.fixture
def setting() -> Setting:
    return Setting()


def test_the_controllers_response_goes_to_the_client_as_it_is(setting: Setting) -> None:
    assert setting.ask() is None
    sent = bytes(setting.frame)
    setting.frame[:] = bytes(len(sent))  # the buffer is used again
    assert setting.wire.asked[0].request_data == sent
    assert setting.wire.asked[0].client_host_address == bytes((10, 0, 0, 1))
    setting.tell(EnvelopeResponse(b"answer"))
    assert setting.client.answers == [[b"\0\0\0\6answer"]]


@pytest.mark.parametrize(
    ("losses", "why"), [(0, "did not answer in time"), (LOSSES_MAX, f"each of {LOSSES_MAX} times")]
)
def test_without_a_response_the_client_is_told_so(setting: Setting, losses: int, why: str) -> None:
    setting.ask()
    setting.frame[:] = bytes(len(setting.frame))
    setting.wire.questions[0].losses = losses
    setting.tell(None)
    ((topic,),) = (each.topics for each in setting.client.answers)
    assert (topic.name, topic.error_code) == ("t", ErrorCode.REQUEST_TIMED_OUT)
    assert why in topic.error_message


def test_a_request_that_waits_in_vain_and_cannot_be_read_is_dropped(setting: Setting) -> None:
    setting.frame[-10:] = b"\xff" * 10
    setting.ask()
    setting.tell(None)
    assert not setting.client.answers
    assert "CreateTopicsRequest" in setting.client.dropped[0]


def test_a_refused_envelope_closes_the_connection(setting: Setting) -> None:
    setting.ask()
    setting.tell(EnvelopeResponse(None, ErrorCode.CLUSTER_AUTHORIZATION_FAILED))
    assert not setting.client.answers
    assert "CLUSTER_AUTHORIZATION_FAILED" in setting.client.dropped[0]


def test_a_client_that_has_gone_gets_no_answer_and_its_request_is_not_sent(
    setting: Setting,
) -> None:
    setting.ask()
    then = setting.wire.questions[0].then
    assert setting.client.lose is not None
    setting.client.lose()
    assert setting.wire.questions[0].message is None
    then(EnvelopeResponse(b"answer"))  # it was on its way
    assert not setting.client.answers


def test_at_the_limit_of_waiting_requests_the_controller_is_not_asked(setting: Setting) -> None:
    setting.client.may_park = False
    (topic,) = setting.ask().topics
    assert topic.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert "requests.parked.max" in topic.error_message
    assert not setting.wire.asked
