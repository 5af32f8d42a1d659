"""A broker that imitates a release of Apache Kafka (``kafka.release``)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_broker import Broker, Cluster
from fencepost_broker.apis.registry import SERVED
from fencepost_broker.cli.main import main
from fencepost_broker.config import Settings
from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.values.releases import DEFAULTS, RELEASES, Release, release_of
from fencepost_client import Producer
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.fetch import FetchRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.update_features import FeatureUpdateKey, UpdateFeaturesRequest

from tests.support.broker import Client, memory_disk, running_broker

pytestmark = pytest.mark.asyncio

OURS = {api.key.value: api.versions for api in SERVED}
NOT_SERVED = {"2.8": {4, 5, 6, 7, 56}}
"""Between brokers and ZooKeeper."""
FEATURES_OFF = {"kraft.version"}


def release(name: str) -> Release:
    found = release_of(name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", RELEASES)
async def test_api_versions_answers_as_the_release_does_but_for_named_gaps(name: str) -> None:
    theirs = release(name)
    async with running_broker({"kafka.release": name}) as broker:
        version = min(theirs.versions[ApiKey.API_VERSIONS][1], ApiVersionsRequest.MAX_VERSION)
        answer = await broker.ask(ApiVersionsRequest("client", "1"), version)
    told = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
    assert theirs.versions.keys() - told.keys() == NOT_SERVED.get(name, set())
    for key, (low, high) in told.items():
        assert high == theirs.versions[key][1], ApiKey(key)
        assert low == OURS[key][0] >= theirs.versions[key][0], "message formats 0 and 1, and such"
    assert {each.name: each.max_version_level for each in answer.finalized_features} == {
        name: level for name, level in theirs.finalized.items() if name not in FEATURES_OFF
    }
    supported = {
        each.name: (each.min_version, each.max_version) for each in answer.supported_features
    }
    zero_is_told = version > 3
    assert supported == {
        name: (low, 0 if name in FEATURES_OFF else high)
        for name, (low, high) in theirs.supported.items()
        if low > 0 or zero_is_told
    }


async def test_what_the_release_did_not_have_is_not_served() -> None:
    async with running_broker({"kafka.release": "2.8"}) as broker:
        for request, version in ((DescribeTransactionsRequest(["a"]), 0), (FetchRequest(), 13)):
            with pytest.raises(asyncio.IncompleteReadError):
                await broker.ask(request, version)
            await broker.disconnect()
        await broker.ask(FetchRequest(), 12)


async def test_a_cap_is_stronger_than_the_release() -> None:
    caps = {"kafka.release": "2.8", "api.versions.max": "Fetch:13,EndTxn:2"}
    async with running_broker(caps) as broker:
        answer = await broker.ask(ApiVersionsRequest("client", "1"), 3)
    highest = {each.api_key: each.max_version for each in answer.api_keys}
    assert (highest[ApiKey.FETCH], highest[ApiKey.END_TXN]) == (13, 2)
    assert highest[ApiKey.PRODUCE] == 9, "others are the release's"


async def test_a_feature_cannot_leave_the_release() -> None:
    update = FeatureUpdateKey("transaction.version", 2, upgrade_type=1)
    async with running_broker({"kafka.release": "3.9"}) as broker:
        answer = await broker.ask(UpdateFeaturesRequest(5000, [update]), 1)
        assert answer.error_code == ErrorCode.INVALID_UPDATE_VERSION
    async with running_broker({"kafka.release": "4.0", "features": "transaction.version:1"}) as it:
        answer = await it.ask(UpdateFeaturesRequest(5000, [update]), 1)
        assert not answer.error_code


async def test_a_data_directory_of_a_later_release_is_refused() -> None:
    disk = memory_disk()
    async with running_broker({"kafka.release": "3.9"}, disk=disk):
        pass
    async with running_broker({"kafka.release": "4.0"}, disk=disk) as broker:
        answer = await broker.ask(ApiVersionsRequest("client", "1"), 4)
        names = {each.name for each in answer.finalized_features}
        assert names == {"metadata.version"}, "an upgrade changes no levels"
    disk = memory_disk()
    async with running_broker(disk=disk):
        pass
    with pytest.raises(ValueError, match="feature at a level that this broker lacks"):
        async with running_broker({"kafka.release": "3.9"}, disk=disk):
            pass


@pytest.mark.parametrize("name", DEFAULTS)
async def test_defaults_are_those_of_the_release_unless_given(name: str) -> None:
    settings = Settings().with_overrides({"kafka.release": name})
    for setting, value in DEFAULTS[name].items():
        assert settings[setting] == value
        assert settings.default_of(Settings.settings[setting]) == value
        assert settings.shown(setting) == Settings.settings[setting].format(value)
    given = settings.with_overrides({"log.message.timestamp.after.max.ms": 5})
    assert given.log_message_timestamp_after_max_ms == 5
    assert given.topic().message_timestamp_after_max_ms == 5
    inherited = 3_600_000 if name == "4.0" else (1 << 63) - 1
    assert settings.topic().message_timestamp_after_max_ms == inherited


async def test_fencepost_s_own_behavior_is_off_and_quick_defaults_stay() -> None:
    settings = Settings().with_overrides({"kafka.release": "4.3"})
    assert not settings.transaction_park_enable
    assert settings.offset_fetch_pending_legacy == "kafka"
    quick = "group.initial.rebalance.delay.ms"
    assert settings[quick] == Settings()[quick] != Settings.settings[quick].kafka_default


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"kafka.release": "3.5"}, "kafka.release=3.5: .* one of 2.8, 3.9, 4.0, 4.3"),
        (
            {"kafka.release": "3.9", "features": "transaction.version:2"},
            "transaction.version has no level 2 in this release: kafka.release=3.9",
        ),
        (
            {"kafka.release": "2.8", "process.roles": "broker",
             "controller.quorum.bootstrap.servers": "localhost:1"},
            "kafka.release=2.8 .* only a single broker can imitate it",
        ),
    ],
    ids=["unknown", "a level that it lacks", "no followers"],
)  # fmt: skip
async def test_what_cannot_be_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        Settings().with_overrides(settings)


async def test_a_cluster_replicates_in_the_versions_of_3_9_but_not_of_2_8() -> None:
    settings: dict[str, Any] = {"kafka.release": "3.9", "min.insync.replicas": 2}
    async with Cluster(brokers=2, topics={"t": 1}, settings=settings) as cluster:
        for broker in cluster.brokers.values():
            async with Client(broker.bootstrap) as client:
                answer = await client.ask(ApiVersionsRequest("client", "1"), 4)
            assert {each.api_key: each.max_version for each in answer.api_keys}[ApiKey.FETCH] == 17
        async with Producer(cluster.bootstrap, acks="all") as producer:
            await (await producer.send("t", b"to both"))
    with pytest.raises(SettingsError, match="only a single broker can imitate it"):
        await Cluster(brokers=2, settings={"kafka.release": "2.8"}).start()


async def test_the_command_names_the_releases(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["up", "--as", "3.5"])
    assert "There are 2.8, 3.9, 4.0, 4.3" in capsys.readouterr().err


async def test_an_embedded_broker_takes_a_release() -> None:
    async with Broker(release="2.8") as broker:
        assert broker.settings.kafka_release == "2.8"
    with pytest.raises(SettingsError, match=r"one of 2\.8, 3\.9, 4\.0, 4\.3"):
        Broker(release="1.0")
