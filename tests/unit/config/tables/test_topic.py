"""What a topic gets: its own settings, and the broker's where it has none."""

from __future__ import annotations

import pytest
from fencepost_broker.config import Origin, Settings, SettingsError, TopicSettings, load


def test_a_topic_of_a_broker_of_defaults_has_the_defaults() -> None:
    topic = Settings().topic()
    assert dict(topic) == {name: each.default for name, each in TopicSettings.settings.items()}
    assert all(topic.source(name).origin is Origin.DEFAULT for name in topic)
    assert repr(topic) == "<TopicSettings of defaults>"


def test_every_synonym_is_a_setting_of_the_broker_with_the_same_default() -> None:
    settings = Settings()
    for name, setting in TopicSettings.settings.items():
        is_of_topics_alone = name.endswith(".replication.throttled.replicas")
        assert setting.synonyms or setting.ignored or setting.internal or is_of_topics_alone, name
        values = [
            value * factor if factor != 1 and isinstance(value, int) else value
            for synonym, factor in setting.synonyms
            if (value := settings[synonym]) is not None
        ]
        assert values[:1] in ([setting.default], []), name


@pytest.mark.parametrize(
    ("given", "retention_ms", "place"),
    [
        (["log.retention.hours=2"], 7_200_000, "log.retention.hours"),
        (["log.retention.hours=2", "log.retention.minutes=3"], 180_000, "log.retention.minutes"),
        (["log.retention.minutes=3", "log.retention.ms=4"], 4, "log.retention.ms"),
        (["log.retention.hours=-1"], -1, "log.retention.hours"),
        (["log.retention.ms=-1", "log.retention.minutes=3"], -1, "log.retention.ms"),
    ],
)
def test_retention_is_the_first_of_its_units_that_is_set(
    given: list[str], retention_ms: int, place: str
) -> None:
    topic = load(options=given).topic()
    assert topic.retention_ms == retention_ms
    assert topic.source("retention.ms").place == f"-c {place}"


def test_what_else_comes_from_the_broker() -> None:
    given = ["log.flush.scheduler.interval.ms=9", "log.roll.hours=1", "log.cleanup.policy=compact"]
    topic = load(options=[*given, "min.insync.replicas=2", "compression.type=zstd"]).topic()
    assert topic.flush_ms == 9
    assert topic.segment_ms == 3_600_000
    assert topic.cleanup_policy == ("compact",)
    assert topic.min_insync_replicas == 2
    assert topic.compression_type == "zstd"


def test_a_topics_own_settings_are_stronger() -> None:
    settings = load(options=["log.retention.ms=5"])
    topic = settings.topic({"retention.ms": "6", "cleanup.policy": "compact,delete"})
    assert topic.retention_ms == 6
    assert [each.value for each in topic.given("retention.ms")] == [6, 5]
    assert topic.source("retention.ms").origin is Origin.TOPIC
    assert topic.cleanup_policy == ("compact", "delete")
    assert settings.topic({"cleanup.policy": ""}).cleanup_policy == ()


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"retention.mss": "1"}, "there is no topic setting retention.mss; did you mean"),
        ({"retention.ms": "-2"}, "retention.ms=-2: it is too small; allowed: long, at least -1"),
        ({"compression.type": "brotli"}, "one of uncompressed, zstd"),
        ({"compression.gzip.level": "0"}, "gzip has no such level"),
        ({"min.compaction.lag.ms": "5", "max.compaction.lag.ms": "4"}, "is above"),
        ({"leader.replication.throttled.replicas": "0:1,x"}, "x is not of the form"),
        ({"leader.replication.throttled.replicas": "0:1,*"}, "is not of the form"),
    ],
)
def test_bad_settings_of_a_topic_are_refused(values: dict[str, str], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        Settings().topic(dict(values))


def test_throttled_replicas() -> None:
    for value in ("*", "0:1,12:3", ""):
        Settings().topic({"follower.replication.throttled.replicas": value})


def test_what_asks_for_tiered_storage_is_refused_and_what_does_not_is_kept() -> None:
    harmless = {"remote.storage.enable": "false", "local.retention.ms": "1000"}
    assert Settings().topic(harmless).shown("local.retention.ms") == "1000"
    with pytest.raises(SettingsError, match="there is no tiered storage"):
        Settings().topic({"remote.storage.enable": "true"})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"share.record.lock.duration.ms": "14999"}, "group.share.min.record.lock.duration.ms"),
        ({"streams.num.standby.replicas": "3"}, "group.streams.max.standby.replicas"),
        ({"share.heartbeat.interval.ms": "15000", "share.session.timeout.ms": "45000"}, None),
        ({"share.auto.offset.reset": "by_duration:P1DT2H"}, None),
        ({"share.auto.offset.reset": "by_duration:P"}, "it is not one of them"),
    ],
)
def test_settings_of_share_and_streams_groups_are_checked_as_kafka_does(
    given: dict[str, str], told: str | None
) -> None:
    if told is None:
        Settings().group(given)
        return
    with pytest.raises(SettingsError, match=told):
        Settings().group(given)
