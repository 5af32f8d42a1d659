"""What a broker asks its controller, until there is a connection, and until there is an answer.

    waiting   --taken: it goes out------------------------> under way
    under way --answered----------------------------------> told the answer
    under way --lost, it may be asked once only-----------> told ``None``
    under way --lost, it has a time limit-----------------> waiting, in front
    under way --lost, and that too often or too late------> told ``None``
    waiting   --its time is over--------------------------> told ``None``

What has no limit waits for as long as the controller is away, and is asked once: whoever asks
knows whether the same may be asked twice. What has one is asked again and again, as Kafka's brokers
do with what they pass on, but not for ever: one that the controller does not survive, or answers by
closing the connection, would keep all others from it. One that is under way when its time is over
has its request's time left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from fencepost_protocol.apis import Message

LOSSES_MAX: Final = 5
"""A controller that goes away by itself does not do so with the same question so often."""


@dataclass(slots=True, eq=False)
class Question:
    """A request for the controller, and who hears the answer."""

    message: Message
    then: Callable[[Any], None]
    give_up_ms: int | None = None
    """It is asked again until then; ``None``: it is asked once."""
    losses: int = 0
    """How often it went out, and no answer came."""


class Outbox:
    """All questions that wait for a connection."""

    def __init__(self) -> None:
        self._waiting: deque[Question] = deque()
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, question: Question) -> None:
        """Ask it when there is a connection."""
        self._waiting.append(question)

    def take(self) -> Question | None:
        """The next one: it goes out now."""
        return self._waiting.popleft() if self._waiting else None

    def answered(self, question: Question, answer: Any | None, now_ms: int) -> None:
        """What came of one that went out; ``None``: nobody knows."""
        limit_ms = question.give_up_ms
        question.losses += answer is None
        again = answer is None and limit_ms is not None and now_ms < limit_ms
        if again and question.losses < LOSSES_MAX and not self._is_closed:
            self._waiting.appendleft(question)
        else:
            question.then(answer)

    def deadline(self) -> int | None:
        """When the time of the first one is over."""
        limits = [each.give_up_ms for each in self._waiting if each.give_up_ms is not None]
        return min(limits, default=None)

    def expire(self, now_ms: int) -> None:
        """Tell those whose time is over."""
        late = [each for each in self._waiting if _is_late(each, now_ms)]
        for question in late:
            self._waiting.remove(question)
            question.then(None)

    def close(self) -> None:
        """Nothing will be asked any more."""
        self._is_closed = True
        waiting, self._waiting = self._waiting, deque()
        for question in waiting:
            question.then(None)


def _is_late(question: Question, now_ms: int) -> bool:
    return question.give_up_ms is not None and question.give_up_ms <= now_ms
