"""Settings as DescribeConfigs tells them; a running Kafka is the witness in tests/conformance."""

from __future__ import annotations

from fencepost_broker.config import Kind, Origin, Settings, Source, load
from fencepost_broker.config.describe import (
    SOURCE_BROKER,
    SOURCE_CLUSTER,
    SOURCE_DEFAULT,
    SOURCE_STATIC,
    SOURCE_TOPIC,
    Synonym,
    describe,
    describe_of,
)


def test_a_default_has_one_synonym() -> None:
    told = describe(Settings(), "num.partitions")
    assert told.synonyms == (Synonym("num.partitions", "1", SOURCE_DEFAULT),)
    assert told.source == SOURCE_DEFAULT
    assert told.kind is Kind.INT
    assert told.is_read_only
    assert not told.is_sensitive
    assert told.documentation == Settings.num_partitions.help


def test_layers_are_told_from_the_strongest_on() -> None:
    settings = (
        load(environment={"FENCEPOST_MESSAGE_MAX_BYTES": "9"}, options=["message.max.bytes=10"])
        .with_overrides({"message.max.bytes": 20}, Source(Origin.CLUSTER))
        .with_overrides({"message.max.bytes": 30}, Source(Origin.BROKER))
    )
    told = describe(settings, "message.max.bytes")
    assert [(each.value, each.source) for each in told.synonyms] == [
        ("30", SOURCE_BROKER),
        ("20", SOURCE_CLUSTER),
        ("10", SOURCE_STATIC),
        ("1048588", SOURCE_DEFAULT),
    ]
    assert (told.value, told.source, told.is_read_only) == ("30", SOURCE_BROKER, False)
    topic = settings.topic({"max.message.bytes": 40})
    of_topic = describe_of(settings, topic, "max.message.bytes")
    assert of_topic.synonyms == (
        Synonym("max.message.bytes", "40", SOURCE_TOPIC),
        *told.synonyms,
    )
    assert (of_topic.value, of_topic.source) == ("40", SOURCE_TOPIC)


def test_a_value_by_another_unit_looks_like_a_default_as_in_kafka() -> None:
    settings = load(options=["log.retention.minutes=7"])
    told = describe_of(settings, settings.topic(), "retention.ms")
    assert (told.value, told.source, told.synonyms) == ("420000", SOURCE_DEFAULT, ())


def test_no_value_is_told_as_none() -> None:
    told = describe(Settings(), "broker.rack")
    assert (told.value, told.source, told.synonyms) == (None, SOURCE_DEFAULT, ())
