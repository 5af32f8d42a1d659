"""Creation of topics on demand: requests of this broker to its controller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

from fencepost_broker.config import internal_topics

if TYPE_CHECKING:
    from fencepost_broker.controller.channel.local import LocalController
    from fencepost_broker.controller.channel.remote import RemoteController
    from fencepost_broker.metadata.dynamic_config import DynamicConfig
    from fencepost_broker.ports import Clock


class TopicCreation:
    """Creates topics on demand (Kafka: AutoTopicCreationManager)."""

    def __init__(
        self,
        controller: LocalController | RemoteController,
        config: DynamicConfig,
        clock: Clock,
        warn: Callable[[str], None],
    ) -> None:
        """``warn`` takes a text for the log."""
        self._controller = controller
        self._config = config
        self._clock = clock
        self._warn = warn
        self._asked_for: set[str] = set()
        self._is_stopped = False

    def stop(self) -> None:
        """Send no more requests."""
        self._is_stopped = True

    def auto_create(self, topics: Sequence[str]) -> None:
        """Create topics that a client named, if that is allowed.

        It is one command, so the controller's limits for one request apply to all of them together.
        """
        settings = self._config.settings
        if not settings.auto_create_topics_enable:
            return
        self.create(
            [internal_topics.by_itself(topic, settings) for topic in topics],
            self._warn_of_refusals,
            delay_ms=settings.auto_create_topics_delay_ms,
        )

    def _warn_of_refusals(self, results: Sequence[CreatableTopicResult]) -> None:
        for result in results:
            if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                # As in Kafka, the client only gets the error that the topic does not exist.
                self._warn(
                    f"a client uses topic {result.name}, which cannot be created: "
                    f"{result.error_message}"
                )

    def create(
        self,
        wanted: Iterable[CreatableTopic],
        then: Callable[[Sequence[CreatableTopicResult]], None],
        delay_ms: int = 0,
    ) -> None:
        """Request topics, at once or after a delay, unless they are requested already."""
        asked = [each for each in wanted if each.name not in self._asked_for]
        if not asked:
            return
        self._asked_for.update(each.name for each in asked)

        def answered(answer: CreateTopicsResponse | None) -> None:
            self._asked_for.difference_update(each.name for each in asked)
            if answer is not None:
                then(answer.topics)

        def ask() -> None:
            if not self._is_stopped:
                self._controller.ask(CreateTopicsRequest(topics=asked), answered)

        if delay_ms:
            self._clock.call_later(delay_ms, ask)
        else:
            ask()
