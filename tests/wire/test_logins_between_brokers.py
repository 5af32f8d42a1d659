"""Brokers log in at each other and at the controller, by PLAIN and by SCRAM."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_broker.apis.controller import from_clients
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.config import Settings, SettingsError, Value
from fencepost_broker.server.links.controller_link import ControllerUnavailableError
from fencepost_protocol.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.write_txn_markers import WriteTxnMarkersRequest

from tests.conformance.cluster_action_cases import OF_BROKER, OF_CONTROLLER, expected
from tests.support.broker import Client, log_in
from tests.support.cluster import running_cluster
from tests.support.secure_kafka import make_certificates
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
BROKER, ALICE = ("broker", "between=us,all"), ("alice", "wonder-land")


def jaas(module: str = PLAIN, user: tuple[str, str] = BROKER) -> str:
    known = " ".join(f'user_{name}="{password}"' for name, password in (BROKER, ALICE))
    name, password = user
    return f'{module} required username="{name}" password="{password}" {known};'


EVERYWHERE: Mapping[str, Value] = {
    # The names that listeners have in tests stay: each of them asks who comes.
    "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT,PLAINTEXT:SASL_PLAINTEXT",
    "controller.listener.names": "CONTROLLER",
    "sasl.enabled.mechanisms": ("PLAIN", "SCRAM-SHA-256"),
    "sasl.mechanism.controller.protocol": "PLAIN",
    "sasl.mechanism.inter.broker.protocol": "PLAIN",
    "plain.sasl.jaas.config": jaas(),
}


async def test_brokers_log_in_everywhere_and_others_are_who_they_are() -> None:
    users: list[str] = []
    served = from_clients.IN_ENVELOPES[ApiKey.CREATE_TOPICS]

    def noted(host: Any, request: Request, message: Any) -> Answer | None:
        users.append(request.peer.user)
        return served.handler(host, request, message)

    async with running_cluster(2, **EVERYWHERE) as cluster:
        for each in cluster.brokers:
            await log_in(each, *ALICE)
        with pytest.MonkeyPatch.context() as patch:
            watched = served._replace(handler=noted)
            patch.setitem(from_clients.IN_ENVELOPES, ApiKey.CREATE_TOPICS.value, watched)
            await cluster.create("t", 2, 2)
        assert users == ["alice"]
        for number, leader in enumerate(await cluster.leaders("t")):
            await cluster.broker(leader).produce("t", number, b"value")
        heard: list[Any] = []
        cluster.broker(1).server.coordinators.peers.ask(2, WriteTxnMarkersRequest([]), heard.append)
        await until(lambda: bool(heard))
        assert heard[0] is not None
        found = {}
        places = (
            (cluster.controller.addresses[0], OF_CONTROLLER),
            (cluster.broker(1).server.addresses[0], OF_BROKER),
        )
        for address, cases in places:
            async with Client(address.bootstrap) as client:
                await log_in(client, *ALICE)
                for label, case in cases.items():
                    found[label] = await client.ask(case.request, case.version)
        assert found == expected(OF_CONTROLLER) | expected(OF_BROKER)


async def test_brokers_log_in_at_each_other_by_scram_once_the_log_has_their_user() -> None:
    name, password = BROKER
    settings = {
        **EVERYWHERE,
        "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
        "scram-sha-256.sasl.jaas.config": jaas(SCRAM),
    }
    async with running_cluster(2, **settings) as cluster:
        for each in cluster.brokers:
            await log_in(each, *ALICE)
        await cluster.create("t", 1, 2)
        salt = b"twenty grains"
        salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 4096)
        user = ScramCredentialUpsertion(name, 1, 4096, salt, salted)
        answer = await cluster.brokers[0].ask(
            AlterUserScramCredentialsRequest(upsertions=[user]), 0
        )
        assert not answer.results[0].error_code
        (leader,) = await cluster.leaders("t")
        await cluster.broker(leader).produce("t", 0, b"value")


@pytest.mark.parametrize("roles", ["controller", "broker,controller"])
async def test_a_controller_has_users_of_scram_before_brokers_come(roles: str) -> None:
    """As those that Apache Kafka's ``format --add-scram`` writes down."""
    name, password = BROKER
    settings: dict[str, Value] = {
        "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
    }
    deciding: dict[str, Value] = {
        **settings,
        "process.roles": roles,
        "node.id": 9,
        "super.users": "User:broker",
        "listeners": ("PLAINTEXT://127.0.0.1:0", "CONTROLLER://127.0.0.1:0")[
            -len(roles.split(",")) :
        ],
    }
    async with Broker(settings=deciding, users={name: password}) as controller:
        joining: dict[str, Value] = {
            **settings,
            "process.roles": "broker",
            "controller.quorum.bootstrap.servers": controller.controller,
            "sasl.mechanism.controller.protocol": "SCRAM-SHA-512",
            "listener.name.controller.scram-sha-512.sasl.jaas.config": jaas(SCRAM),
        }
        async with Broker(settings=joining, topics={"t": 1}):
            pass


