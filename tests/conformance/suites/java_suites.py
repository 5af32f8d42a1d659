"""Programs of Apache Kafka's own system tests, from its jars on Maven Central."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.conformance.suites.outcomes import FAILED, PASSED, Outcomes
from tests.conformance.suites.places import Place
from tests.conformance.suites.running import SUITES_DIR, TARGET, Run, Suite
from tests.support.apache_kafka import ONE_COMPILER, build_once, java_command, run_maven
from tests.support.up import Wire

_FOLDER: Final = SUITES_DIR / "kafka-tools"
_TOOLS: Final = "org.apache.kafka.tools."
_RECORDS: Final = 2000
_DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class _Program:
    """A program that has passed when it prints `says`, after it has ended with 0."""

    name: str
    says: str
    words: Sequence[str]
    topics: Mapping[str, int] = field(default_factory=dict)
    """What it expects to be there, with the number of partitions."""


def _verifiable(group: str, count: int, *words: str, tool: str = "VerifiableConsumer") -> _Program:
    return _Program(
        f"{tool} {' '.join(words)}".strip(),
        "shutdown_complete",
        [
            *(f"{_TOOLS}{tool}", "--bootstrap-server", "BOOTSTRAP", "--topic", "verifiable"),
            *("--group-id", group, "--max-messages", str(count), *words),
        ],
    )


def _copier(number: int, *words: str) -> _Program:
    return _Program(
        f"TransactionalMessageCopier {' '.join(words)}",
        f'"totalProcessed":{_RECORDS},"consumed":{_RECORDS},"remaining":0}}',
        [
            *(f"{_TOOLS}TransactionalMessageCopier", "--broker-list", "BOOTSTRAP"),
            *("--input-topic", "verifiable", "--input-partition", "0"),
            *("--output-topic", "copied", "--consumer-group", f"copier-{number}"),
            *("--transactional-id", f"copier-{number}", "--transaction-size", "100", *words),
        ],
    )


def _trogdor(kind: str, **fields: Any) -> _Program:
    spec = {
        "class": f"org.apache.kafka.trogdor.workload.{kind}",
        "durationMs": _DAY_MS,
        "bootstrapServers": "BOOTSTRAP",
        **fields,
    }
    return _Program(
        f"Trogdor {kind.removesuffix('Spec')}",
        "Task succeeded",
        [
            *("org.apache.kafka.trogdor.agent.Agent", "-c", "AGENT", "-n", "node0"),
            *("--exec", json.dumps(spec)),
        ],
    )


_LOAD: Final = {"maxMessages": _RECORDS, "targetMessagesPerSec": 1000}
_VALUES: Final = {"type": "sequential", "size": 100}
_SUPPORTED: Final = (
    *("offsets-for-times", "cluster-id", "create-topics", "describe-acls", "describe-configs"),
    "idempotent-producer",
)
_PROGRAMS: Final = (
    _Program(
        "VerifiableProducer",
        f'"acked":{_RECORDS}',
        [
            *(f"{_TOOLS}VerifiableProducer", "--bootstrap-server", "BOOTSTRAP"),
            *("--topic", "verifiable", "--max-messages", str(_RECORDS), "--repeating-keys", "10"),
        ],
        topics={"verifiable": 1, "copied": 3},
    ),
    _verifiable("classic", _RECORDS, "--group-protocol", "classic"),
    _verifiable("consumer", _RECORDS, "--group-protocol", "consumer"),
    *(
        _verifiable(
            f"share-{mode}",
            _RECORDS,
            *("--acknowledgement-mode", mode, "--offset-reset-strategy", "earliest"),
            tool="VerifiableShareConsumer",
        )
        for mode in ("auto", "sync", "async")
    ),
    _copier(1, "--enable-random-aborts"),
    _copier(2, "--enable-random-aborts", "--use-group-metadata", "--group-mode"),
    _Program(
        "ClientCompatibilityTest",
        "SUCCESS",
        [
            *(f"{_TOOLS}ClientCompatibilityTest", "--bootstrap-server", "BOOTSTRAP"),
            *("--topic", "compatibility", "--num-cluster-nodes", "BROKERS"),
            *("--expect-record-too-large-exception", "False"),
            *(word for name in _SUPPORTED for word in (f"--{name}-supported", "True")),
        ],
        topics={"compatibility": 1},
    ),
    _Program(
        "EndToEndLatency",
        "Percentiles",
        [f"{_TOOLS}EndToEndLatency", "BOOTSTRAP", "latency", "500", "all", "100"],
        topics={"latency": 1},
    ),
    _trogdor(
        "ProduceBenchSpec",
        producerNode="node0",
        activeTopics={"produced[1-3]": {"numPartitions": 2, "replicationFactor": 1}},
        inactiveTopics={},
        valueGenerator=_VALUES,
        keyGenerator=_VALUES,
        **_LOAD,
    ),
    _trogdor(
        "ProduceBenchSpec",
        producerNode="node0",
        activeTopics={"in-transactions": {"numPartitions": 3, "replicationFactor": 1}},
        inactiveTopics={},
        valueGenerator=_VALUES,
        keyGenerator=_VALUES,
        transactionGenerator={"type": "uniform", "messagesPerTransaction": 50},
        **_LOAD,
    ),
    _trogdor(
        "ConsumeBenchSpec",
        consumerNode="node0",
        activeTopics=["produced[1-3]"],
        consumerConf={"auto.offset.reset": "earliest"},
        consumerGroup="bench",
        threadsPerWorker=2,
        **_LOAD | {"maxMessages": _RECORDS // 2},
    ),
    _trogdor(
        "RoundTripWorkloadSpec",
        clientNode="node0",
        activeTopics={"round-trip": {"numPartitions": 2, "replicationFactor": 1}},
        valueGenerator=_VALUES,
        **_LOAD,
    ),
    _trogdor(
        "ShareRoundTripWorkloadSpec",
        clientNode="node0",
        activeTopics={"share-round-trip": {"numPartitions": 2, "replicationFactor": 1}},
        valueGenerator=_VALUES,
        **_LOAD,
    ),
    _trogdor(
        "ConnectionStressSpec",
        clientNode="node0",
        targetConnectionsPerSec=50,
        numThreads=2,
        action="FETCH_METADATA",
        durationMs=10_000,
    ),
)


def _prepare() -> Path:
    TARGET.mkdir(parents=True, exist_ok=True)
    build_once(_FOLDER, ["pom.xml", "../pom.xml"], "target", run_maven)
    return TARGET


def _run(place: Place, run: Run) -> Outcomes:
    agent = run.folder / "agent.json"
    node = {"hostname": "localhost", "trogdor.agent.port": 8888}
    platform = "org.apache.kafka.trogdor.basic.BasicPlatform"
    agent.write_text(json.dumps({"platform": platform, "nodes": {"node0": node}}))
    replaced = {
        "BOOTSTRAP": place.bootstrap,
        "BROKERS": str(place.brokers),
        "AGENT": str(agent),
    }
    outcomes: Outcomes = {}
    printed = []
    for number, program in enumerate(_PROGRAMS):
        if run.only not in program.name:
            continue
        _create(place, program.topics)
        text = run.execute(_java(*(_replaced(word, replaced) for word in program.words)))
        name = program.name
        while name in outcomes:
            name += " with transactions"
        outcomes[name] = PASSED if program.says in text else FAILED
        printed.append(f"== {number} {name}: {outcomes[name]}\n{text}")
    run.log.write_text("\n".join(printed), encoding="utf-8")
    return outcomes


def _smoke_test(place: Place, run: Run) -> Outcomes:
    """An application of Kafka Streams works beside a driver, which checks what comes out."""
    _create(place, dict.fromkeys(("data", "fk", "min", "max", "cnt", "sum"), 5))
    guarantee = "exactly_once_v2"
    with tempfile.TemporaryDirectory(prefix="streams-") as state:
        properties = Path(state) / "streams.properties"
        properties.write_text(
            f"bootstrap.servers={place.bootstrap}\nprocessing.guarantee={guarantee}\n"
            f"state.dir={state}\n",
            encoding="utf-8",
        )
        command = ("org.apache.kafka.streams.tests.StreamsSmokeTest", str(properties))
        with (
            run.log.with_suffix(".application").open("w") as log,
            subprocess.Popen(_java(*command, "process"), stdout=log, stderr=log) as application,
        ):
            text = run.execute(_java(*command, "run"))
            application.kill()
    return {guarantee: PASSED if "SUCCESS" in text.splitlines() else FAILED}


def _create(place: Place, topics: Mapping[str, int]) -> None:
    with Wire(int(place.bootstrap.partition(",")[0].rpartition(":")[2])) as wire:
        for name, partitions in topics.items():
            wire.create(name, partitions)


def _java(*words: str) -> list[str]:
    return java_command(_FOLDER / "target" / "lib", ["-Xmx256m", ONE_COMPILER], *words)


def _replaced(word: str, by: Mapping[str, str]) -> str:
    for old, new in by.items():
        word = word.replace(old, new)
    return word


SUITES: Final = (
    Suite(
        "Apache Kafka's system test programs",
        "4.3.1",
        _prepare,
        _run,
        120,
        left_out="the scenarios around them, which need machines",
    ),
    Suite(
        "Kafka Streams' smoke test",
        "4.3.1",
        _prepare,
        _smoke_test,
        300,
        settings={"num.partitions": "5"},
    ),
)
