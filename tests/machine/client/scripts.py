"""Plays the other side of a procedure: a list of what it asks, and what it is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from fencepost_client.errors import KafkaError
from fencepost_client.requests.procedures import (
    Ask,
    Moved,
    PartitionCounts,
    PartitionRacks,
    Pause,
    Procedure,
)
from fencepost_protocol.apis import Message, request_class

T = TypeVar("T")
Reply = Message | KafkaError


class Script:
    """Answers in order; keeps what was asked, built for the newest version that is allowed."""

    def __init__(
        self,
        replies: Sequence[Reply],
        *,
        version_max: int | None = None,
        counts: Mapping[str, int] | None = None,
    ) -> None:
        self._counts = counts
        self.replies = list(replies)
        self.asked: list[Any] = []
        self.steps: list[Any] = []
        self.versions: list[int] = []
        self._version_max = version_max

    def play(self, procedure: Procedure[T]) -> T:
        """Drive the procedure to its end; every reply must have been used by then."""
        try:
            step = next(procedure)
            while True:
                self.steps.append(step)
                if isinstance(step, Pause | Moved):
                    step = procedure.send(None)
                    continue
                if isinstance(step, PartitionRacks):
                    step = procedure.send({})
                    continue
                if isinstance(step, PartitionCounts):
                    step = procedure.send(self._counts)
                    continue
                assert isinstance(step, Ask)
                step = self._answer(procedure, step)
        except StopIteration as done:
            assert not self.replies, f"not asked for: {self.replies}"
            result: T = done.value
            return result

    def _answer(self, procedure: Procedure[Any], ask: Ask) -> Any:
        limits = [request_class(ask.api_key).MAX_VERSION, ask.version_max, self._version_max]
        version = min(limit for limit in limits if limit is not None)
        try:
            request = ask.build(version)
        except KafkaError as error:  # as the client does it: a builder refuses a version
            return procedure.throw(error)
        request.encode(version, bytearray())
        self.asked.append(request)
        self.versions.append(version)
        assert self.replies, f"unexpected: {request}"
        reply = self.replies.pop(0)
        if isinstance(reply, KafkaError):
            return procedure.throw(reply)
        return procedure.send(reply)

    def count(self, what: type | Callable[[Any], bool]) -> int:
        """How many steps are of a kind."""
        if isinstance(what, type):
            return sum(isinstance(step, what) for step in self.steps)
        return sum(map(what, self.steps))
