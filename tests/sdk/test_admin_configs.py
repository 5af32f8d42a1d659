"""Settings, features, the quorum and log folders of real brokers."""

from __future__ import annotations

import pytest
from fencepost_client import (
    Admin,
    Append,
    ConfigResource,
    ConfigSource,
    FatalError,
    FeatureLevel,
    KafkaError,
    LevelChange,
    Listener,
    NewTopic,
    Producer,
    ResourceKind,
    Subtract,
    TopicPartition,
    TopicPartitionReplica,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)

pytestmark = pytest.mark.asyncio


async def test_settings_of_a_topic(bootstrap: str, topic: str) -> None:
    resource = ConfigResource(ResourceKind.TOPIC, topic)

    async def value(admin: Admin, name: str) -> tuple[str | None, ConfigSource]:
        entry = (await admin.describe_configs([resource], [name]))[resource][name]
        return entry.value, entry.source

    async def until(admin: Admin, name: str, wanted: str) -> ConfigSource:
        found, source = await value(admin, name)
        while found != wanted:  # brokers hear of it one after the other
            found, source = await value(admin, name)
        return source

    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, 1, configs={"retention.ms": "60000"})])
        while topic not in await admin.list_topics():
            pass
        assert await until(admin, "retention.ms", "60000") == ConfigSource.DYNAMIC_TOPIC
        await admin.alter_configs(
            {resource: {"retention.ms": "70000", "cleanup.policy": Append("compact")}}
        )
        assert await until(admin, "retention.ms", "70000") == ConfigSource.DYNAMIC_TOPIC
        assert (await value(admin, "cleanup.policy"))[0] == "delete,compact"
        await admin.alter_configs(
            {resource: {"retention.ms": None, "cleanup.policy": Subtract("delete")}}
        )
        assert await until(admin, "retention.ms", "604800000") == ConfigSource.DEFAULT
        assert (await value(admin, "cleanup.policy"))[0] == "compact"
        await admin.replace_configs({resource: {"retention.ms": "5000"}})
        await until(admin, "retention.ms", "5000")
        assert (await value(admin, "cleanup.policy"))[0] == "delete"
        told = (await admin.describe_configs([resource], synonyms=True, documentation=True))[
            resource
        ]
        assert told["retention.ms"].synonyms[0].name == "retention.ms"
        assert told["retention.ms"].documentation
        assert told["segment.bytes"].is_default
        with pytest.raises(FatalError, match="INVALID_CONFIG"):
            await admin.alter_configs({resource: {"retention.ms": "soon"}})
        with pytest.raises(FatalError, match="INVALID_CONFIG"):
            await admin.alter_configs({resource: {"retention.ms": "x"}}, validate_only=True)
        nowhere = ConfigResource(ResourceKind.TOPIC, f"{topic}-nowhere")
        with pytest.raises(UnknownTopicOrPartitionError) as raised:
            await admin.describe_configs([nowhere, resource])
        assert raised.value.outcomes[resource]["retention.ms"].value == "5000"
        topics = await admin.list_config_resources([ResourceKind.TOPIC])
        assert resource in topics
        assert set(topics) <= set(await admin.list_config_resources())


async def test_settings_of_a_broker_and_its_loggers(bootstrap: str) -> None:
    async with Admin(bootstrap) as admin:
        node_id = (await admin.describe_cluster()).brokers[0].broker_id
        broker = ConfigResource(ResourceKind.BROKER, str(node_id))
        everywhere = ConfigResource(ResourceKind.BROKER, "")
        loggers = ConfigResource(ResourceKind.BROKER_LOGGER, str(node_id))
        found = await admin.describe_configs([broker, loggers, everywhere])
        assert found[broker]["node.id"].value == str(node_id)
        assert found[broker]["node.id"].is_read_only
        level = next(each for each in found[loggers].values() if each.name != "root")
        await admin.alter_configs({loggers: {level.name: "DEBUG"}})
        assert (await admin.describe_configs([loggers]))[loggers][level.name].value == "DEBUG"
        await admin.alter_configs({loggers: {level.name: None}})
        await admin.alter_configs({everywhere: {"log.cleaner.threads": "2"}})
        while (await admin.describe_configs([everywhere]))[everywhere].keys() != {
            *found[everywhere],
            "log.cleaner.threads",
        }:
            pass  # brokers hear of it one after the other
        await admin.alter_configs({everywhere: {"log.cleaner.threads": None}})
        with pytest.raises(KafkaError, match="no broker 77"):
            await admin.describe_configs([ConfigResource(ResourceKind.BROKER, "77")])


