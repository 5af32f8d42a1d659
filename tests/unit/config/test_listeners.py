"""Listeners: their form, and what must hold between them."""

from __future__ import annotations

import pytest
from fencepost_broker.config import Endpoint, Settings, SettingsError, load, parse_endpoint


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("PLAINTEXT://:9092", Endpoint("PLAINTEXT", "", 9092)),
        ("plaintext://localhost:0", Endpoint("PLAINTEXT", "localhost", 0)),
        ("IN_SIDE-1.x://10.0.0.1:65535", Endpoint("IN_SIDE-1.X", "10.0.0.1", 65535)),
        ("A://[::1]:1", Endpoint("A", "::1", 1)),
        ("A://[fe80::1%eth0]:1", Endpoint("A", "fe80::1%eth0", 1)),
    ],
)
def test_listeners_are_read(text: str, endpoint: Endpoint) -> None:
    assert parse_endpoint(text) == endpoint
    assert parse_endpoint(str(endpoint)) == endpoint


@pytest.mark.parametrize(
    "text",
    [
        *("", "9092", "localhost:9092", "A://b", "A://b:", "A://b:x", "A://b:65536", "://b:1"),
        *("A://::1:1", "A://[::1]", "A://[b]:1", "A://b:1/", "A://b:-1", "A B://c:1"),
    ],
)
def test_what_is_no_listener_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"form|port|brackets"):
        parse_endpoint(text)


def test_endpoints_of_a_broker() -> None:
    settings = load(
        options=[
            "listeners=INSIDE://:9092,OUTSIDE://[::]:9093,CONTROL://:9094",
            "advertised.listeners=INSIDE://kafka:9092,OUTSIDE://localhost:9093",
            "listener.security.protocol.map=INSIDE:PLAINTEXT, outside:plaintext",
            "controller.listener.names=CONTROL",
            "inter.broker.listener.name=INSIDE",
        ]
    )
    assert [each.name for each in settings.endpoints] == ["INSIDE", "OUTSIDE", "CONTROL"]
    assert [str(each) for each in settings.advertised_endpoints] == [
        "INSIDE://kafka:9092",
        "OUTSIDE://localhost:9093",
    ]
    assert settings.protocol("control") == "PLAINTEXT"
    assert settings.protocol("other") is None


def test_without_advertised_listeners_all_but_the_controllers_are_advertised() -> None:
    options = ["listeners=PLAINTEXT://:1,C://:2", "controller.listener.names=C"]
    assert load(options=options).advertised_endpoints == (Endpoint("PLAINTEXT", "", 1),)
    assert str(Settings().advertised_endpoints[0]) == "PLAINTEXT://127.0.0.1:9092"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["listeners="], "empty"),
        (["listeners=PLAINTEXT://:1,plaintext://:2"], "two listeners are named PLAINTEXT"),
        (["listeners=PLAINTEXT://:1,9092"], "9092 is not of the form NAME://HOST:PORT"),
        (["listeners=X://:1"], "X is missing in"),
        (["listeners=SASL_SSL://:1", "sasl.enabled.mechanisms=GSSAPI"], "is not one of PLAIN"),
        (["listeners=SASL_SSL://:1", "sasl.enabled.mechanisms=PLAIN"], "no user has a password"),
        (["listener.security.protocol.map=X"], "not of the form NAME:PROTOCOL"),
        (["listener.security.protocol.map=X:TLS"], "TLS is not one of"),
        (["listener.security.protocol.map=X:SSL,x:SSL"], "X is given twice"),
        (["advertised.listeners=X://a:1"], "there is no listener X"),
        (["advertised.listeners=PLAINTEXT://:1"], "clients cannot connect to"),
        (["advertised.listeners=PLAINTEXT://0.0.0.0:1"], "clients cannot connect to"),
        (["controller.listener.names=PLAINTEXT"], "no listener is left for clients"),
        (["inter.broker.listener.name=X"], "it is not advertised"),
        (
            [
                "listeners=PLAINTEXT://:1,C://:2",
                "controller.listener.names=C",
                "advertised.listeners=PLAINTEXT://a:1,C://a:2",
            ],
            "C is a listener of the controller",
        ),
    ],
)
def test_listeners_that_cannot_work_are_refused(options: list[str], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        load(options=options)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("controller.quorum.voters", "1@a:9093,2@[::1]:9093", "a:9093"),
        ("controller.quorum.bootstrap.servers", "a:9093,[::1]:9093", "1@a:9093"),
        ("max.connections.per.ip.overrides", "a:5, ::1:6", "a:b"),
        ("features", "transaction.version:1", "transaction.version=1"),
        ("group.consumer.migration.policy", "Upgrade", "sideways"),
        ("replica.selector.class", "org.example.RackAwareReplicaSelector", "org.example.Mine"),
    ],
)
def test_settings_with_a_form_of_their_own(name: str, good: str, bad: str) -> None:
    load(options=[f"{name}={good}"])
    with pytest.raises(SettingsError, match=name):
        load(options=[f"{name}={bad}"])


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"process.roles": "broker"}, "the controller is missing"),
        (
            {"process.roles": "controller", "listeners": "PLAINTEXT://127.0.0.1:0"},
            "PLAINTEXT is not in controller.listener.names",
        ),
    ],
)
def test_what_a_role_by_itself_needs(given: dict[str, str], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        Settings().with_overrides(given)


def test_roles_by_themselves() -> None:
    where = {"controller.quorum.bootstrap.servers": "127.0.0.1:9093"}
    Settings().with_overrides({"process.roles": "broker", **where})
    listening = {"listeners": "CONTROLLER://:0", "controller.listener.names": "CONTROLLER"}
    Settings().with_overrides({"process.roles": "controller", **listening})
