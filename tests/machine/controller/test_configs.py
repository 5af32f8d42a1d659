"""AlterConfigs and IncrementalAlterConfigs: per resource, per operation, with Kafka's codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import pytest
from fencepost_broker.controller.ports import ControllerSettings
from fencepost_protocol.generated import alter_configs as legacy
from fencepost_protocol.generated import incremental_alter_configs as incremental

from tests.machine.controller.cluster import CLUSTER_ID, Cluster, in_request_twice, told

NO_VALUE = "the value is missing; to remove a setting, use DELETE (in AlterConfigs, leave it out)"


def no_type(number: int) -> str:
    return (
        f"settings of resource type {number} cannot be changed here: use 2 (topic), 4 (broker), "
        "16 (client metrics) or 32 (group)"
    )


SET, DELETE, APPEND, SUBTRACT = range(4)
TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32

Change: TypeAlias = tuple[str, int, str | None]
Resource: TypeAlias = tuple[int, str, Sequence[Change]]


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster().up(1)
    cluster.topic("t")
    return cluster


def alter(cluster: Cluster, *resources: Resource, validate_only: bool = False) -> list[Any]:
    asked = [
        incremental.AlterConfigsResource(
            kind, name, [incremental.AlterableConfig(*change) for change in changes]
        )
        for kind, name, changes in resources
    ]
    request = incremental.IncrementalAlterConfigsRequest(asked, validate_only)
    responses: list[Any] = cluster.ask(request).responses
    return responses


def replace(cluster: Cluster, kind: int, name: str, **values: str | None) -> tuple[str, str | None]:
    configs = [legacy.AlterableConfig(key.replace("_", "."), values[key]) for key in values]
    asked = [legacy.AlterConfigsResource(kind, name, configs)]
    return told(cluster.ask(legacy.AlterConfigsRequest(asked)).responses[0])


class TestIncremental:
    def test_set_and_delete(self, cluster: Cluster) -> None:
        alter(cluster, (TOPIC, "t", [("retention.ms", SET, "5"), ("flush.ms", SET, "6")]))
        assert cluster.image.configs.of_topic("t") == {"retention.ms": "5", "flush.ms": "6"}
        alter(cluster, (TOPIC, "t", [("retention.ms", DELETE, "ignored"), ("foo", DELETE, None)]))
        assert cluster.image.configs.of_topic("t") == {"flush.ms": "6"}

    def test_validation_alone_writes_nothing(self, cluster: Cluster) -> None:
        change = (TOPIC, "t", [("retention.ms", SET, "5")])
        (result,) = alter(cluster, change, validate_only=True)
        assert told(result) == ("NONE", None)
        assert cluster.image.configs.of_topic("t") == {}

    def test_the_same_value_again_writes_nothing_for_a_topic(self, cluster: Cluster) -> None:
        alter(cluster, (TOPIC, "t", [("retention.ms", SET, "5")]))
        before = len(cluster.log)
        alter(cluster, (TOPIC, "t", [("retention.ms", SET, "5")]))
        alter(cluster, (TOPIC, "t", [("flush.ms", DELETE, None)]))
        assert len(cluster.log) == before

    def test_but_for_a_broker(self, cluster: Cluster) -> None:
        for _ in range(2):
            alter(cluster, (BROKER, "1", [("log.retention.ms", SET, "5")]))
        assert len(cluster.changes) == 1
        assert cluster.image.configs.of(BROKER, "1") == {"log.retention.ms": "5"}
        assert cluster.image.configs.of(BROKER, "") == {"min.insync.replicas": "1"}

    @pytest.mark.parametrize(
        ("before", "operation", "value", "after"),
        [
            (None, APPEND, "compact", "delete,compact"),
            ("delete,compact", APPEND, "compact", "delete,compact"),
            ("", APPEND, "delete,compact", "delete,compact"),
            (None, APPEND, "compact,compact", "delete,compact"),
            ("delete, compact", SUBTRACT, "delete", " compact"),
            ("compact", SUBTRACT, "compact", ""),
            ("delete,compact", SUBTRACT, "delete,compact", ""),
            ("delete,compact", SUBTRACT, "delete , compact", "delete,compact"),
            ("compact, delete", APPEND, "delete", "compact, delete,delete"),
            (None, SUBTRACT, "compact", "delete"),
        ],
    )
    def test_lists(
        self, cluster: Cluster, before: str | None, operation: int, value: str, after: str
    ) -> None:
        if before is not None:
            alter(cluster, (TOPIC, "t", [("cleanup.policy", SET, before)]))
        (result,) = alter(cluster, (TOPIC, "t", [("cleanup.policy", operation, value)]))
        assert told(result) == ("NONE", None)
        assert cluster.image.configs.of_topic("t")["cleanup.policy"] == after

    @pytest.mark.parametrize(
        ("resource", "code", "message"),
        [
            ((TOPIC, "t", [("retention.ms", SET, None)]), "INVALID_REQUEST",
             f"retention.ms: {NO_VALUE}"),
            ((TOPIC, "t", [("cleanup.policy", APPEND, None)]), "INVALID_REQUEST",
             f"cleanup.policy: {NO_VALUE}"),
            ((TOPIC, "t", [("retention.ms", SET, "x")]), "INVALID_CONFIG",
             "retention.ms=x: it is not a whole number"),
            ((TOPIC, "t", [("foo", SET, "x")]), "INVALID_CONFIG", "there is no topic setting foo"),
            ((TOPIC, "t", [("cleanup.policy", APPEND, "x")]), "INVALID_CONFIG",
             "cleanup.policy=delete,x: it is none of compact, delete"),
            ((TOPIC, "t", [("retention.ms", APPEND, "5")]), "INVALID_CONFIG",
             "APPEND needs a list, and retention.ms is not one: use SET"),
            ((TOPIC, "t", [("foo", SUBTRACT, "5")]), "INVALID_CONFIG",
             "SUBTRACT needs a list, and foo is not one: use SET"),
            ((TOPIC, "t", [("flush.ms", SET, "5"), ("flush.ms", DELETE, None)]), "INVALID_REQUEST",
             "flush.ms is given twice: give it one value"),
            ((TOPIC, "t", [("flush.ms", 7, "5")]), "INVALID_REQUEST", "there is no operation 7 "
             "(on flush.ms): use 0 SET, 1 DELETE, 2 APPEND or 3 SUBTRACT"),
            ((TOPIC, "nope", [("flush.ms", SET, "5")]), "UNKNOWN_TOPIC_OR_PARTITION",
             "there is no topic nope"),
            ((TOPIC, "a b", [("flush.ms", SET, "5")]), "INVALID_TOPIC_EXCEPTION",
             "'a b' has ' ' in it: a topic's name is made of a-z, A-Z, 0-9, . _ and -"),
            ((TOPIC, "", [("flush.ms", SET, "5")]), "INVALID_REQUEST",
             "the topic's name is missing; set defaults of all topics on brokers"),
            ((3, "x", [("flush.ms", SET, "5")]), "INVALID_REQUEST", no_type(3)),
            ((0, "x", []), "INVALID_REQUEST", no_type(0)),
            ((LOGGER, "1", [("root", SET, "INFO")]), "INVALID_REQUEST", no_type(8)),
            ((BROKER, "x", [("a", SET, "5")]), "INVALID_REQUEST",
             "'x' is not a broker: use a broker's id, or no name for all brokers"),
            ((BROKER, "1", [("node.id", SET, "5")]), "INVALID_REQUEST",
             "node.id cannot be changed while the broker runs"),
            ((GROUP, "g", [("foo", SET, "5")]), "INVALID_CONFIG",
             "there is no group setting foo"),
            ((GROUP, "", [("foo", SET, "5")]), "INVALID_REQUEST",
             "the group's id is missing; groups have no common settings"),
            ((METRICS, "", [("foo", SET, "5")]), "INVALID_REQUEST",
             "the name of a client-metrics subscription is missing"),
        ],
    )  # fmt: skip
    def test_refusals(self, cluster: Cluster, resource: Resource, code: str, message: str) -> None:
        (result,) = alter(cluster, resource)
        assert told(result) == (code, message)
        assert (result.resource_type, result.resource_name) == resource[:2]
        assert not cluster.changes

    def test_one_setting_refused_refuses_its_resource_and_no_other(self, cluster: Cluster) -> None:
        cluster.topic("u")
        results = alter(
            cluster,
            (TOPIC, "t", [("flush.ms", SET, "5"), ("foo", SET, "6")]),
            (TOPIC, "u", [("flush.ms", SET, "5")]),
        )
        assert [told(each)[0] for each in results] == ["INVALID_CONFIG", "NONE"]
        assert cluster.image.configs.of_topic("t") == {}
        assert cluster.image.configs.of_topic("u") == {"flush.ms": "5"}

    def test_settings_are_judged_together_with_those_that_stay(self, cluster: Cluster) -> None:
        alter(cluster, (TOPIC, "t", [("min.compaction.lag.ms", SET, "10")]))
        too_low = (TOPIC, "t", [("max.compaction.lag.ms", SET, "5")])
        (result,) = alter(cluster, too_low)
        assert told(result) == (
            "INVALID_CONFIG",
            "min.compaction.lag.ms=10 is above max.compaction.lag.ms=5",
        )
        alter(cluster, (TOPIC, "t", [("min.compaction.lag.ms", DELETE, None)]))
        assert told(alter(cluster, too_low)[0]) == ("NONE", None)

    def test_a_resource_twice(self, cluster: Cluster) -> None:
        change = (TOPIC, "t", [("flush.ms", SET, "5")])
        results = alter(cluster, change, change)
        message = in_request_twice("the resource 't' of type 2")
        assert [told(each) for each in results] == [("INVALID_REQUEST", message)] * 2

    def test_groups_and_metrics_need_not_exist(self, cluster: Cluster) -> None:
        results = alter(
            cluster,
            (GROUP, "g", [("consumer.session.timeout.ms", SET, "50000")]),
            (METRICS, "m", [("interval.ms", SET, "100")]),
        )
        assert [told(each)[0] for each in results] == ["NONE", "NONE"]
        assert set(cluster.image.configs.by_resource) == {
            (BROKER, ""),
            (GROUP, "g"),
            (METRICS, "m"),
        }

    def test_no_settings(self, cluster: Cluster) -> None:
        assert told(alter(cluster, (TOPIC, "t", []))[0]) == ("NONE", None)
        assert alter(cluster) == []


class TestAllAtOnce:
    def test_what_is_not_named_is_gone(self, cluster: Cluster) -> None:
        assert replace(cluster, TOPIC, "t", retention_ms="5", flush_ms="6") == ("NONE", None)
        assert replace(cluster, TOPIC, "t", retention_ms="5", cleanup_policy="") == ("NONE", None)
        assert cluster.image.configs.of_topic("t") == {"retention.ms": "5", "cleanup.policy": ""}
        assert len(cluster.changes) == 2
        assert replace(cluster, TOPIC, "t") == ("NONE", None)
        assert cluster.image.configs.of_topic("t") == {}

    @pytest.mark.parametrize(
        ("kind", "name", "values", "code", "message"),
        [
            (TOPIC, "t", {"flush.ms": None}, "INVALID_REQUEST",
             f"flush.ms: {NO_VALUE}"),
            (TOPIC, "t", {"foo": "x"}, "INVALID_CONFIG", "there is no topic setting foo"),
            (TOPIC, "nope", {"foo": "x"}, "INVALID_CONFIG", "there is no topic setting foo"),
            (TOPIC, "nope", {"flush.ms": "1"}, "UNKNOWN_TOPIC_OR_PARTITION",
             "there is no topic nope"),
            (BROKER, "1", {"node.id": "5"}, "INVALID_REQUEST",
             "node.id cannot be changed while the broker runs"),
            (BROKER, "7", {"a": "5"}, "INVALID_REQUEST",
             "this is broker 1, not 7"),
        ],
    )  # fmt: skip
    def test_refusals(
        self,
        cluster: Cluster,
        kind: int,
        name: str,
        values: dict[str, str | None],
        code: str,
        message: str,
    ) -> None:
        assert replace(cluster, kind, name, **values) == (code, message)
        assert not cluster.changes

    def test_validation_alone_writes_nothing(self, cluster: Cluster) -> None:
        configs = [legacy.AlterableConfig("flush.ms", "5")]
        asked = [legacy.AlterConfigsResource(TOPIC, "t", configs)]
        response = cluster.ask(legacy.AlterConfigsRequest(asked, validate_only=True))
        assert told(response.responses[0]) == ("NONE", None)
        assert cluster.image.configs.of_topic("t") == {}


class TestMany:
    """A decision looks at no more settings than it may write; Apache Kafka answers 44, too."""

    def test_more_settings_than_records(self) -> None:
        settings = ControllerSettings(node_id=1, cluster_id=CLUSTER_ID, records_per_request_max=2)
        cluster = Cluster(settings).up(1)
        cluster.topic("t")
        three: list[Change] = [(f"{name}.ms", SET, "5") for name in ("retention", "flush", "x")]
        assert [told(each)[0] for each in alter(cluster, (TOPIC, "t", three))] == [
            "POLICY_VIOLATION"
        ]
        assert not cluster.image.configs.of(TOPIC, "t")
        wrong: list[Change] = [("no.such", SET, "5"), *three]
        [answer] = alter(cluster, (TOPIC, "t", wrong))
        assert told(answer)[0] == "INVALID_CONFIG"  # what is wrong comes before how many there are
        asked = {"retention_ms": "5", "flush_ms": "6", "x": "7"}
        assert replace(cluster, TOPIC, "t", **asked)[0] == "POLICY_VIOLATION"
