"""Settings, cluster and log folders by scripted answers."""

from __future__ import annotations

import pytest
from fencepost_client import (
    Append,
    ConfigResource,
    ConfigSource,
    ConfigType,
    FatalError,
    FeatureLevel,
    KafkaError,
    LevelChange,
    Listener,
    NetworkError,
    ResourceKind,
    Subtract,
    TopicPartition,
    TopicPartitionReplica,
    UnsupportedVersionError,
)
from fencepost_client.admin.cluster import (
    add_raft_voter,
    describe_cluster,
    describe_features,
    describe_quorum,
    remove_raft_voter,
    update_features,
)
from fencepost_client.admin.configs import (
    alter_configs,
    describe_configs,
    list_config_resources,
    replace_configs,
)
from fencepost_client.admin.log_dirs import alter_replica_log_dirs, describe_log_dirs
from fencepost_client.admin.routing import list_brokers
from fencepost_client.admin.setting_text import setting_text
from fencepost_client.requests.procedures import ANY_NODE, Ask, Controller, NodeId
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import alter_configs as replacing
from fencepost_protocol.generated.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from fencepost_protocol.generated.add_raft_voter import Listener as ToldVoterListener
from fencepost_protocol.generated.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from fencepost_protocol.generated.api_versions import (
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from fencepost_protocol.generated.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from fencepost_protocol.generated.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from fencepost_protocol.generated.describe_quorum import (
    DescribeQuorumResponse,
    DescribeQuorumResponsePartitionData,
    DescribeQuorumResponseTopicData,
    Node,
    ReplicaState,
)
from fencepost_protocol.generated.describe_quorum import Listener as ToldListener
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from fencepost_protocol.generated.list_config_resources import ConfigResource as ToldResource
from fencepost_protocol.generated.list_config_resources import ListConfigResourcesResponse
from fencepost_protocol.generated.remove_raft_voter import (
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)
from fencepost_protocol.generated.update_features import (
    UpdatableFeatureResult,
    UpdateFeaturesResponse,
)

from tests.machine.client.admin_answers import backoff, brokers
from tests.machine.client.scripts import Script

ORDERS = ConfigResource(ResourceKind.TOPIC, "orders")
BROKER = ConfigResource(ResourceKind.BROKER, "2")
ALL_BROKERS = ConfigResource(ResourceKind.BROKER, "")
LOGGER = ConfigResource(ResourceKind.BROKER_LOGGER, "2")


def targets(script: Script) -> list[object]:
    return [step.to for step in script.steps if isinstance(step, Ask)]


# -- settings -------------------------------------------------------------------------------------


def described(*resources: ConfigResource, source: int = 1) -> DescribeConfigsResponse:
    entry = DescribeConfigsResourceResult(
        "k", "v", config_source=source, config_type=3,
        synonyms=[DescribeConfigsSynonym("k", "v", 1), DescribeConfigsSynonym("log.k", None, 5)],
    )  # fmt: skip
    results = [DescribeConfigsResult(0, None, each.kind, each.name, [entry]) for each in resources]
    results.append(DescribeConfigsResult(0, None, 99, "of a later kind"))
    return DescribeConfigsResponse(results=results)


def test_settings_of_a_broker_are_asked_of_it() -> None:
    script = Script([brokers(1, 2), described(ORDERS, ALL_BROKERS), described(BROKER, LOGGER)])
    wanted = [ORDERS, BROKER, LOGGER, ALL_BROKERS]
    found = script.play(
        describe_configs(wanted, ["k"], backoff(), synonyms=True, documentation=True)
    )
    assert targets(script) == [ANY_NODE, ANY_NODE, NodeId(2)]
    assert list(found) == wanted
    entry = found[LOGGER]["k"]
    assert (entry.value, entry.source, entry.type) == (
        "v",
        ConfigSource.DYNAMIC_TOPIC,
        ConfigType.INT,
    )
    assert [(each.name, each.source.name) for each in entry.synonyms] == [
        ("k", "DYNAMIC_TOPIC"),
        ("log.k", "DEFAULT"),
    ]
    assert not entry.is_default
    assert script.asked[1].resources[0].configuration_keys == ["k"]


def test_what_later_brokers_tell_is_unknown() -> None:
    script = Script([described(ORDERS, source=77)])
    found = script.play(
        describe_configs([ORDERS], None, backoff(), synonyms=False, documentation=False)
    )
    assert found[ORDERS]["k"].source == ConfigSource.UNKNOWN
    assert script.asked[0].resources[0].configuration_keys is None


def test_a_broker_that_does_not_exist_has_no_settings() -> None:
    with pytest.raises(KafkaError, match="no broker 2; the brokers are: 1") as raised:
        Script([brokers(1), described(ORDERS)]).play(
            describe_configs([ORDERS, BROKER], None, backoff(), synonyms=False, documentation=False)
        )
    assert "k" in raised.value.outcomes[ORDERS]
    with pytest.raises(UnsupportedVersionError, match="documentation"):
        Script([], version_max=2).play(
            describe_configs([ORDERS], None, backoff(), synonyms=False, documentation=True)
        )


def test_each_change_is_an_operation() -> None:
    told = AlterConfigsResourceResponse(0, None, ORDERS.kind, ORDERS.name)
    later = AlterConfigsResourceResponse(0, None, 99, "x")
    script = Script([IncrementalAlterConfigsResponse(responses=[later, told])])
    changes = {"a": "1", "b": None, "c": Append("2"), "d": Subtract("3")}
    script.play(alter_configs({ORDERS: changes}, backoff(), validate_only=True))
    (request,) = script.asked
    sent = [(each.name, each.config_operation, each.value) for each in request.resources[0].configs]
    assert sent == [("a", 0, "1"), ("b", 1, None), ("c", 2, "2"), ("d", 3, "3")]
    assert request.validate_only


def test_numbers_and_bools_are_sent_as_kafka_writes_them() -> None:
    told = AlterConfigsResourceResponse(0, None, ORDERS.kind, ORDERS.name)
    script = Script([IncrementalAlterConfigsResponse(responses=[told])])
    changes = {"a": 5, "b": True, "c": 0.5, "d": False}
    script.play(alter_configs({ORDERS: changes}, backoff(), validate_only=False))
    (request,) = script.asked
    sent = {each.name: each.value for each in request.resources[0].configs}
    assert sent == {"a": "5", "b": "true", "c": "0.5", "d": "false"}
    with pytest.raises(TypeError, match=r"a=\[5\]: a setting is a text, a number or a bool"):
        setting_text("a", [5])  # type: ignore[arg-type]


def test_all_of_a_resource_is_replaced() -> None:
    told = replacing.AlterConfigsResourceResponse(0, None, BROKER.kind, BROKER.name)
    script = Script([brokers(2), replacing.AlterConfigsResponse(responses=[told])])
    script.play(replace_configs({BROKER: {"a": 1}}, backoff(), validate_only=False))
    assert targets(script)[-1] == NodeId(2)
    assert script.asked[1].resources[0].configs[0].value == "1"


def test_what_has_settings_is_listed() -> None:
    told = [ToldResource("b", 2), ToldResource("x", 99), ToldResource("a", 2)]
    answer = ListConfigResourcesResponse(config_resources=told)
    script = Script([answer])
    found = script.play(list_config_resources([ResourceKind.TOPIC], backoff()))
    assert [each.name for each in found] == ["a", "b"]
    assert script.asked[0].resource_types == [2]
    old = Script([answer], version_max=0)
    old.play(list_config_resources([ResourceKind.CLIENT_METRICS], backoff()))
    assert old.asked[0].resource_types == []
    with pytest.raises(UnsupportedVersionError, match="CLIENT_METRICS"):
        Script([], version_max=0).play(list_config_resources(None, backoff()))


# -- the cluster ----------------------------------------------------------------------------------


def test_brokers_are_described_also_where_only_metadata_tells() -> None:
    answer = DescribeClusterResponse(
        cluster_id="c",
        controller_id=2,
        brokers=[
            DescribeClusterBroker(2, "h", 9, "r", is_fenced=True),
            DescribeClusterBroker(1, "h", 8, broker_epoch=7),
        ],
    )
    script = Script([answer])
    found = script.play(describe_cluster(backoff(), include_fenced=True))
    assert [(each.broker_id, each.is_fenced) for each in found.brokers] == [(1, False), (2, True)]
    assert [each.epoch for each in found.brokers] == [7, None]
    assert script.asked[0].include_fenced_brokers
    old = Script([UnsupportedVersionError("old"), brokers(3, 1)])
    brokers_found = old.play(describe_cluster(backoff(), include_fenced=False)).brokers
    assert [each.broker_id for each in brokers_found] == [1, 3]
    with pytest.raises(UnsupportedVersionError):
        Script([], version_max=1).play(describe_cluster(backoff(), include_fenced=True))
    assert Script([NetworkError(), brokers(3, 1)]).play(list_brokers(backoff())) == [1, 3]


def test_features_are_what_is_on_and_what_could_be() -> None:
    answer = ApiVersionsResponse(
        supported_features=[SupportedFeatureKey("a", 0, 2), SupportedFeatureKey("b", 1, 3)],
        finalized_features_epoch=7,
        finalized_features=[FinalizedFeatureKey("b", 2, 1), FinalizedFeatureKey("c", 1, 1)],
    )
    found = Script([answer]).play(describe_features(backoff()))
    assert found.epoch == 7
    told = {
        name: (each.level, each.supported_min, each.supported_max)
        for name, each in found.features.items()
    }
    assert told == {"a": (0, 0, 2), "b": (2, 1, 3), "c": (1, 0, 0)}
    with pytest.raises(UnsupportedVersionError):
        Script([], version_max=2).play(describe_features(backoff()))


@pytest.mark.parametrize("version", [0, 1, 2])
def test_levels_are_set_all_or_none(version: int) -> None:
    levels: dict[str, int | FeatureLevel] = {
        "a": 2,
        "b": FeatureLevel(1, LevelChange.SAFE_DOWNGRADE),
    }
    script = Script([UpdateFeaturesResponse()], version_max=version)
    script.play(update_features(levels, backoff(), 5, validate_only=False))
    a, b = script.asked[0].feature_updates
    if version:
        assert (a.upgrade_type, b.upgrade_type) == (1, 2)
    else:
        assert (a.allow_downgrade, b.allow_downgrade) == (False, True)
    wrong = UpdateFeaturesResponse(
        error_code=ErrorCode.INVALID_UPDATE_VERSION if version == 2 else 0,
        results=[] if version == 2 else [
            UpdatableFeatureResult("a"),
            UpdatableFeatureResult("b", ErrorCode.INVALID_UPDATE_VERSION, "no"),
        ],
    )  # fmt: skip
    with pytest.raises(FatalError) as raised:
        Script([wrong], version_max=version).play(
            update_features(levels, backoff(), 5, validate_only=False)
        )
    assert set(raised.value.outcomes) == {"a", "b"}
    if version == 0:
        with pytest.raises(UnsupportedVersionError, match="trying"):
            Script([], version_max=0).play(
                update_features(levels, backoff(), 5, validate_only=True)
            )


def test_the_quorum_is_described() -> None:
    voter, observer = ReplicaState(1, bytes(16), 10, 5, 6), ReplicaState(2, bytes(16), 9)
    part = DescribeQuorumResponsePartitionData(0, 0, "", 1, 3, 10, [voter], [observer])
    answer = DescribeQuorumResponse(
        0, "", [DescribeQuorumResponseTopicData("__cluster_metadata", [part])],
        [Node(1, [ToldListener("CONTROLLER", "h", 9)])],
    )  # fmt: skip
    found = Script([answer]).play(describe_quorum(backoff()))
    assert (found.leader_id, found.leader_epoch, found.high_watermark) == (1, 3, 10)
    assert (found.voters[0].last_fetch_ms, found.observers[0].last_fetch_ms) == (5, None)
    assert found.nodes == {1: (Listener("CONTROLLER", "h", 9),)}
    with pytest.raises(KafkaError, match="empty"):
        Script([DescribeQuorumResponse()]).play(describe_quorum(backoff()))


def test_voters_are_added_and_removed() -> None:
    directory = bytes(15) + b"\x07"
    places = [Listener("CONTROLLER", "h", 9), Listener("OTHER", "h", 10)]
    later = AddRaftVoterResponse(error_code=ErrorCode.REQUEST_TIMED_OUT)
    script = Script([later, AddRaftVoterResponse()])
    script.play(add_raft_voter(2, directory, places, "c", backoff(), 5))
    assert targets(script) == [Controller(), Controller()]
    listeners = [ToldVoterListener(*each) for each in places]
    assert script.asked[1] == AddRaftVoterRequest("c", 5, 2, directory, listeners)
    script = Script([RemoveRaftVoterResponse(error_code=ErrorCode.VOTER_NOT_FOUND)])
    with pytest.raises(FatalError, match="while removing controller 2 from the voters"):
        script.play(remove_raft_voter(2, directory, None, backoff()))
    assert script.asked[0] == RemoveRaftVoterRequest(None, 2, directory)


# -- log folders ----------------------------------------------------------------------------------


def test_log_folders_are_described_by_each_broker() -> None:
    topic = DescribeLogDirsTopic("t", [DescribeLogDirsPartition(0, 100, 3, is_future_key=True)])
    good = DescribeLogDirsResult(0, "/a", [topic], 1000, 500)
    broken = DescribeLogDirsResult(ErrorCode.KAFKA_STORAGE_ERROR, "/b")
    answer = DescribeLogDirsResponse(results=[good, broken])
    script = Script([brokers(1, 2), answer, answer])
    found = script.play(describe_log_dirs([1, 2], [TopicPartition("t", 0)], backoff()))
    assert targets(script)[1:] == [NodeId(1), NodeId(2)]
    folder = found[2]["/a"]
    assert (folder.total_bytes, folder.usable_bytes, folder.error) == (1000, 500, None)
    log = folder.replicas[TopicPartition("t", 0)]
    assert (log.size_bytes, log.offset_lag, log.is_future) == (100, 3, True)
    error = found[1]["/b"].error
    assert error is not None
    assert error.name == "KAFKA_STORAGE_ERROR"
    assert found[1]["/b"].total_bytes is None
    assert script.asked[1].topics[0].partitions == [0]


def test_replicas_are_moved_by_their_brokers() -> None:
    def reply(*codes: int) -> AlterReplicaLogDirsResponse:
        parts = [
            AlterReplicaLogDirPartitionResult(number, code) for number, code in enumerate(codes)
        ]
        return AlterReplicaLogDirsResponse(results=[AlterReplicaLogDirTopicResult("t", parts)])

    first, second, other = (
        TopicPartitionReplica("t", 0, 1),
        TopicPartitionReplica("t", 1, 1),
        TopicPartitionReplica("t", 0, 2),
    )
    script = Script([brokers(1, 2), reply(0, ErrorCode.LOG_DIR_NOT_FOUND), reply(0)])
    with pytest.raises(FatalError, match="t-1 of broker 1") as raised:
        script.play(alter_replica_log_dirs({first: "/a", second: "/b", other: "/a"}, backoff()))
    assert raised.value.outcomes[other] is None
    assert [each.path for each in script.asked[1].dirs] == ["/a", "/b"]
