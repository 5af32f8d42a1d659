"""Our settings are Apache Kafka's: names, types, defaults, ranges, scopes and synonyms.

What differs on purpose stands in the tables of settings themselves (``kafka=`` with ``because=``)
or below with its reason. A difference that is nowhere explained fails, and so does
an explanation of what is no difference.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.config import (
    AnySetting,
    Settings,
    SettingsError,
    SettingsOfGroup,
    TopicSettings,
)
from fencepost_broker.config.describe import describe, describe_of
from fencepost_broker.config.setting import Kind
from fencepost_broker.config.sources.loading import load
from fencepost_broker.config.sources.properties import read_properties
from fencepost_broker.config.table import Origin, Source
from fencepost_broker.config.unsupported import reason_to_refuse

from tests.support.apache_kafka import (
    LIBRARY_DIR,
    ONE_NODE_SETTINGS,
    TOOL_JVM_FLAGS,
    ApacheKafka,
    KafkaUnavailableError,
    fetch,
)

pytestmark = pytest.mark.conformance

PROGRAM = Path(__file__).parent / "settings" / "KafkaSettings.java"
TABLES: dict[str, dict[str, AnySetting]] = {
    "broker": Settings.settings,
    "topic": TopicSettings.settings,
    "group": SettingsOfGroup.settings,
}
SHARED = [
    (table, name)
    for table, settings in TABLES.items()
    for name in settings
    if not settings[name].own
]
"""Every setting that Kafka has, too."""

LATER = "Kafka refuses such values, too, but only after it has looked at all settings"
NO_CLASSES = "classes are not loaded, so only the names of those that are built in are taken"
NO_STORES = "key stores of Java are not read, PEM is"
TOPIC_TOO_SMALL = "no topic takes such a segment.bytes, so Kafka could not make this one"
NO_NUMBER = "a ratio or rate that is not a finite number makes no sense"
STRICTER = {
    "advertised.listeners": LATER,
    "listener.security.protocol.map": LATER,
    "listeners": LATER,
    "log.retention.hours": LATER,
    "log.retention.minutes": LATER,
    "log.retention.ms": LATER,
    "log.roll.jitter.ms": LATER,
    "log.roll.ms": LATER,
    "max.connections.per.ip.overrides": LATER,
    "authorizer.class.name": NO_CLASSES,
    "group.consumer.assignors": NO_CLASSES,
    "replica.selector.class": NO_CLASSES,
    "ssl.enabled.protocols": "older versions of TLS are not spoken",
    "ssl.endpoint.identification.algorithm": "hosts are checked as for HTTPS, or not at all",
    "ssl.keystore.type": NO_STORES,
    "ssl.principal.mapping.rules": "rules that do not parse are refused at the start",
    "ssl.truststore.type": NO_STORES,
    "log.cleaner.io.buffer.load.factor": NO_NUMBER,
    "log.cleaner.io.max.bytes.per.second": NO_NUMBER,
    "log.cleaner.min.cleanable.ratio": NO_NUMBER,
    "min.cleanable.dirty.ratio": NO_NUMBER,
    "follower.replication.throttled.replicas": "a comma alone is no list",
    "leader.replication.throttled.replicas": "a comma alone is no list",
    "offsets.topic.segment.bytes": TOPIC_TOO_SMALL,
    "transaction.state.log.segment.bytes": TOPIC_TOO_SMALL,
    "config.providers": NO_CLASSES,
    "ssl.keystore.password": NO_STORES,
    "ssl.truststore.password": NO_STORES,
    "sasl.jaas.config": "Kafka's brokers, too, read those of a listener and mechanism alone",
    "remote.storage.enable": "there is no tiered storage",
    "internal.segment.bytes": "a segment of less than one byte makes no sense",
    "remote.log.manager.task.retry.jitter": NO_NUMBER,
    "sasl.kerberos.ticket.renew.jitter": NO_NUMBER,
    "sasl.kerberos.ticket.renew.window.factor": NO_NUMBER,
    "sasl.login.refresh.window.factor": NO_NUMBER,
    "sasl.login.refresh.window.jitter": NO_NUMBER,
}
"""Settings that refuse a value which Kafka's table takes, and why."""
NOT_TOLD = {"leader.replication.throttled.rate", "follower.replication.throttled.rate"}
"""Settings that a running Kafka describes only after they were set."""
LOOSER = {
    "group.share.assignors": "a class that has no effect is not looked for",
    "controller.listener.names": "the controller needs no listener in a process of both roles",
}
"""Settings that take a value which Kafka's table refuses, and why."""
for _settings in TABLES.values():
    LOOSER |= {
        name: "a class that has no effect is not looked for"
        for name, setting in _settings.items()
        if setting.ignored and setting.kind is Kind.CLASS and setting.check is None
    }


