"""Suites in Go: modules from the Go module proxy, whose checksums Go compares."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from tests.conformance.clients.clients import GO_ENVIRONMENT, build, new_enough, tool
from tests.conformance.suites import proxied_cluster
from tests.conformance.suites.outcomes import Outcomes, of_go
from tests.conformance.suites.places import PASSWORD, USER, Place
from tests.conformance.suites.running import TARGET, Run, Suite

_PROGRAM: Final = "suite.test"
_MAY_WRITE: Final = 0o200
_TOXIPROXY: Final = TARGET / "toxiproxy" / "server"


def go_tests(path: str, version: str, package: str, *words: str) -> Callable[[], Path]:
    """Fetches a module and builds the tests of a package into a program in its folder."""

    def prepare() -> Path:
        folder = TARGET / f"{path.replace('/', '-')}-{version}"
        program = folder / package / _PROGRAM
        if not program.exists():
            go = new_enough(tool("go", "Go"))
            TARGET.mkdir(parents=True, exist_ok=True)
            printed = build(TARGET, [go, "mod", "download", "-json", f"{path}@v{version}"])
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(json.loads(printed)["Dir"], folder, copy_function=shutil.copyfile)
            for each in (folder, *folder.rglob("*")):
                each.chmod(each.stat().st_mode | _MAY_WRITE)
            command = [go, "test", "-mod=mod", *words, "-c", "-o", str(program), f"./{package}"]
            build(folder, command, GO_ENVIRONMENT)
        return program.parent

    return prepare


def _run(run: Run, environment: Mapping[str, str], *words: str) -> Outcomes:
    limit = f"-test.timeout={run.suite.seconds - 5}s"
    command = [f"./{_PROGRAM}", "-test.v", limit, *words]
    if run.only:
        command += ["-test.run", run.only]
    return of_go(run.execute(command, environment))


def _franz_go(place: Place, run: Run) -> Outcomes:
    environment = {
        "KGO_SEEDS": place.bootstrap,
        "KGO_TEST_RF": str(min(3, place.brokers)),
        "KGO_LOG_LEVEL": "none",
        # A fifth of its default: its waits are too short for more on two cores that others use.
        "KGO_TEST_RECORDS": "100000",
    }
    if place.login:
        environment |= {
            "KGO_TEST_SCRAM_SEEDS": place.login,
            "KGO_TEST_SCRAM": f"{USER}:{PASSWORD}",
            "KGO_TEST_OAUTH_SEEDS": place.login,
        }
    # One at a time on a cluster: TestShareGroupETL has a time limit of its own (240 s), and tests
    # that run beside it want the same cores.
    words = ["-test.parallel=1"] if place.brokers > 1 else []
    return _run(run, environment, *words)


def _without_broker(_: Place, run: Run) -> Outcomes:
    return _run(run, {})


def _segmentio(_: Place, run: Run) -> Outcomes:
    # As in its own CI: tests that its authors know to fail are left out. The others that are left
    # out panic, which ends all tests: they use a ConsumerGroup that lacks its function `connect`.
    panics = "TestReaderConsumerGroup/(consumer_group_commits_on_close|verify_offset_committed.*)"
    environment = {"KAFKA_VERSION": "4.3.1", "KAFKA_SKIP_NETTEST": "1"}
    return _run(run, environment, "-test.skip", panics)


def _sarama_tests() -> Path:
    if not _TOXIPROXY.exists():
        go = new_enough(tool("go", "Go"))
        TARGET.mkdir(parents=True, exist_ok=True)
        command = [go, "install", "github.com/Shopify/toxiproxy/v2/cmd/server@v2.5.0"]
        build(TARGET, command, {**GO_ENVIRONMENT, "GOBIN": str(_TOXIPROXY.parent)})
    return go_tests("github.com/IBM/sarama", "1.61.1", "", "-tags", "functional")()


def _sarama(place: Place, run: Run) -> Outcomes:
    # The others of the package need no broker.
    texts = "".join(each.read_text("utf-8") for each in run.folder.glob("functional_*_test.go"))
    names = sorted(re.findall(r"^func (Test[A-Z]\w*)", texts, re.MULTILINE))
    words = [] if run.only else ["-test.run", f"^({'|'.join(names)})$"]
    return _run(run, place.environment, *words)


SUITES: Final = (
    Suite(
        "IBM/sarama",
        "1.61.1",
        _sarama_tests,
        _sarama,
        900,
        places=("fencepost-cluster", "kafka"),
        begin=partial(proxied_cluster.start, toxiproxy=_TOXIPROXY),
        settings={
            "default.replication.factor": "2",
            "offsets.topic.replication.factor": "2",
            "transaction.state.log.replication.factor": "2",
            "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
            "auto.create.topics.enable": "false",
            "group.initial.rebalance.delay.ms": "0",
        },
        left_out="tests without a broker",
    ),
    Suite(
        "franz-go, kgo",
        "1.22.3",
        go_tests("github.com/twmb/franz-go", "1.22.3", "pkg/kgo"),
        _franz_go,
        1800,
        # As in its own CI.
        settings={"group.share.delivery.count.limit": "10"},
        left_out="four fifths of the records: 100,000, not 500,000",
    ),
    Suite(
        "franz-go, kadm",
        "1.20.0",
        go_tests("github.com/twmb/franz-go/pkg/kadm", "1.20.0", ""),
        _without_broker,
        60,
        places=("fencepost",),
    ),
    Suite(
        "segmentio/kafka-go",
        "0.4.51",
        go_tests("github.com/segmentio/kafka-go", "0.4.51", ""),
        _segmentio,
        600,
        settings={
            "message.max.bytes": "200000000",
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
                "org.apache.kafka.common.security.plain.PlainLoginModule required"
                ' user_adminplain="admin-secret";'
            ),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "allow.everyone.if.no.acl.found": "true",
        },
        left_out="nettest, as in its own CI, and subtests that panic",
    ),
)
