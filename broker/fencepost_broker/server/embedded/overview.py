"""What a broker is asked first when a test has failed: errors, transactions, groups, rules."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode, explain_error
from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest

from fencepost_broker.apis.loopback import Loopback
from fencepost_broker.apis.registry import SERVED
from fencepost_broker.config.internal_topics import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from fencepost_broker.coordinator.runtime.explaining import Explaining
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.server.broker_server import BrokerServer

if TYPE_CHECKING:
    from fencepost_broker.faults.rule import Status

SHOWN_MAX: Final = 10
"""How many transactions, partitions, groups or members are shown at most."""
_OPEN: Final = ["Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"]


class Overview:
    """Describes the state of a broker in lines of text, what needs attention first."""

    def __init__(self, server: BrokerServer, address: str, rules: Sequence[Status] = ()) -> None:
        """``address`` is the broker's own, for texts; ``rules`` are its fault rules."""
        self._server = server
        self._rules = rules
        self._address = address
        call_later = asyncio.get_running_loop().call_later
        self._loopback = Loopback(
            server.context, SERVED, Metrics(), lambda ms, call: call_later(ms / 1000, call)
        )

    async def lines(self) -> list[str]:
        """Return all lines; a broker with nothing to tell has one."""
        found = [*self._errors()]
        if TRANSACTIONS_TOPIC in self._server.table.by_name:
            found += await self._transactions()
        found += self._partitions()
        if OFFSETS_TOPIC in self._server.table.by_name:
            found += await self._groups()
        if self._rules:
            found.append(f"fault rules: {_count(len(self._rules))}")
            found += [f"  {each.told}" for each in self._rules[:SHOWN_MAX]]
        return found or ["no errors, open transactions or groups"]

    async def _ask(self, message: Message, version: int) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._loopback.ask(message, version, answer.set_result)
        return await answer

    def _errors(self) -> Iterator[str]:
        counts: dict[str, int] = self._server.metrics.snapshot()["errors"]
        counts = {name: count for name, count in counts.items() if name != ErrorCode.NONE.name}
        if not counts:
            return
        yield "errors in answers:"
        for name, count in sorted(counts.items(), key=lambda each: -each[1]):
            info = explain_error(ErrorCode[name]) if name in ErrorCode.__members__ else None
            yield f"  {name} ({count}): {'' if info is None else info.about}"

    async def _transactions(self) -> list[str]:
        answer = await self._ask(ListTransactionsRequest(_OPEN), 1)
        explaining = self._explaining()
        found = []
        for each in answer.transaction_states[:SHOWN_MAX]:
            told = explaining.transaction(each.transactional_id, self._address)
            found += [] if told is None else str(told).splitlines()
        count = len(answer.transaction_states)
        if not count:
            return []
        return [f"open transactions: {_count(count)}", *(f"  {line}" for line in found)]

    def _partitions(self) -> Iterator[str]:
        """Yield which transaction holds the last stable offset of which partition."""
        held = [
            (topic.name, partition.number)
            for topic in self._server.table.by_name.values()
            for partition in topic.partitions
            if partition.log.last_stable_offset < partition.log.high_watermark
        ]
        if not held:
            return
        explaining = self._explaining()
        yield f"partitions whose readers wait for the end of a transaction: {_count(len(held))}"
        for name, number in held[:SHOWN_MAX]:
            told = explaining.partition(name, number)
            if told is not None and told.holder is not None:
                holder = told.holder
                who = holder.transactional_id or f"producer {holder.producer_id}"
                yield (
                    f"  {name}-{number}: they read up to {told.last_stable_offset} of"
                    f" {told.high_watermark}, because of {who} ({holder.state or 'not known'})"
                )

    def _explaining(self) -> Explaining:
        return Explaining(self._server.coordinators.runtime)

    async def _groups(self) -> list[str]:
        groups = (await self._ask(ListGroupsRequest(), 5)).groups
        if not groups:
            return []
        found = [f"groups: {_count(len(groups))}"]
        for each in groups[:SHOWN_MAX]:
            if each.group_type == "consumer":
                request: Message = ConsumerGroupDescribeRequest([each.group_id])
                answer = await self._ask(request, 1)
            else:
                answer = await self._ask(DescribeGroupsRequest([each.group_id]), 5)
            members = answer.groups[0].members
            found.append(f"  {each.group_id}: {each.group_state}, {len(members)} members")
            found += [
                f"    {member.client_id} at {member.client_host.lstrip('/')}: {member.member_id}"
                for member in members[:SHOWN_MAX]
            ]
        return found


def _count(number: int) -> str:
    return f"{number}, the first {SHOWN_MAX}" if number > SHOWN_MAX else str(number)