async def test_the_cluster_and_its_quorum(bootstrap: str) -> None:
    async with Admin(bootstrap) as admin:
        cluster = await admin.describe_cluster(include_fenced=True)
        (broker,) = cluster.brokers
        assert f"{broker.host}:{broker.port}" in {
            bootstrap,
            bootstrap.replace("127.0.0.1", broker.host),
        }
        assert not broker.is_fenced
        assert cluster.controller_id == broker.broker_id
        quorum = await admin.describe_quorum()
        assert quorum.leader_id in [voter.replica_id for voter in quorum.voters]
        assert quorum.high_watermark > 0
        assert quorum.leader_id in quorum.nodes


async def test_a_static_quorum_refuses_to_change(bootstrap: str) -> None:
    directory = bytes(15) + b"\x07"
    async with Admin(bootstrap) as admin:
        cluster_id = (await admin.describe_cluster()).cluster_id
        place = Listener("CONTROLLER", "127.0.0.1", 9093)
        with pytest.raises(UnsupportedVersionError, match="adding controller 7"):
            await admin.add_raft_voter(7, directory, [place], cluster_id=cluster_id)
        with pytest.raises(FatalError, match="INCONSISTENT_CLUSTER_ID"):
            await admin.add_raft_voter(7, directory, [place], cluster_id="another")
        with pytest.raises(FatalError, match="INVALID_REQUEST"):
            await admin.add_raft_voter(7, directory, [])
        [voter] = (await admin.describe_quorum()).voters
        with pytest.raises(UnsupportedVersionError, match="removing controller"):
            await admin.remove_raft_voter(voter.replica_id, directory)


async def test_features(bootstrap: str) -> None:
    name = "transaction.version"
    async with Admin(bootstrap) as admin:
        before = (await admin.describe_features()).features[name]
        assert before.level == before.supported_max == 2
        with pytest.raises(FatalError, match="INVALID_UPDATE_VERSION"):
            await admin.update_features({name: 1})
        down = FeatureLevel(1, LevelChange.SAFE_DOWNGRADE)
        await admin.update_features({name: down}, validate_only=True)
        await admin.update_features({name: down})
        while (await admin.describe_features()).features[name].level != 1:
            pass  # brokers hear of it one after the other
        await admin.update_features({name: 2})
        while (await admin.describe_features()).features[name].level != 2:
            pass


async def test_log_folders(bootstrap: str, topic: str) -> None:
    where = TopicPartition(topic, 0)
    async with Admin(bootstrap) as admin, Producer(bootstrap) as producer:
        await admin.create_topics([NewTopic(topic, 1)])
        await producer.send_and_wait(topic, b"x" * 1000)
        ((node_id, folders),) = (await admin.describe_log_dirs(partitions=[where])).items()
        ((path, folder),) = folders.items()
        assert folder.error is None
        assert folder.replicas[where].size_bytes > 1000
        replica = TopicPartitionReplica(topic, 0, node_id)
        await admin.alter_replica_log_dirs({replica: path})
        with pytest.raises(FatalError, match="LOG_DIR_NOT_FOUND"):
            await admin.alter_replica_log_dirs({replica: "/not/a/folder/of/this/broker"})
        with pytest.raises(KafkaError, match="no broker 77"):
            await admin.describe_log_dirs([77])