async def test_a_broker_with_a_wrong_password_says_so() -> None:
    wrong: dict[str, Value] = {
        "plain.sasl.jaas.config": jaas(user=("broker", "guessed")),
        "initial.broker.registration.timeout.ms": 1,
    }
    async with running_cluster(0, **EVERYWHERE) as cluster:
        with pytest.raises(
            ControllerUnavailableError, match=r"logging in to .* as 'broker'"
        ) as told:
            await cluster.start_broker(1, **wrong)
        assert "guessed" not in str(told.value)


async def test_a_broker_that_is_an_ordinary_user_is_not_taken_in() -> None:
    async with running_cluster(0, **EVERYWHERE) as cluster:
        with pytest.raises(ControllerUnavailableError, match=r"'alice'.*super\.users"):
            await cluster.start_broker(1, **{"plain.sasl.jaas.config": jaas(user=ALICE)})
        cluster.controller.access.broker_users = frozenset({"alice"})
        await cluster.start_broker(1, **{"plain.sasl.jaas.config": jaas(user=ALICE)})


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder)
    return folder


async def test_brokers_show_certificates(certificates: Path) -> None:
    """At the controller they are who their certificate says, at each other they log in by TLS."""
    settings: dict[str, Value] = {
        **EVERYWHERE,
        "listener.security.protocol.map": "CONTROLLER:SSL,BETWEEN:SASL_SSL,PLAINTEXT:PLAINTEXT",
        "ssl.keystore.location": str(certificates / "broker-chain.pem"),
        "ssl.truststore.location": str(certificates / "ca.pem"),
        "ssl.client.auth": "required",
        "super.users": "User:CN=broker",
    }
    of_broker: dict[str, Value] = {
        "inter.broker.listener.name": "BETWEEN",
        "listeners": ("PLAINTEXT://127.0.0.1:0", "BETWEEN://127.0.0.1:0"),
    }
    async with running_cluster(0, **settings) as cluster:
        for number in (1, 2):
            await cluster.start_broker(number, **of_broker)
        await cluster.create("t", 1, 2)
        (leader,) = await cluster.leaders("t")
        await cluster.broker(leader).produce("t", 0, b"value")
        assert not cluster.controller.warnings.take()
        others = str(certificates / "other-ca.pem")
        distrusting: dict[str, Value] = {
            **of_broker,
            "listener.name.controller.ssl.truststore.location": others,
            "initial.broker.registration.timeout.ms": 1,
        }
        with pytest.raises(ControllerUnavailableError, match="certificate verify failed"):
            await cluster.start_broker(3, **distrusting)
        access = cluster.controller.access
        of_brokers, access.broker_users = access.broker_users, frozenset({"CN=somebody"})
        with pytest.raises(ControllerUnavailableError, match="CLUSTER_AUTHORIZATION_FAILED"):
            await cluster.start_broker(3, **of_broker)
        assert all("User:CN=broker" in text for text in cluster.controller.warnings.take())
        access.broker_users = of_brokers


ALONE: Mapping[str, Value] = {
    "process.roles": "broker",
    "controller.quorum.bootstrap.servers": "127.0.0.1:9093",
    "listeners": "PLAINTEXT://127.0.0.1:0",
}
CONTROLLER: Mapping[str, Value] = {
    "process.roles": "controller",
    "listeners": "CONTROLLER://127.0.0.1:0",
}
SHOWING: Mapping[str, Value] = {
    "listener.security.protocol.map": "CONTROLLER:SSL",
    "ssl.client.auth": "required",
}
NO_LOGIN = f'{PLAIN} required user_alice="secret";'


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({**ALONE, "sasl.mechanism.controller.protocol": "GSSAPI"}, "the controller .* GSSAPI"),
        ({**ALONE, "plain.sasl.jaas.config": NO_LOGIN}, r"other brokers .* username="),
        ({**CONTROLLER, **SHOWING}, r"CONTROLLER .* super\.users=User:NAME$"),
        ({**CONTROLLER, "plain.sasl.jaas.config": NO_LOGIN}, "CONTROLLER .* super.users"),
    ],
)
async def test_settings_without_a_login_are_refused(given: Mapping[str, Value], told: str) -> None:
    right = {
        "plain.sasl.jaas.config": jaas(),
        "sasl.mechanism.controller.protocol": "PLAIN",
        "super.users": "User:broker",
    }
    Settings().with_overrides({**EVERYWHERE, **given, **right})
    with pytest.raises(SettingsError, match=told):
        Settings().with_overrides({**EVERYWHERE, **given})


async def test_who_brokers_are() -> None:
    settings = Settings().with_overrides(
        {**EVERYWHERE, **ALONE, "super.users": "User:carol;User:broker"}
    )
    assert settings.users_of_brokers == ("carol", "broker")
