"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs, ListConfigResources over a socket."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.config import Settings, TopicSettings
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import alter_configs as legacy
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResult,
)
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fencepost_protocol.generated.list_config_resources import ListConfigResourcesRequest

from tests.support.broker import RunningBroker, running_broker

pytestmark = pytest.mark.asyncio

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)


async def described(
    broker: RunningBroker,
    kind: int,
    name: str,
    keys: list[str] | None = None,
    version: int = 4,
    *,
    include_synonyms: bool = False,
    include_documentation: bool = False,
) -> DescribeConfigsResult:
    resource = DescribeConfigsResource(kind, name, keys)
    request = DescribeConfigsRequest([resource], include_synonyms, include_documentation)
    response = await broker.ask(request, version)
    (result,) = response.results
    assert isinstance(result, DescribeConfigsResult)
    assert (result.resource_type, result.resource_name) == (kind, name)
    return result


async def value(broker: RunningBroker, topic: str, name: str) -> tuple[str | None, int]:
    (entry,) = (await described(broker, TOPIC, topic, [name])).configs
    return entry.value, entry.config_source


async def altered(
    broker: RunningBroker, kind: int, name: str, *configs: tuple[str, int, str | None]
) -> ErrorCode:
    resource = AlterConfigsResource(kind, name, [AlterableConfig(*each) for each in configs])
    response = await broker.ask(IncrementalAlterConfigsRequest([resource]), 1)
    return ErrorCode(response.responses[0].error_code)


@pytest.mark.parametrize("version", [1, 2, 3, 4])
async def test_a_topics_settings_tell_where_their_values_come_from(version: int) -> None:
    async with running_broker({"log.cleanup.policy": "compact"}) as broker:
        broker.create("t", 1, **{"retention.ms": "1000"})
        keys = ["retention.ms", "cleanup.policy", "segment.bytes", "nothing.of.the.kind"]
        result = await described(broker, TOPIC, "t", keys, version, include_synonyms=True)
        assert (result.error_code, result.error_message) == (0, "")
        entries = {entry.name: entry for entry in result.configs}
        assert set(entries) == set(keys[:3])
        told = {
            name: (
                entry.value,
                entry.config_source,
                [(each.name, each.value, each.source) for each in entry.synonyms],
            )
            for name, entry in entries.items()
        }
        assert told == {
            "retention.ms": ("1000", 1, [("retention.ms", "1000", 1)]),
            "cleanup.policy": (
                "compact",
                4,
                [("log.cleanup.policy", "compact", 4), ("log.cleanup.policy", "delete", 5)],
            ),
            "segment.bytes": ("1073741824", 5, [("log.segment.bytes", "1073741824", 5)]),
        }
        assert not any(entry.read_only or entry.is_sensitive for entry in entries.values())
        types = [entries[name].config_type for name in keys[:3]]
        assert types == ([5, 7, 3] if version >= 3 else [0, 0, 0])


@pytest.mark.parametrize("keys", [None, []])
async def test_without_names_all_settings_are_described(keys: list[str] | None) -> None:
    async with running_broker(topics={"t": 1}) as broker:
        topic = await described(broker, TOPIC, "t", keys, include_documentation=True)
        assert {entry.name for entry in topic.configs} == {
            name for name, setting in TopicSettings.settings.items() if not setting.internal
        }
        assert all(entry.documentation for entry in topic.configs)
        own = await described(broker, BROKER, str(broker.node_id), keys, include_synonyms=True)
        assert {entry.name for entry in own.configs} == {
            name for name, setting in Settings.settings.items() if not setting.internal
        }
        assert all(entry.documentation is None for entry in own.configs)
        assert not any(entry.value for entry in own.configs if entry.is_sensitive)
        assert any(entry.read_only for entry in own.configs)


async def test_synonyms_are_told_to_those_who_ask() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        (entry,) = (await described(broker, TOPIC, "t", ["segment.bytes"])).configs
        assert entry.synonyms == []


@pytest.mark.parametrize(
    ("kind", "name", "code", "count"),
    [
        (TOPIC, "missing", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0),
        (TOPIC, "", ErrorCode.INVALID_TOPIC_EXCEPTION, 0),
        (TOPIC, "no name", ErrorCode.INVALID_TOPIC_EXCEPTION, 0),
        (BROKER, "77", ErrorCode.INVALID_REQUEST, 0),
        (BROKER, "x", ErrorCode.INVALID_REQUEST, 0),
        (BROKER, "", ErrorCode.NONE, 1),  # min.insync.replicas (KIP-966)
        (LOGGER, "1", ErrorCode.NONE, 8),
        (LOGGER, "2", ErrorCode.INVALID_REQUEST, 0),
        (LOGGER, "x", ErrorCode.INVALID_REQUEST, 0),
        (LOGGER, "", ErrorCode.INVALID_REQUEST, 0),
        (METRICS, "m", ErrorCode.NONE, 3),
        (METRICS, "", ErrorCode.INVALID_REQUEST, 0),
        (GROUP, "g", ErrorCode.NONE, 17),
        (GROUP, "", ErrorCode.INVALID_REQUEST, 0),
        (0, "x", ErrorCode.INVALID_REQUEST, 0),
        (99, "x", ErrorCode.INVALID_REQUEST, 0),
    ],
)
async def test_resources_that_are_not_there(
    kind: int, name: str, code: ErrorCode, count: int
) -> None:
    async with running_broker() as broker:
        result = await described(broker, kind, name)
        assert (result.error_code, len(result.configs)) == (code, count)