def probes(setting: AnySetting) -> list[str]:
    """Texts at and beyond the edges of what the setting takes."""
    found = ["", "x", " 7 ", "+7", "7_0", "7.5", "1e3", ".5", "5.", "-0", "0x7", "1f", "NaN"]
    found += ["0", "1", "-1", "-2", "Infinity", "None", "12345678", "0.00012", "1e400"]
    found += ["true", " FALSE ", "yes", "a,b", "a,,b", " a , b ", "a,a", ",", "*", "127.0.0.1:5"]
    for edge in (setting.at_least, setting.at_most):
        if edge is not None:
            found += [str(int(edge) + step) for step in (-1, 0, 1)]
    for bits in (15, 31, 63):
        found += [str((1 << bits) - 1), str(1 << bits), str(-(1 << bits)), str(-(1 << bits) - 1)]
    for word in (*setting.one_of, "classic", "share", "streams"):
        found += [word, word.upper(), word + "x", ",".join((word, *setting.one_of[:1]))]
    default = setting.format(setting.default)
    if default is not None:
        found.append(default)
    return list(dict.fromkeys(found))


def random_file(chance: random.Random) -> str:
    return "".join(chance.choices("ab=: \t\\\n#!u0041tn\r\f", k=chance.randrange(40)))


PROBES = [(table, name, probe) for table, name in SHARED for probe in probes(TABLES[table][name])]
FILES = [random_file(random.Random(seed)) for seed in range(5000)]


