"""Settings from the environment variables of Apache Kafka's image."""

from __future__ import annotations

import argparse

import pytest
from fencepost_broker.config import SettingsError, load
from fencepost_broker.config.sources import kafka_environment
from fencepost_broker.config.sources.arguments import add_settings_arguments, settings_from

from tests.support.testcontainers import TESTCONTAINERS


def test_underscores_are_dots_underscores_and_hyphens() -> None:
    variables = {"KAFKA_A_B": "", "KAFKA_A__B": "", "KAFKA_A___B": "", "KAFKA_A____B": "", "A": ""}
    assert kafka_environment.names(variables) == {
        "KAFKA_A_B": "a.b", "KAFKA_A__B": "a_b", "KAFKA_A___B": "a-b", "KAFKA_A____B": "a-.b",
    }  # fmt: skip


def test_a_listeners_own_setting_may_have_hyphens() -> None:
    variables = {"KAFKA_LISTENER_NAME_TC___0_SSL_CLIENT_AUTH": "required"}
    settings = load(environment=variables, has_kafka_environment=True)
    assert settings.shown("listener.name.tc-0.ssl.client.auth") == "required"


def test_all_that_testcontainers_sets_is_a_setting() -> None:
    assert kafka_environment.ignored(TESTCONTAINERS) == []
    settings = load(environment=TESTCONTAINERS, has_kafka_environment=True)
    assert settings.node_id == 7
    assert settings.cluster_id == "4L6g3nShT-eMCtK--X86sw"
    assert settings.advertised_listeners == (
        "PLAINTEXT://localhost:32768", "BROKER://0123456789ab:9093",
    )  # fmt: skip


def test_the_variables_are_read_only_where_they_are_asked_for() -> None:
    assert load(environment=TESTCONTAINERS).node_id == 1


def test_variables_that_are_no_settings_are_ignored_as_in_kafka() -> None:
    variables = {"KAFKA_HEAP_OPTS": "-Xmx1g", "KAFKA_ZOOKEEPER_CONNECT": "zk", "HOME": "/"}
    load(environment=variables, has_kafka_environment=True)
    assert kafka_environment.ignored(variables) == [
        "KAFKA_HEAP_OPTS is ignored: there is no setting heap.opts",
        "KAFKA_ZOOKEEPER_CONNECT is ignored: there is no setting zookeeper.connect",
    ]


def test_an_invalid_value_is_an_error_that_names_the_variable() -> None:
    with pytest.raises(SettingsError, match="KAFKA_NUM_PARTITIONS in the environment"):
        load(environment={"KAFKA_NUM_PARTITIONS": "many"}, has_kafka_environment=True)


def test_fenceposts_own_variables_are_stronger() -> None:
    variables = {"KAFKA_NUM_PARTITIONS": "2", "FENCEPOST_NUM_PARTITIONS": "3"}
    assert load(environment=variables, has_kafka_environment=True).num_partitions == 3


@pytest.mark.parametrize(
    ("variables", "listeners", "advertised"),
    [
        ({}, ("PLAINTEXT://:9092",), ("PLAINTEXT://localhost:9092",)),
        ({"KAFKA_HEAP_OPTS": "-Xmx1g"}, ("PLAINTEXT://:9092",), ("PLAINTEXT://localhost:9092",)),
        ({"KAFKA_NUM_PARTITIONS": "3"}, ("PLAINTEXT://:9092",), None),
        ({"KAFKA_LISTENERS": "PLAINTEXT://:1"}, ("PLAINTEXT://:1",), None),
    ],
    ids=["nothing", "no setting", "a setting", "listeners"],
)
def test_a_container_is_reached_from_outside(
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    listeners: tuple[str, ...],
    advertised: tuple[str, ...] | None,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    parser = argparse.ArgumentParser()
    add_settings_arguments(parser)
    parser.set_defaults(command="up")
    settings = settings_from(parser.parse_args(["--kafka-env"]))
    assert settings.listeners == listeners
    assert settings.advertised_listeners == advertised
