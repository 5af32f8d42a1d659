"""Quotas of handlers' time, of topics that are made, and of new connections: what a broker tells.

Every request has a connection of its own, since the connection of a client above its quota is
muted. Times are told roughly: those of Apache Kafka pass while the script runs.
"""

from __future__ import annotations

from typing import Any, Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_client_quotas import AlterClientQuotasRequest
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fencepost_protocol.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.support.broker import Client
from tests.support.client_quotas import Names, entry
from tests.support.waiting import asked_until

MUTATIONS, TIME = "controller_mutation_rate", "request_percentage"
CONNECTIONS: Final = "connection_creation_rate"
_RATE: Final = 0.1
"""A bucket of 1.1 partitions, which hardly fills while the script runs."""
_BARELY: Final = 1e-9
_NOBODY: Final = 999


class Script:
    """A broker, and the lines of what it tells."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self.lines: list[str] = []

    async def ask(self, request: Message, version: int, client_id: str) -> Any:
        async with Client(self._bootstrap, client_id) as client:
            return await client.ask(request, version)

    async def limit(self, key: str, rate: float | None, names: Names) -> None:
        request = AlterClientQuotasRequest([entry(names, **{key: rate})])
        assert not (await self.ask(request, 1, "script")).entries[0].error_code

    def tell(self, what: str, told_ms: int, results: list[Any]) -> None:
        codes = " ".join(ErrorCode(each.error_code).name for each in results)
        self.lines.append(f"{what}: {codes}, wait {round(told_ms / 60_000)} min")

    async def create(
        self, what: str, version: int, client_id: str, *topics: CreatableTopic, dry: bool = False
    ) -> None:
        request = CreateTopicsRequest(list(topics), 30_000, dry)
        answer = await self.ask(request, version, client_id)
        by_name = {each.name: each for each in answer.topics}
        self.tell(what, answer.throttle_time_ms, [by_name[each.name] for each in topics])

    async def delete(self, what: str, version: int, client_id: str, *names: str) -> None:
        request = DeleteTopicsRequest(timeout_ms=30_000)
        if version > 5:
            request.topics = [DeleteTopicState(name) for name in names]
        else:
            request.topic_names = list(names)
        answer = await self.ask(request, version, client_id)
        by_name = {each.name: each for each in answer.responses}
        self.tell(what, answer.throttle_time_ms, [by_name[name] for name in names])

    async def grow(
        self, what: str, version: int, client_id: str, *topics: CreatePartitionsTopic
    ) -> None:
        answer = await self.ask(CreatePartitionsRequest(list(topics), 30_000), version, client_id)
        by_name = {each.name: each for each in answer.results}
        self.tell(what, answer.throttle_time_ms, [by_name[each.name] for each in topics])


def _topic(name: str, partitions: int = 1) -> CreatableTopic:
    return CreatableTopic(name, partitions, 1)


def _grown(to: int) -> CreatePartitionsTopic:
    return CreatePartitionsTopic("d1", to, None)


async def script(bootstrap: str) -> list[str]:
    """Ask for much, and return what was told."""
    it = Script(bootstrap)
    await _mutations(it)
    await _time(it)
    return it.lines


async def _mutations(it: Script) -> None:
    for client in "abcdefghij":
        await it.limit(MUTATIONS, _RATE, [("client-id", client)])
    await it.create("create many", 6, "a", _topic("a1", 31))
    await it.create("create more, strict", 6, "a", _topic("a2"))
    await it.create("what exists costs nothing", 6, "a", _topic("a1"))
    await it.create("create more, lenient", 5, "a", _topic("a2", 6))
    await it.delete("delete, strict", 6, "a", "a1")
    await it.delete("delete by name, strict", 5, "a", "a1", "missing")
    await it.delete("delete, lenient", 4, "a", "a1")
    await it.create("two in one", 7, "b", _topic("b1", 31), _topic("b2"), _topic("b1.5", -5))
    await it.create("a dry run costs, too", 7, "c", _topic("c1", 31), dry=True)
    await it.create("after the dry run", 7, "c", _topic("c1"))
    await it.create("not made, costs nothing", 7, "d", CreatableTopic("d1", 31, 100))
    wrong = [CreatableReplicaAssignment(number, [_NOBODY]) for number in range(31)]
    await it.create("to nobody, costs nothing", 7, "d", CreatableTopic("d1", -1, -1, wrong))
    await it.create("after these", 7, "d", _topic("d1"))
    await it.grow("grow", 3, "e", _grown(32))
    await it.grow("grow more, strict", 3, "e", _grown(33))
    await it.grow("no more, strict", 3, "e", _grown(32))
    await it.grow("grow more, lenient", 2, "e", _grown(33))
    some = [CreatePartitionsAssignment([1])]
    await it.grow("too few assignments cost nothing", 3, "f", CreatePartitionsTopic("d1", 90, some))
    nobody = [CreatePartitionsAssignment([_NOBODY]) for _ in range(31)]
    await it.grow("to nobody costs", 3, "f", CreatePartitionsTopic("d1", 64, nobody))
    await it.grow("after that", 3, "f", _grown(34))
    await it.delete("delete much", 6, "g", "d1")
    await it.delete("what is missing costs nothing", 6, "g", "d1")
    await it.delete("delete more", 6, "g", "b1")
    await it.create("another client", 6, "h", _topic("h1"))
    await it.create("nobody's limit", 6, "z", _topic("z1", 40))


async def _time(it: Script) -> None:
    """The wait is never longer than a window, which is a second."""
    await it.limit(TIME, _BARELY, [("client-id", "t")])
    asked: list[tuple[Message, int]] = [
        (MetadataRequest([]), 8),
        (ApiVersionsRequest("a", "1"), 3),
        (ListGroupsRequest(), 4),
        (FindCoordinatorRequest("group", 0), 0),
    ]

    async def applies() -> bool:
        """Whether the broker knows the quota; it applies one after it has answered."""
        return bool((await it.ask(*asked[0], "t")).throttle_time_ms)

    await asked_until(applies)
    for request, version in asked:
        answer = await it.ask(request, version, "t")
        it.lines.append(f"time of {request.NAME} {version}: wait {answer.throttle_time_ms} ms")
