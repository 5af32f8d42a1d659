"""Settings of clients: checked when they are given, and each declared once."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from fencepost_client import Admin, Consumer, Producer
from fencepost_client.config.settings import ADMIN, CONSUMER, PRODUCER, Settings
from fencepost_client.errors import ConfigError
from fencepost_client.network.security import SecuritySettings
from fencepost_client.producer.record_columns import Columns, as_bytes

CLASSES: list[tuple[type[Any], Settings]] = [
    (Producer, PRODUCER),
    (Consumer, CONSUMER),
    (Admin, ADMIN),
]


@pytest.mark.parametrize(("kind", "settings"), CLASSES)
def test_every_keyword_is_declared_and_no_other(kind: type[Any], settings: Settings) -> None:
    keywords = set(inspect.signature(kind).parameters) - {"security"}
    assert keywords | SecuritySettings.__annotations__.keys() == settings.keys()


@pytest.mark.parametrize(("kind", "settings"), CLASSES)
def test_every_default_is_one_that_can_be_given(kind: type[Any], settings: Settings) -> None:
    for name, parameter in inspect.signature(kind).parameters.items():
        if parameter.default not in (None, inspect.Parameter.empty):
            settings[name].check(parameter.default)


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        (
            Producer,
            {"linger_ms": "5"},
            "linger_ms cannot be '5': .* at least 0, as 5 without quotes",
        ),
        (Producer, {"linger_ms": -1}, "linger_ms cannot be -1: it is a whole number, at least 0"),
        (Producer, {"linger_ms": True}, "linger_ms cannot be True"),
        (Producer, {"linger_ms": 1.5}, "linger_ms cannot be 1.5"),
        (Producer, {"acks": 2}, "acks cannot be 2: it is one of all, -1, 1, 0"),
        (Producer, {"enable_idempotence": "yes"}, "enable_idempotence cannot be 'yes': .*True or"),
        (Producer, {"compression": "rar"}, "one of none, gzip"),
        (Producer, {"transactional_id": 7}, "transactional_id cannot be 7: it is a str"),
        (Consumer, {"isolation_level": "commited"}, "one of read_uncommitted, read_committed"),
        (Consumer, {"max_poll_records": 0}, "at least 1"),
        (Consumer, {"partition_assignment_strategy": "range"}, "a list of str"),
        (Admin, {"request_timeout_ms": None, "client_id": 1}, "client_id cannot be 1"),
        (Admin, {"security_protocol": "TLS"}, "one of PLAINTEXT"),
    ],
)
def test_what_cannot_be_is_told_when_it_is_given(
    kind: type[Any], given: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        kind("localhost:9092", **given)


def test_passwords_are_not_told() -> None:
    login = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"}
    with pytest.raises(ConfigError) as caught:
        Admin("localhost:9092", sasl_plain_username="a", sasl_plain_password=5309, **login)  # type: ignore[arg-type]
    assert "5309" not in str(caught.value)


def test_the_nearest_name_is_told_if_there_is_one() -> None:
    with pytest.raises(
        TypeError, match="Producer has no setting 'lingerms'; did you mean linger_ms"
    ):
        Producer("localhost:9092", lingerms=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"Consumer has no setting 'qqqqq'$"):
        Consumer("localhost:9092", qqqqq=5)  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match=r"'nosuch' is not a setting of this client$"):
        Producer.from_config({"bootstrap.servers": "a:1", "nosuch": 1})


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("text", r"value is of type str; records contain bytes: write value\.encode\(\)"),
        (5, r"value is of type int; .* json\.dumps"),
        ({"a": 1}, "value is of type dict"),
    ],
)
def test_what_is_not_bytes_is_refused_with_what_to_write(value: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        as_bytes("value", value)
    with pytest.raises(TypeError, match=told):
        Columns([b"a", value])


def test_what_holds_bytes_is_taken() -> None:
    assert [as_bytes("key", each) for each in (bytearray(b"a"), memoryview(b"b"))] == [b"a", b"b"]
