"""Settings of replication quotas: which values each may have, and what is told of them."""

from __future__ import annotations

from typing import Final, TypeAlias

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.describe_cluster import DescribeClusterRequest
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
)
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

from tests.support.broker import Client
from tests.support.waiting import asked_until

_Resource: TypeAlias = tuple[int, str]
_TOPIC, _BROKER = 2, 4
_OF_TOPIC: Final = (_TOPIC, "throttled")
_OF_ALL_BROKERS: Final = (_BROKER, "")
_SET, _DELETE, _APPEND = 0, 1, 2
_DEFAULT: Final = 5
RATES: Final = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
REPLICAS: Final = (
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)
WINDOWS: Final = ("replication.quota.window.num", "replication.quota.window.size.seconds")
_RATE_TEXTS: Final = (
    "0", "1", "1000", "-1", "-2", " 7 ", "+7", "7.5", "1e3", "x", "", str((1 << 63) - 1),
    str(1 << 63), None,
)  # fmt: skip
_REPLICA_TEXTS: Final = (
    "", "*", "all", "none", "0:1", "0:1,1:2", "0:1, 1:2", " 0:1 ", "0:1,*", "*,*", "0", "0:",
    ":1", "0:1:2", "-1:0", "0:-1", "a:b", "0:0", "99:99", None,
)  # fmt: skip


async def script(bootstrap: str) -> list[str]:
    """Return which values are accepted, and what is told of those that were set."""
    async with Client(bootstrap) as client:
        await client.ask(CreateTopicsRequest(topics=[CreatableTopic(_OF_TOPIC[1], 1, 1)]), 7)
        cluster = await client.ask(DescribeClusterRequest(), 1)
        broker = (_BROKER, str(cluster.brokers[0].broker_id))
        lines = []
        for about, resource in (("a broker", broker), ("all brokers", _OF_ALL_BROKERS)):
            lines += [
                f"{name} of {about} may be {await _taken(client, resource, name, _RATE_TEXTS)}"
                for name in (*RATES, *WINDOWS)
            ]
        lines += [
            f"{name} may be {await _taken(client, _OF_TOPIC, name, _REPLICA_TEXTS)}"
            for name in REPLICAS
        ]
        lines += [f"at first: {each}" for each in await _told(client, broker, WINDOWS)]
        lines += [f"at first: {each}" for each in await _told(client, _OF_TOPIC, REPLICAS)]
        await _set(client, _OF_ALL_BROKERS, RATES[0], "1000")
        await _set(client, broker, RATES[1], "2000")
        await _set(client, _OF_TOPIC, REPLICAS[0], "0:1")
        for op in (_APPEND, _DELETE):
            errors = [
                ErrorCode(await _alter(client, _OF_TOPIC, (REPLICAS[1], op, "0:2"), is_meant=True))
                for _ in range(2)
            ]
            lines.append(f"operation {op}, twice: {', '.join(each.name for each in errors)}")
        for resource, names in ((broker, RATES), (_OF_ALL_BROKERS, RATES), (_OF_TOPIC, REPLICAS)):
            lines += [f"then: {each}" for each in await _told(client, resource, names)]
    return lines


async def _taken(
    client: Client, resource: _Resource, name: str, texts: tuple[str | None, ...]
) -> str:
    errors = [await _alter(client, resource, (name, _SET, each)) for each in texts]
    taken = [repr(each) for each, error in zip(texts, errors, strict=True) if not error]
    return ", ".join(taken) or "nothing"


async def _set(client: Client, resource: _Resource, name: str, value: str) -> None:
    assert not await _alter(client, resource, (name, _SET, value), is_meant=True)

    async def is_known() -> bool:
        return any(each.value == value for each in await _described(client, resource, (name,)))

    await asked_until(is_known)


async def _described(
    client: Client, resource: _Resource, names: tuple[str, ...]
) -> list[DescribeConfigsResourceResult]:
    asked = DescribeConfigsResource(*resource, [*names])
    answer = await client.ask(DescribeConfigsRequest([asked], True, False), 4)
    return sorted(answer.results[0].configs, key=lambda each: str(each.name))


async def _told(client: Client, resource: _Resource, names: tuple[str, ...]) -> list[str]:
    """Tell of settings; Apache Kafka does not tell the defaults of settings without static ones."""
    lines = []
    for each in await _described(client, resource, names):
        synonyms = [
            f"{one.name}={one.value} ({one.source})"
            for one in each.synonyms
            if one.name not in RATES or one.source != _DEFAULT
        ]
        lines.append(
            f"{each.name}={each.value}: source {each.config_source}, type {each.config_type}, read"
            f" only {each.read_only}, synonyms {', '.join(synonyms) or None}"
        )
    return lines


async def _alter(
    client: Client,
    resource: _Resource,
    change: tuple[str, int, str | None],
    *,
    is_meant: bool = False,
) -> int:
    altered = AlterConfigsResource(*resource, [AlterableConfig(*change)])
    answer = await client.ask(IncrementalAlterConfigsRequest([altered], not is_meant), 1)
    return int(answer.responses[0].error_code)
