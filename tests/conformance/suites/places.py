"""Where suites are run: one broker of ours, three of ours, and Apache Kafka.

Each run has a network of its own: a broker, the cluster's first, is at localhost:9092, where
suites expect it.

with start("fencepost", {"num.partitions": "3"}) as place:
    run_against(place.bootstrap)
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.support.apache_kafka import HOST, ApacheKafka
from tests.support.cluster_processes import ClusterProcesses
from tests.support.up import WITHOUT_PORT, Up

USER: Final = "testuser"
PASSWORD: Final = "testpass"
_PORT: Final = 9092
_LOGIN_PORT: Final = 9093
_CONTROLLER_PORT: Final = 9192
_SESSION_TIMEOUT_MS: Final = 9000
"""Kafka's default: a suite keeps the machine busy."""
_PLAIN: Final = f"localhost:{_PORT}"
_LOGIN: Final = f"localhost:{_LOGIN_PORT}"
_LISTENERS: Final = f"PLAINTEXT://{HOST}:{_PORT},SASL_PLAINTEXT://{HOST}:{_LOGIN_PORT}"
_OAUTH: Final = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
_SCRAM: Final = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
_COMMON: Final = {
    "advertised.listeners": f"PLAINTEXT://{_PLAIN},SASL_PLAINTEXT://{_LOGIN}",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256,OAUTHBEARER",
    "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": _SCRAM,
    "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config": (
        f'{_OAUTH} unsecuredLoginStringClaim_sub="admin";'
    ),
}


@dataclass(frozen=True, slots=True)
class Place:
    """A running broker, or a cluster."""

    bootstrap: str
    said: Callable[[], str]
    """What it has logged."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """For the program of the tests."""
    login: str = ""
    """Where USER logs in with PASSWORD by SCRAM-SHA-256, and anybody with an unsigned token."""

    @property
    def brokers(self) -> int:
        return self.bootstrap.count(",") + 1


def start(kind: str, settings: Mapping[str, str]) -> AbstractContextManager[Place]:
    """A place of that kind, gone at the end; the settings have Kafka's names."""
    return _PLACES[kind](settings)


@contextmanager
def _fencepost(settings: Mapping[str, str]) -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="fencepost-suites-") as folder:
        words = ["--data-dir", folder, "--user", f"{USER}:{PASSWORD}"]
        for name, value in {"listeners": _LISTENERS, **_COMMON, **settings}.items():
            words += ["-c", f"{name}={value}"]
        with Up(*words, command=WITHOUT_PORT) as broker:
            yield Place(_PLAIN, broker.stderr, login=_LOGIN)


@contextmanager
def _fencepost_cluster(settings: Mapping[str, str]) -> Iterator[Place]:
    with (
        tempfile.TemporaryDirectory(prefix="fencepost-suites-") as folder,
        ClusterProcesses(
            Path(folder),
            "--port",
            str(_PORT),
            # The cluster numbers its brokers itself.
            settings={name: value for name, value in settings.items() if name != "node.id"},
            session_timeout_ms=_SESSION_TIMEOUT_MS,
        ) as cluster,  # fmt: skip
    ):
        yield Place(cluster.told["bootstrap"], cluster.said)


@contextmanager
def _kafka(settings: Mapping[str, str]) -> Iterator[Place]:
    user = ["--add-scram", f"SCRAM-SHA-256=[name={USER},password={PASSWORD}]"]
    given = {
        **_COMMON,
        "listeners": f"{_LISTENERS},CONTROLLER://{HOST}:{_CONTROLLER_PORT}",
        "controller.quorum.voters": f"{settings.get('node.id', '1')}@{HOST}:{_CONTROLLER_PORT}",
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT"
        ),
        **settings,
    }
    with _KafkaAtItsPort(given, format_arguments=user, at_full_speed=True) as kafka:
        yield Place(_PLAIN, kafka.stderr, login=_LOGIN)


class _KafkaAtItsPort(ApacheKafka):
    def _write_properties(self) -> None:
        self.port = _PORT
        super()._write_properties()


_PLACES: Final = {
    "fencepost": _fencepost,
    "fencepost-cluster": _fencepost_cluster,
    "kafka": _kafka,
}
NAMES: Final = {
    "fencepost": "Fencepost",
    "fencepost-cluster": "Fencepost, three brokers",
    "kafka": "Apache Kafka 4.3.1",
}
