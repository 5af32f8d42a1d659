"""DescribeShareGroupOffsets: where share groups start, and how far they lag behind.

Behaviour: the group says which share partitions it has, their share coordinators where each starts,
and the leaders of the partitions where they end. A partition that the group has no state of starts
at -1.

Version notes: 1 tells the lag (KIP-1226): what is neither before the start offset nor delivered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.read_share_group_state_summary import (
    PartitionData,
    ReadShareGroupStateSummaryRequest,
    ReadStateSummaryData,
)
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.apis.groups.requests import ask_one, refusal
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.group.share.commands import Errand

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_LAG_SINCE: Final = 1
_LATEST: Final = -1
Place = tuple[str, int]
_Group = DescribeShareGroupOffsetsResponseGroup
_Partition = DescribeShareGroupOffsetsResponsePartition
_Topic = DescribeShareGroupOffsetsResponseTopic


def describe_share_group_offsets(
    context: BrokerContext, request: Request, message: DescribeShareGroupOffsetsRequest
) -> Answer | None:
    """Answer DescribeShareGroupOffsets, versions 0 and 1."""
    _Describing(context, request, len(message.groups)).begin(message.groups)
    return None


class _Describing:
    """The answer while its groups, or the ends of their partitions, are not all known."""

    def __init__(self, context: BrokerContext, request: Request, count: int) -> None:
        self._context = context
        self._request = request
        self._groups: list[_Group | None] = [None] * count
        self._open: dict[Place, list[tuple[_Partition, int]]] = {}
        """By partition: the rows without a lag, each with the offsets that are done with."""
        self._left = 0

    def begin(self, groups: list[DescribeShareGroupOffsetsRequestGroup]) -> None:
        """Ask for each group."""
        self._left = len(groups) + 1
        for at, group in enumerate(groups):
            if group.topics is None:
                self._ask_group(at, group.group_id)
            else:
                self._ask_topics(at, group)
        self._one_less()

    def _one_less(self) -> None:
        self._left -= 1
        if not self._left:
            _Ends(self._context, self._open, self._answer).ask()

    def _answer(self) -> None:
        groups = [each for each in self._groups if each is not None]
        self._request.release(DescribeShareGroupOffsetsResponse(groups=groups))

    def _ask_group(self, at: int, group_id: str) -> None:
        """Ask for all share partitions that the group has."""
        one = DescribeShareGroupOffsetsRequest([DescribeShareGroupOffsetsRequestGroup(group_id)])
        one.groups[0].topics = None
        shard, told = ask_one(self._context, self._request, group_id, one)

        def go_on(decided: Any) -> None:
            code = refusal(decided)
            if code:
                self._groups[at] = _Group(group_id, [], code, code.name)
                self._one_less()
                return
            assert isinstance(decided, Errand)
            self._ask_states(at, _Group(group_id), decided.request)

        settled = told if shard is None else shard.settle(told, go_on)
        if settled is not None:
            go_on(settled)

    def _ask_topics(self, at: int, group: DescribeShareGroupOffsetsRequestGroup) -> None:
        by_name = self._context.image.topics.by_name
        asked, unknown = [], []
        for topic in group.topics or ():
            known = by_name.get(topic.topic_name)
            numbers = {
                each: known is not None and each in known.partitions for each in topic.partitions
            }
            rows = [PartitionData(each, -1) for each, exists in numbers.items() if exists]
            if known is not None and rows:
                asked.append(ReadStateSummaryData(known.topic_id, rows))
            missing = [_Partition(each, -1) for each, exists in numbers.items() if not exists]
            if missing:
                topic_id = ZERO_UUID if known is None else known.topic_id
                unknown.append(_Topic(topic.topic_name, topic_id, missing))
        message = ReadShareGroupStateSummaryRequest(group.group_id, asked) if asked else None
        self._ask_states(at, _Group(group.group_id), message, unknown)

    def _ask_states(
        self, at: int, answer: _Group, message: Any, unknown: Sequence[_Topic] = ()
    ) -> None:
        self._groups[at] = answer
        if message is None:
            answer.topics += unknown
            self._one_less()
            return

        def take(told: Any) -> None:
            for topic in told.results:
                self._add(answer, topic)
            for missing in unknown:  # as in Kafka, after the others
                _put(answer, missing)
            self._one_less()

        self._context.coordinators.runtime.persister.ask(message, take)

    def _add(self, answer: _Group, states: Any) -> None:
        topic = self._context.image.topics.by_id.get(states.topic_id)
        if topic is None:
            return  # it was deleted meanwhile
        rows = []
        for state in states.partitions:
            if state.error_code:
                rows.append(
                    _Partition(state.partition, -1, 0, -1, state.error_code, state.error_message)
                )
                continue
            row = _Partition(state.partition, state.start_offset, state.leader_epoch)
            if min(state.start_offset, state.delivery_complete_count) >= 0:
                done = state.start_offset + state.delivery_complete_count
                self._open.setdefault((topic.name, state.partition), []).append((row, done))
            rows.append(row)
        _put(answer, _Topic(topic.name, states.topic_id, rows))


def _put(answer: _Group, topic: _Topic) -> None:
    known = next((each for each in answer.topics if each.topic_name == topic.topic_name), None)
    if known is None:
        answer.topics.append(topic)
    else:
        known.partitions += topic.partitions


class _Ends:
    """Finds where partitions end: in logs of this broker, and by ListOffsets of other leaders."""

    def __init__(
        self,
        context: BrokerContext,
        rows: dict[Place, list[tuple[_Partition, int]]],
        then: Callable[[], None],
    ) -> None:
        self._context = context
        self._rows = rows
        self._then = then
        self._left = 1

    def ask(self) -> None:
        """Ask all leaders; ``then`` is called when they have answered."""
        by_leader: dict[int, dict[str, list[int]]] = {}
        peers = self._context.coordinators.peers
        for name, number in self._rows:
            leader = peers.leader_of(name, number)
            if leader is None:
                self._take_here(name, number)
            else:
                by_leader.setdefault(leader, {}).setdefault(name, []).append(number)
        for leader, topics in by_leader.items():
            self._left += 1
            wanted = [
                ListOffsetsTopic(
                    name, [ListOffsetsPartition(each, timestamp=_LATEST) for each in numbers]
                )
                for name, numbers in topics.items()
            ]
            peers.ask(leader, ListOffsetsRequest(-1, 0, wanted), self._answered)
        self._one_less()

    def _one_less(self) -> None:
        self._left -= 1
        if not self._left:
            self._context.coordinators.runtime.persister.ready.add(self._then)

    def _take_here(self, name: str, number: int) -> None:
        topic = self._context.replicas.table.by_name.get(name)
        partition = None if topic is None else topic.partition(number)
        if partition is not None and partition.leads:
            self._take(name, number, partition.log.high_watermark)

    def _answered(self, answer: Any) -> None:
        for topic in [] if answer is None else answer.topics:
            for each in topic.partitions:
                if each.error_code == ErrorCode.NONE:
                    self._take(topic.name, each.partition_index, each.offset)
        self._one_less()

    def _take(self, name: str, number: int, end: int) -> None:
        for row, done in self._rows[name, number]:
            row.lag = end - done
