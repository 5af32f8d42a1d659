"""A snapshot of settings: typed access, sources, overrides, immutability."""

from __future__ import annotations

import pytest
from fencepost_broker.config import (
    AnySetting,
    Origin,
    Settings,
    SettingsError,
    Source,
    TopicSettings,
)
from fencepost_broker.config.describe import describe
from fencepost_broker.config.table import PROBLEMS_MAX

FILE = Source(Origin.FILE, "a.properties:3")


def test_a_value_is_reached_by_attribute_and_by_kafkas_name() -> None:
    settings = Settings()
    assert settings.num_partitions == settings["num.partitions"] == 1
    assert settings.source("num.partitions").origin is Origin.DEFAULT
    assert dict(settings)["log.retention.hours"] == 168
    assert len(settings) == len(Settings.settings)
    with pytest.raises(KeyError):
        settings["num.partition"]
    with pytest.raises(AttributeError):
        _ = settings.num_partition  # type: ignore[attr-defined]


def test_overrides_make_a_new_snapshot() -> None:
    before = Settings()
    after = before.with_overrides({"num.partitions": "3", "fsync": "always"}, FILE)
    assert (before.num_partitions, after.num_partitions) == (1, 3)
    assert after.fsync == "always"
    assert after.source("num.partitions") == FILE
    assert after.source("node.id").origin is Origin.DEFAULT
    again = after.with_overrides({"num.partitions": 4})
    assert [each.value for each in again.given("num.partitions")] == [4, 3]
    assert [each.value for each in after.given("num.partitions")] == [3]


def test_a_snapshot_cannot_be_changed() -> None:
    settings = Settings()
    with pytest.raises(AttributeError, match="with_overrides"):
        settings.num_partitions = 3
    assert settings.num_partitions == 1


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings().with_overrides({"num.partition": 3}, FILE)
    assert caught.value.problems == (
        "there is no setting num.partition; did you mean num.partitions? (a.properties:3)",
    )


def test_a_bad_value_is_refused_with_its_range_and_place() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings().with_overrides({"num.partitions": "0"}, FILE)
    assert caught.value.problems == (
        "num.partitions=0: it is too small; allowed: int, at least 1 (a.properties:3)",
    )


def test_a_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings().with_overrides({"num.partitions": "9" * 10_000})
    assert len(str(caught.value)) < 300 + len("...")
    assert "too large" in str(caught.value)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        Settings().with_overrides({"num.partitions": 0, "nonsense": 1, "fsync": "never"})
    assert len(caught.value.problems) == 3
    assert str(caught.value).count("\n") == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sasl.kerberos.service.name", "kafka"),
        ("ssl.cipher.suites", "TLS_AES_256_GCM_SHA384"),
        ("metric.reporters", "com.example.Reporter"),
        ("remote.log.storage.system.enable", "true"),
        ("listener.name.outside.ssl.protocol", "TLSv1.3"),
        ("listener.name.outside.oauthbearer.sasl.login.callback.handler.class", "com.example.L"),
    ],
)
def test_a_setting_of_kafka_that_has_no_effect_is_kept(name: str, value: str) -> None:
    settings = Settings().with_overrides({name: value})
    assert settings.without_effect == [name]
    assert settings.shown(name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("principal.builder.class", "com.example.Builder"),
        ("config.providers", "file"),
        ("ssl.truststore.password", "secret"),
    ],
)
def test_what_would_decide_who_may_do_what_is_refused(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"{name}=.*; allowed: .*its default only"):
        Settings().with_overrides({name: value})


def test_broker_id_is_the_old_name_of_node_id() -> None:
    settings = Settings().with_overrides({"broker.id": "7"})
    assert (settings.node_id, settings.broker_id) == (7, 7)
    assert settings.with_overrides({"node.id": 8}).broker_id == 8
    assert settings.without_effect == []
    with pytest.raises(SettingsError, match="two names of one number"):
        Settings().with_overrides({"broker.id": "7", "node.id": "8"})


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("ssl.keystore.password", "key stores of Java"),
        ("zookeeper.connect", "in 4.0"),
        ("listener.name.internal.num.partitions", "a listener has only"),
        ("retention.ms", "log.retention.ms"),
        ("follower.replication.throttled.replicas", "setting of topics"),
    ],
)
def test_a_name_that_kafka_has_is_refused_with_the_reason(name: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        Settings().with_overrides({name: "1"})


@pytest.mark.parametrize(
    "values",
    [
        {"group.min.session.timeout.ms": 7000, "group.max.session.timeout.ms": 6999},
        {"group.consumer.heartbeat.interval.ms": 15_000, "group.consumer.session.timeout.ms": 1},
        {"log.cleaner.min.compaction.lag.ms": 2, "log.cleaner.max.compaction.lag.ms": 1},
        {"transaction.state.log.min.isr": 2},
        {"group.consumer.session.timeout.ms": 5000, "group.consumer.min.session.timeout.ms": 5000},
        {"queued.max.request.bytes": 104_857_599},
        {"queued.max.request.bytes": 1},
    ],
)
def test_settings_that_contradict_each_other_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings().with_overrides(values, FILE)
    assert "a.properties:3" in str(caught.value)
    for name in list(values)[:1]:
        assert f"{name}={values[name]}" in str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        {"queued.max.request.bytes": 104_857_600},
        {"queued.max.request.bytes": 0},
        {"queued.max.request.bytes": -1},
        {"socket.request.max.bytes": 1 << 30},
    ],
)
def test_the_longest_request_fits_into_what_may_be_queued(values: dict[str, int]) -> None:
    """Our default of that gives way, since one frame is always taken."""
    Settings().with_overrides(values, FILE)


def test_not_all_of_a_million_wrong_names_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []

    def explained(name: str) -> str:
        looked_up.append(name)
        return f"there is no {name}"

    monkeypatch.setattr(TopicSettings, "explain_unknown", explained)
    with pytest.raises(SettingsError) as caught:
        TopicSettings().with_overrides({f"no.such.{number}": "1" for number in range(1_000)})
    assert len(looked_up) == PROBLEMS_MAX
    assert caught.value.problems[-1] == "the settings after these were not checked"


FOLLOWERS = [each for each in Settings.settings.values() if each.follows_kafka]


def test_kafka_defaults_are_kafkas_where_nothing_is_given() -> None:
    settings = Settings().with_overrides(
        {"kafka.defaults": True, "offsets.topic.num.partitions": 7}
    )
    assert settings.group_initial_rebalance_delay_ms == 3000
    assert settings.transaction_park_enable is False
    assert settings.offsets_topic_num_partitions == 7
    assert settings.source("group.initial.rebalance.delay.ms").origin is Origin.DEFAULT
    told = describe(settings, "group.initial.rebalance.delay.ms")
    assert (told.value, told.synonyms[0].value) == ("3000", "3000")
    assert settings.with_overrides({"kafka.defaults": False}).transaction_park_enable is True


@pytest.mark.parametrize("setting", FOLLOWERS, ids=[each.name for each in FOLLOWERS])
def test_a_setting_that_follows_kafka_can_have_kafkas_default(setting: AnySetting) -> None:
    assert setting.checked(setting.kafka_default) == setting.kafka_default != setting.default


def test_every_setting_with_another_default_says_why() -> None:
    for setting in Settings.settings.values():
        assert bool(setting.because) == (setting.kafka_default != setting.default), setting.name
        assert setting.because or not setting.stays, setting.name
