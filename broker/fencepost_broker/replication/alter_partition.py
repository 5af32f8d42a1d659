"""AlterPartition: the ISR changes that this broker's leaders propose to the controller.

When a broker dies, thousands of leaders may propose a smaller ISR. All waiting proposals are sent
in one request, and one request is in flight at a time. If there is no answer (the connection
broke), or the controller refuses the whole request, the same proposals are sent again at the next
check: a proposal counts for the high watermark until it is decided, and the controller may have
decided it already. An error of one partition affects only that partition.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode

from fencepost_broker.controller.channel.registration import Registration
from fencepost_broker.metadata.image import model
from fencepost_broker.ports import ReadyList
from fencepost_broker.replication.leader import LeaderState, Proposal
from fencepost_broker.replication.partition import Partition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fencepost_protocol.generated.alter_partition import (
        AlterPartitionRequestPartitionData,
        AlterPartitionResponse,
        AlterPartitionResponsePartitionData,
    )

    Ask = Callable[[Message, Callable[[AlterPartitionResponse | None], None]], None]
    """Sends a request to the controller; ``None`` instead of a response means no answer."""
    Answers = Mapping[tuple[bytes, int], AlterPartitionResponsePartitionData]

PARTITIONS_MAX: Final = 1000
"""The limit of one request: the controller decides all at once, and heartbeats wait for it."""
_LATER_BY_THE_LOG: Final = frozenset(
    {
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.NEW_LEADER_ELECTED,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
"""Errors which show that the controller has newer state than this broker has read. It may include
this proposal, with a lost answer, so the proposal counts until the metadata log settles it."""


class Proposed(NamedTuple):
    """One proposal with its partition."""

    partition: Partition
    topic_id: bytes
    state: LeaderState
    proposal: Proposal

    @property
    def is_open(self) -> bool:
        """Whether it is undecided; the metadata log may settle it before the answer."""
        return self.partition.replication is self.state and self.state.proposal is self.proposal


class AlterPartitionManager:
    """Sends proposals to the controller and handles its answers."""

    def __init__(
        self,
        registration: Registration,
        ready: ReadyList,
        ask: Ask,
        decided: Callable[[Proposed, model.Partition | None], bool],
    ) -> None:
        """``ask`` sends a request to the controller.

        ``decided`` gets the partition's new state, or ``None`` if the proposal was refused. It
        returns whether the high watermark moved; waiting requests are woken in that case.
        """
        self._registration = registration
        self._ready = ready
        self._ask = ask
        self._decided = decided
        self._waiting: dict[Partition, Proposed] = {}
        self._under_way: list[Proposed] | None = None

    def add(self, proposed: Proposed) -> None:
        """Include a proposal in the next request."""
        self._waiting[proposed.partition] = proposed

    def send(self) -> None:
        """Send the waiting proposals, unless a request is in flight; its answer sends them."""
        if self._under_way is not None:
            return
        asked = self._take()
        if not asked:
            return
        self._under_way = asked
        try:
            self._ask(self._request(asked), partial(self._answered, asked))
        except BaseException:
            if self._under_way is asked:  # no answer will come
                self._under_way = None
                self._ask_later(asked)
            raise

    def _take(self) -> list[Proposed]:
        taken: list[Proposed] = []
        for proposed in list(self._waiting.values()):
            if len(taken) == PARTITIONS_MAX:
                break
            del self._waiting[proposed.partition]
            if proposed.is_open:
                taken.append(proposed)
        return taken

    def _answered(self, asked: list[Proposed], response: AlterPartitionResponse | None) -> None:
        self._under_way = None
        if response is None or response.error_code:
            self._ask_later(asked)
            return
        answers = {
            (topic.topic_id, told.partition_index): told
            for topic in response.topics
            for told in topic.partitions
        }
        for proposed in asked:  # separately, so that an exception in one leaves no other one open
            self._ready.add(partial(self._settle, proposed, answers))
        self.send()

    def _settle(self, proposed: Proposed, answers: Answers) -> None:
        if proposed.is_open and self._hear(proposed, answers):
            proposed.partition.moved()

    def _ask_later(self, asked: list[Proposed]) -> None:
        for proposed in asked:
            self._waiting.setdefault(proposed.partition, proposed)

    def _hear(self, proposed: Proposed, answers: Answers) -> bool:
        told = answers.get((proposed.topic_id, proposed.partition.number))
        if told is None or (told.error_code and told.error_code not in _LATER_BY_THE_LOG):
            return self._decided(proposed, None)
        if told.error_code:
            return False
        taken = proposed.state.partition._replace(
            isr=tuple(told.isr),
            leader_recovery_state=told.leader_recovery_state,
            partition_epoch=told.partition_epoch,
        )
        return self._decided(proposed, taken)

    def _request(self, asked: list[Proposed]) -> Message:
        from fencepost_protocol.generated import alter_partition as messages

        by_topic: dict[bytes, list[AlterPartitionRequestPartitionData]] = {}
        for partition, topic_id, _, proposal in asked:
            wanted = messages.AlterPartitionRequestPartitionData(
                partition.number,
                proposal.leader_epoch,
                [],
                [messages.BrokerState(*each) for each in proposal.isr],
                partition_epoch=proposal.partition_epoch,
            )
            by_topic.setdefault(topic_id, []).append(wanted)
        topics = [messages.AlterPartitionRequestTopicData(*each) for each in by_topic.items()]
        known = self._registration
        return messages.AlterPartitionRequest(known.node_id, known.epoch, topics)