@pytest.fixture(scope="module")
def kafka() -> dict[str, Any]:
    java = shutil.which("java")
    if java is None:
        pytest.skip("there is no java on the PATH: a Java development kit, 17 or later")
    try:
        fetch()
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    result = subprocess.run(
        [java, *TOOL_JVM_FLAGS, "-cp", f"{LIBRARY_DIR}/*", str(PROGRAM)],
        input=json.dumps({"probes": PROBES, "files": FILES}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    facts: dict[str, Any] = json.loads(result.stdout)
    return facts


@pytest.mark.parametrize("table", TABLES)
def test_every_setting_of_kafka_is_one_of_ours(table: str, kafka: dict[str, Any]) -> None:
    ours = {name for name, setting in TABLES[table].items() if not setting.own}
    assert ours == kafka[table].keys()


def test_no_setting_that_kafka_has_is_called_a_former_one(kafka: dict[str, Any]) -> None:
    assert [name for name in kafka["broker"] if reason_to_refuse(name)] == []


def test_our_own_settings_have_names_that_kafka_does_not_use(kafka: dict[str, Any]) -> None:
    own = {name for name, setting in Settings.settings.items() if setting.own}
    assert own & kafka["broker"].keys() == set()


@pytest.mark.parametrize(("table", "name"), SHARED)
def test_a_setting_has_kafkas_facts(table: str, name: str, kafka: dict[str, Any]) -> None:
    setting = TABLES[table][name]
    theirs = kafka[table][name]
    assert setting.kind.name.lower() == theirs["type"]
    assert setting.format(setting.kafka_default) == theirs["default"]
    if table == "broker":
        assert setting.scope.value == theirs["scope"]
        assert setting.internal == theirs["internal"]
        assert setting.default is not None or not theirs["required"]
    else:
        assert [list(synonym) for synonym in setting.synonyms] == theirs["synonyms"]


def test_settings_take_the_values_that_kafka_takes(kafka: dict[str, Any]) -> None:
    stricter, looser, other = set(), set(), []
    for (table, name, probe), answer in zip(PROBES, kafka["answers"], strict=True):
        setting = TABLES[table][name]
        try:
            value = setting.parse(probe)
            ours = ["[hidden]" if setting.is_sensitive else setting.format(value)]
        except ValueError:
            ours = None
        if ours is None and answer is not None:
            stricter.add(name)
        elif answer is None and ours is not None:
            looser.add(name)
        elif ours != answer:
            other.append((name, probe, ours, answer))
    assert other == []
    assert sorted(stricter - STRICTER.keys()) == []
    assert sorted(STRICTER.keys() - stricter) == []
    assert looser == LOOSER.keys()


def test_properties_files_say_what_java_reads_in_them(kafka: dict[str, Any]) -> None:
    read = 0
    for text, theirs in zip(FILES, kafka["files"], strict=True):
        try:
            entries = read_properties(text.encode(), "f")
        except SettingsError:
            continue  # what we refuse on purpose is in the unit tests
        theirs.pop("", None)  # a backslash at the very end: Java makes a name of nothing
        assert {entry.name: entry.value for entry in entries} == theirs, repr(text)
        read += 1
    assert read > len(FILES) / 3


STATIC = {
    "node.id": "1",
    **ONE_NODE_SETTINGS,
    "log.retention.minutes": "7",
    "log.flush.scheduler.interval.ms": "1000",
    "message.max.bytes": "2000000",
    "log.segment.bytes": "2097152",
    "log.cleanup.policy": "compact,delete",
}
CLUSTER = {"message.max.bytes": "3000000", "log.roll.ms": "9999", "log.cleaner.threads": "2"}
SET_BY_ITSELF = {"min.insync.replicas": "1"}
"""By the controller, as eligible leader replicas are on (KIP-966)."""
BROKER = {"message.max.bytes": "4000000"}
TOPIC = {"segment.ms": "5000", "min.cleanable.dirty.ratio": "0.25"}
SOURCE_NAMES = {
    1: "DYNAMIC_TOPIC_CONFIG",
    2: "DYNAMIC_BROKER_CONFIG",
    3: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG",
    5: "DEFAULT_CONFIG",
}


def lines_of(told: str) -> dict[str, str]:
    """The lines of Kafka's own tool, by the name of the setting."""
    lines = [line.strip() for line in told.splitlines() if " synonyms=" in line]
    return {line.partition("=")[0]: line for line in lines}


@pytest.mark.slow
def test_settings_are_described_as_a_running_kafka_describes_them() -> None:
    alter = ["--alter", "--entity-type", "brokers", "--add-config"]
    show = ["--describe", "--all", "--entity-type"]
    topics, configs = "org.apache.kafka.tools.TopicCommand", "kafka.admin.ConfigCommand"
    try:
        with ApacheKafka(STATIC) as broker:
            at = ["--bootstrap-server", broker.bootstrap]
            given = [word for pair in TOPIC.items() for word in ("--config", "=".join(pair))]
            broker.run_tool(topics, *at, "--create", "--topic", "t", *given)
            joined = ",".join("=".join(pair) for pair in CLUSTER.items())
            broker.run_tool(configs, *at, *alter, joined, "--entity-default")
            joined = ",".join("=".join(pair) for pair in BROKER.items())
            broker.run_tool(configs, *at, *alter, joined, "--entity-name", "1")
            of_topic = lines_of(
                broker.run_tool(configs, *at, *show, "topics", "--entity-name", "t")
            )
            of_broker = lines_of(
                broker.run_tool(configs, *at, *show, "brokers", "--entity-name", "1")
            )
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    settings = (
        load(overrides={"kafka.defaults": True, **STATIC})
        .with_overrides(CLUSTER | SET_BY_ITSELF, Source(Origin.CLUSTER))
        .with_overrides(BROKER, Source(Origin.BROKER))
    )
    topic = settings.topic(TOPIC)
    compare("topic", of_topic, [describe_of(settings, topic, name) for name in topic])
    compare("broker", of_broker, [describe(settings, name) for name in settings])


def compare(table: str, theirs: dict[str, str], ours: list[Any]) -> None:
    compared = 0
    for each in ours:
        setting = TABLES[table][each.name]
        related = [name for name, _, _ in each.synonyms]
        ours_alone = setting.own or setting.internal or setting.stays or each.name in NOT_TOLD
        if ours_alone or any(
            Settings.settings[name].stays for name in related if name in Settings.settings
        ):
            continue
        if "127.0.0.1:" in theirs[each.name] or "/tmp/" in theirs[each.name]:
            continue
        synonyms = ", ".join(
            f"{SOURCE_NAMES[source]}:{name}={value}" for name, value, source in each.synonyms
        )
        value = "null" if each.value is None else each.value
        is_secret = str(each.is_sensitive).lower()
        told = f"{each.name}={value} sensitive={is_secret} synonyms={{{synonyms}}}"
        assert told == theirs[each.name]
        compared += 1
    assert compared > len(ours) / 2
