"""Scenarios by HTTP: at a broker, at a cluster, and where they cannot happen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.blocking import Broker, Cluster
from fencepost_broker.server.control.client import ControlClient, ControlError, path_of
from fencepost_broker.server.scenarios import SCENARIOS

from tests.wire.scenario_harness import FACTS

NAME = "unstable-offset-commit"
TOKEN = "a-token-of-a-test-that-is-long-enough"


def client_of(place: Broker | Cluster, token: str | None = None) -> ControlClient:
    assert place.control is not None
    host, _, port = place.control.rpartition(":")
    return ControlClient(host, int(port), token)


def run(client: ControlClient, name: str, **query: Any) -> Any:
    return client.ask("POST", path_of("scenarios", name, "run"), **query)


def refused(client: ControlClient, name: str, **query: Any) -> tuple[int | None, str]:
    with pytest.raises(ControlError) as caught:
        run(client, name, **query)
    return caught.value.status, str(caught.value)


def test_a_scenario_happens_at_a_broker_that_listens_on_every_address(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    with Broker(control="0.0.0.0:0", control_token_file=file) as broker:
        assert broker.control is not None
        client = ControlClient("127.0.0.1", int(broker.control.rpartition(":")[2]), TOKEN)
        told = run(client, NAME)
        assert (told["name"], told["facts"]) == (NAME, FACTS[NAME])
        assert told["timeline"]
        assert "needs a new topic orders" in refused(client, NAME)[1]


def test_all_scenarios_are_listed_with_what_they_need() -> None:
    with Broker(control=0) as broker:
        listed = client_of(broker).ask("GET", "/v1/scenarios")["scenarios"]
    assert [each["name"] for each in listed] == list(SCENARIOS)
    by_name = {each["name"]: each for each in listed}
    assert by_name["late-end-txn"]["settings"] == {"features": "transaction.version:1"}
    assert by_name["leader-epoch-fenced"]["brokers"] == 2
    assert by_name["disk-full-at-the-leader"]["own_broker"]


def test_where_a_scenario_cannot_happen() -> None:
    with Broker(control=0) as broker:
        client = client_of(broker)
        assert refused(client, "late-end-tx") == (
            404, "path, $.name: there is no scenario late-end-tx. Did you mean late-end-txn?",
        )  # fmt: skip
        status, told = refused(client, "late-end-txn")
        assert status == 409
        assert "-c features=transaction.version:1" in told


def test_a_scenario_happens_at_a_cluster() -> None:
    name = "leader-epoch-fenced"
    with Cluster(brokers=2, control=0) as cluster:
        client = client_of(cluster)
        assert "needs a single broker" in refused(client, NAME)[1]
        assert run(client, name)["facts"] == FACTS[name]
        assert len(client.ask("GET", "/v1/scenarios")["scenarios"]) == len(SCENARIOS)