async def test_one_bad_resource_does_not_hinder_another() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        names = ["missing", "t", "t"]
        resources = [DescribeConfigsResource(TOPIC, name, ["retention.ms"]) for name in names]
        response = await broker.ask(DescribeConfigsRequest(resources), 4)
        assert [result.error_code for result in response.results] == [3, 0, 0]


async def test_changes_show_and_take_effect() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        log = broker.server.table.by_name["t"].partitions[0].log
        assert not await altered(broker, TOPIC, "t", ("segment.ms", SET, "60000"))
        assert await value(broker, "t", "segment.ms") == ("60000", 1)
        assert not await altered(broker, TOPIC, "t", ("cleanup.policy", APPEND, "compact"))
        assert await value(broker, "t", "cleanup.policy") == ("delete,compact", 1)
        assert (log.config.compact, log.config.delete) == (True, True)
        assert not await altered(broker, TOPIC, "t", ("cleanup.policy", SUBTRACT, "delete"))
        assert (log.config.compact, log.config.delete) == (True, False)
        assert not await altered(broker, TOPIC, "t", ("cleanup.policy", DELETE, None))
        assert await value(broker, "t", "cleanup.policy") == ("delete", 5)
        assert not log.config.compact


@pytest.mark.parametrize(
    ("kind", "name", "config", "code"),
    [
        (TOPIC, "t", ("nothing.of.the.kind", SET, "1"), ErrorCode.INVALID_CONFIG),
        (TOPIC, "t", ("segment.ms", SET, "x"), ErrorCode.INVALID_CONFIG),
        (TOPIC, "t", ("segment.ms", SET, "-5"), ErrorCode.INVALID_CONFIG),
        (TOPIC, "t", ("segment.ms", APPEND, "5"), ErrorCode.INVALID_CONFIG),
        (TOPIC, "t", ("segment.ms", SET, None), ErrorCode.INVALID_REQUEST),
        (TOPIC, "missing", ("segment.ms", SET, "5"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "", ("segment.ms", SET, "5"), ErrorCode.INVALID_REQUEST),
        (BROKER, "1", ("node.id", SET, "5"), ErrorCode.INVALID_REQUEST),
        (1, "x", ("segment.ms", SET, "5"), ErrorCode.INVALID_REQUEST),
    ],
)
async def test_changes_that_are_refused(
    kind: int, name: str, config: tuple[str, int, str | None], code: ErrorCode
) -> None:
    async with running_broker(topics={"t": 1}) as broker:
        assert await altered(broker, kind, name, config) is code
        assert (await value(broker, "t", "segment.ms"))[1] == 5


@pytest.mark.parametrize("version", [0, 1])
async def test_trying_changes_nothing(version: int) -> None:
    async with running_broker(topics={"t": 1}) as broker:
        config = AlterableConfig("segment.ms", SET, "7777")
        resource = AlterConfigsResource(TOPIC, "t", [config])
        request = IncrementalAlterConfigsRequest([resource], validate_only=True)
        assert (await broker.ask(request, version)).responses[0].error_code == 0
        assert await value(broker, "t", "segment.ms") == ("604800000", 5)


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_the_old_way_replaces_all_settings(version: int) -> None:
    async with running_broker() as broker:
        broker.create("t", 1, **{"retention.ms": "1000"})
        resources = [
            legacy.AlterConfigsResource(
                TOPIC, "t", [legacy.AlterableConfig("segment.ms", "60000")]
            ),
            legacy.AlterConfigsResource(TOPIC, "missing"),
        ]
        response = await broker.ask(legacy.AlterConfigsRequest(resources), version)
        assert [answer.error_code for answer in response.responses] == [0, 3]
        assert await value(broker, "t", "segment.ms") == ("60000", 1)
        assert await value(broker, "t", "retention.ms") == ("604800000", 5)


@pytest.mark.parametrize(
    ("version", "types", "code", "listed"),
    [
        (0, [], 0, []),
        (1, [], 0, [(TOPIC, "a"), (TOPIC, "b"), (BROKER, "1"), (LOGGER, "1")]),
        (1, [TOPIC, TOPIC], 0, [(TOPIC, "a"), (TOPIC, "b")]),
        (1, [BROKER], 0, [(BROKER, "1")]),
        (1, [METRICS, GROUP], 0, []),
        (1, [0], ErrorCode.UNSUPPORTED_VERSION, []),
        (1, [TOPIC, 99], ErrorCode.UNSUPPORTED_VERSION, []),
    ],
)
async def test_resources_are_listed(
    version: int, types: list[int], code: int, listed: list[Any]
) -> None:
    async with running_broker(topics={"a": 1, "b": 1}) as broker:
        response = await broker.ask(ListConfigResourcesRequest(types), version)
        assert response.error_code == code
        found = [(each.resource_type, each.resource_name) for each in response.config_resources]
        assert found == listed
