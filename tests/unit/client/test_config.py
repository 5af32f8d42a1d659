"""Settings by Kafka's names, and errors as classes."""

from __future__ import annotations

import pytest
from fencepost_client import (
    AbortableTransactionError,
    AuthorizationError,
    ConfigError,
    FatalError,
    FencedError,
    Producer,
    RetriableError,
    UnknownTopicOrPartitionError,
)
from fencepost_client.config.kafka_names import PRODUCER_NAMES, from_kafka_names
from fencepost_client.errors import KafkaError, error_of
from fencepost_client.network.client_settings import read_bootstrap
from fencepost_protocol.errors import ErrorCode


def test_kafkas_names_become_keywords() -> None:
    config = {"bootstrap.servers": "a:1", "linger.ms": "7", "enable.idempotence": "true"}
    assert from_kafka_names(config, PRODUCER_NAMES) == {
        "bootstrap_servers": "a:1",
        "linger_ms": 7,
        "enable_idempotence": True,
    }


def test_every_name_is_a_keyword_of_the_producer() -> None:
    config = {
        "bootstrap.servers": "a:1",
        "acks": "all",
        "compression.type": "zstd",
        "delivery.timeout.ms": "120000",
        "transactional.id": "t",
    }
    numbers = {
        name: "5"
        for name, setting in PRODUCER_NAMES.items()
        if setting.read is int and name != "delivery.timeout.ms"
    }
    Producer.from_config({**config, **numbers, "enable.idempotence": "true", "client.id": "me"})


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"bootstrap.servers": "a:1", "linger": 1}, "did you mean linger.ms"),
        ({"bootstrap.servers": "a:1", "linger.ms": "soon"}, "linger.ms cannot be 'soon'"),
        ({"bootstrap.servers": "a:1", "enable.idempotence": "yes"}, "true or false"),
        ({"linger.ms": 1}, "bootstrap.servers is missing"),
        ({"bootstrap.servers": "a:1", "acks": "2"}, "one of all, -1, 1, 0"),
        ({"bootstrap.servers": "a:1", "acks": "1"}, "needs acks='all'"),
        ({"bootstrap.servers": "a:1", "compression.type": "rar"}, "none, gzip, snappy"),
        ({"bootstrap.servers": "a:1", "delivery.timeout.ms": "1"}, "must be at least"),
        ({"bootstrap.servers": "a:1", "max.in.flight.requests.per.connection": "6"}, "1 to 5"),
    ],
)
def test_what_cannot_be_is_refused(config: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Producer.from_config(config)


def test_bootstrap_addresses() -> None:
    assert read_bootstrap("a:1, b") == [("a", 1), ("b", 9092)]
    assert read_bootstrap(["[::1]:5", "[::2]"]) == [("::1", 5), ("::2", 9092)]
    for nonsense in ("", "a:b", ":5"):
        with pytest.raises(ValueError, match="host:port"):
            read_bootstrap(nonsense)


@pytest.mark.parametrize(
    ("code", "made"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, RetriableError),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, UnknownTopicOrPartitionError),
        (ErrorCode.TRANSACTION_ABORTABLE, AbortableTransactionError),
        (ErrorCode.INVALID_PRODUCER_EPOCH, FencedError),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, AuthorizationError),
        (ErrorCode.INVALID_REQUIRED_ACKS, FatalError),
    ],
)
def test_a_code_becomes_the_class_that_says_what_to_do(code: int, made: type[KafkaError]) -> None:
    error = error_of(code, state="testing")
    assert type(error) is made
    assert error.code == code
    assert error.name in str(error)
    assert "while testing" in str(error)
    assert error.hint
    assert error.hint in str(error)


@pytest.mark.parametrize("code", [*ErrorCode, 999])
def test_every_code_has_a_class(code: int) -> None:
    if code:
        assert isinstance(error_of(code), KafkaError)
