"""Carrying out a Produce request batch by batch, in several turns of the event loop if it is long.

A few hundred bytes may decompress to 150,000 records, which have to be counted or validated. The
rest of such a request is parked, so that other connections are served between its turns. The
client's next request waits for it.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import ProduceRequest

from fencepost_broker.apis.produce.appending import (
    ACKS,
    Examined,
    Outcome,
    Permit,
    Unflushed,
    append,
    conclude,
    find_topic,
    topic_error,
)
from fencepost_broker.apis.produce.kept_frame import keep_message
from fencepost_broker.apis.produce.responses import answer_all
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.storage.log import AppendResult

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.apis.produce.delayed_produce import Unreplicated

_FIRST_TURN_NS: Final = 10_000_000
_TURN_NS: Final = 5_000_000
"""The time for which batches of one request are appended before other connections are served."""


def carry_out(
    context: BrokerContext,
    request: Request,
    message: ProduceRequest,
    permit: Permit | None,
    examined: Examined | None = None,
) -> Answer | None:
    """Append each batch and answer; ``None`` if the answer comes later.

    Batches that have to be decompressed may take long. Then the rest is appended in later turns of
    the event loop. Transactional batches are an exception: the coordinator's answer holds for this
    turn only, so they are examined before (:mod:`.examination`) and appended in one turn.
    """
    version = request.version
    began_ns = perf_counter_ns()
    refusal = None if message.acks in ACKS else ErrorCode.INVALID_REQUIRED_ACKS
    now_ms = context.clock.now_ms()
    outcomes: list[Outcome] = []
    unflushed: list[Unflushed] = []
    unreplicated: list[Unreplicated] = []
    for data in message.topic_data:
        topic = find_topic(context, data, version)
        of_topic: list[tuple[int, AppendResult]] = []
        for entry in data.partition_data:
            if (
                (outcomes or of_topic)
                and permit is None
                and perf_counter_ns() - began_ns > _FIRST_TURN_NS
                and request.peer.may_park
            ):
                outcomes.append((data, of_topic))
                LongRequest(context, request, outcomes, unflushed, unreplicated).begin(message)
                return None
            result = (
                AppendResult(refusal or topic_error(context, data, version))
                if topic is None or refusal
                else append(
                    topic, entry, now_ms, message.acks, unflushed, unreplicated, permit, examined
                )
            )
            of_topic.append((entry.index, result))
        outcomes.append((data, of_topic))
    if message.acks and not (unflushed or unreplicated):
        return answer_all(request, outcomes, context)
    return conclude(context, request, message, outcomes, unflushed, unreplicated)


class LongRequest:
    """A request of which some batches are appended, and the rest in later turns."""

    def __init__(
        self,
        context: BrokerContext,
        request: Request,
        outcomes: list[Outcome],
        unflushed: list[Unflushed],
        unreplicated: list[Unreplicated],
    ) -> None:
        """Take the outcomes so far; the topic of the last one may have more batches."""
        self._context = context
        self._request = request
        self._outcomes = outcomes
        self._unflushed = unflushed
        self._unreplicated = unreplicated
        self._message = ProduceRequest()

    def begin(self, message: ProduceRequest) -> None:
        """Continue in the loop's next turn, with a copy of the frame, whose buffer is reused."""
        self._message = message = keep_message(self._request, message)
        self._outcomes[:] = [
            (data, of_topic)
            for data, (_, of_topic) in zip(message.topic_data, self._outcomes, strict=False)
        ]
        self._context.clock.call_later(0, self._go_on)

    def _go_on(self) -> None:
        request, message = self._request, self._message
        try:
            if not self._append_some(perf_counter_ns() + _TURN_NS):
                self._context.clock.call_later(0, self._go_on)
                return
            answer = conclude(
                self._context, request, message, self._outcomes, self._unflushed, self._unreplicated
            )
        except Exception as error:  # noqa: BLE001 (as the dispatcher does for any request)
            request.peer.refuse_parked(request, error)
            return
        if answer is not None:
            request.release(answer)

    def _append_some(self, until_ns: int) -> bool:
        """Append batches until the time is over; return whether all are appended."""
        context, message = self._context, self._message
        version = self._request.version
        refusal = None if message.acks in ACKS else ErrorCode.INVALID_REQUIRED_ACKS
        now_ms = context.clock.now_ms()
        has_begun = False
        while True:
            data, of_topic = self._outcomes[-1]
            topic = find_topic(context, data, version)
            for entry in data.partition_data[len(of_topic) :]:
                if has_begun and perf_counter_ns() > until_ns:
                    return False
                has_begun = True
                if topic is None or refusal:
                    result = AppendResult(refusal or topic_error(context, data, version))
                else:
                    result = append(
                        topic, entry, now_ms, message.acks, self._unflushed, self._unreplicated
                    )
                of_topic.append((entry.index, result))
            if len(self._outcomes) == len(message.topic_data):
                return True
            self._outcomes.append((message.topic_data[len(self._outcomes)], []))
