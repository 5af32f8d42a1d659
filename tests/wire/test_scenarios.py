"""Scenarios: what each brings about, and what unmodified clients read afterwards."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.request

import confluent_kafka
import pytest
from fencepost_broker import blocking
from fencepost_broker.cli.main import main
from fencepost_broker.server.scenarios import SCENARIOS
from fencepost_broker.server.scenarios.places import broker_for
from fencepost_broker.server.scenarios.scenario import play

from tests.wire.scenario_harness import (
    FACTS,
    LOGIN,
    READ_S,
    READABLE,
    READERS,
    last_stable_offset,
    place_of,
    read_by_librdkafka,
)

COMMAND = [sys.executable, "-m", "fencepost_broker", "scenario"]


def test_every_scenario_is_tried() -> None:
    assert FACTS.keys() == READABLE.keys() == SCENARIOS.keys()


@pytest.mark.asyncio(loop_factories=["asyncio"])
@pytest.mark.parametrize("name", SCENARIOS)
async def test_what_happens_and_what_clients_read(name: str) -> None:
    login = LOGIN if SCENARIOS[name].users else {}
    async with place_of(SCENARIOS[name]) as place:
        outcome = await play(SCENARIOS[name], place)
        assert outcome.facts == FACTS[name]
        assert len(outcome.timeline) >= 2
        end = await last_stable_offset(place, login)
        read = {each.__name__: await each(place.bootstrap, end, login) for each in READERS}
    assert read == dict.fromkeys(read, READABLE[name])


# -- what one scenario is about --------------------------------------------------------------------


@pytest.mark.asyncio(loop_factories=["asyncio"])
async def test_librdkafka_gets_no_offset_while_one_is_unstable() -> None:
    def committed(bootstrap: str, isolation: str) -> int:
        consumer = confluent_kafka.Consumer(
            {"bootstrap.servers": bootstrap, "group.id": "readers", "isolation.level": isolation}
        )
        try:
            [found] = consumer.committed([confluent_kafka.TopicPartition("orders", 0)], 2)
            return int(found.offset)
        finally:
            consumer.close()

    scenario = SCENARIOS["unstable-offset-commit"]
    async with broker_for(scenario) as broker:
        await play(scenario, broker)
        with pytest.raises(confluent_kafka.KafkaException):
            await asyncio.to_thread(committed, broker.bootstrap, "read_committed")
        found = await asyncio.to_thread(committed, broker.bootstrap, "read_uncommitted")
        assert found == confluent_kafka.OFFSET_INVALID


# -- the command -----------------------------------------------------------------------------------


def test_run_prints_what_happened_and_what_was_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "run", "late-end-txn"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("1. The producer commits its first transaction")
    assert "last_stable_offset         4" in out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "run", "aborted-records-only", "--json"]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["name"] == "aborted-records-only"
    assert outcome["facts"] == FACTS["aborted-records-only"]
    assert main(["scenario", "list", "--json"]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == list(SCENARIOS)


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "explain", "late-end-txn"]) == 0
    assert "KIP-890" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(("name", "end"), [("hanging-transaction", 5), ("leader-epoch-fenced", 1)])
def test_what_it_starts_stays_for_clients_and_http(name: str, end: int) -> None:
    process = subprocess.Popen(
        [*COMMAND, "run", name, "--port", "0", "--control", "0", "--json"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert (told["name"], told["facts"]) == (name, FACTS[name])
        assert read_by_librdkafka(told["bootstrap"]) == READABLE[name]
        address = f"http://{told['control']}/v1/topics/orders/partitions/0"
        with urllib.request.urlopen(address, timeout=READ_S) as answer:
            assert json.load(answer)["last_stable_offset"] == end
        process.terminate()
        assert process.wait(READ_S) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["explain", "late-end-txn", "--port", "0"], "--port is for run"),
        (["explain", "late-end-txn", "--control", "0"], "--control is for run"),
        (["run", "late-end-txn", "--control", "x"], "--control x is neither PORT nor HOST:PORT"),
    ],
)
def test_options_that_do_not_fit(
    given: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scenario", *given]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("action", ["run", "explain"])
def test_an_unknown_scenario_is_refused(action: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", action, "late"]) == 2
    assert "there is no scenario 'late'; there are late-end-txn" in capsys.readouterr().err


# -- at a broker that runs already -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["unstable-offset-commit", "clock-jumps-back"])
def test_a_scenario_at_a_broker_that_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with blocking.Broker(control=0) as broker:
        at = ["scenario", "run", name, "--control", str(broker.control), "--json"]
        assert main(at) == 0
        assert json.loads(capsys.readouterr().out)["facts"] == FACTS[name]
        assert main(at) == 1
        assert f"{name} needs a new topic orders, which exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("disk-full-at-the-leader", "its disk has to be one that fails on purpose"),
        ("password-changed", "it has to know the password of an administrator"),
        ("leader-epoch-fenced", "needs a cluster of 2 brokers with the ids 1 to 2, and this one"),
        ("late-end-txn", "needs a broker with -c features=transaction.version:1"),
    ],
)
def test_what_a_running_broker_cannot_do_is_refused(
    name: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with blocking.Broker(control=0) as broker:
        assert main(["scenario", "run", name, "--control", str(broker.control)]) == 1
        error = capsys.readouterr().err
        assert error.startswith(f"fencepost scenario: {name} ")
        assert why in error
        assert broker.explain_partition("orders", 0) is None


@pytest.mark.parametrize("name", ["half-a-cluster-behind-a-cut", "leader-epoch-fenced"])
def test_a_scenario_at_a_cluster_that_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with blocking.Cluster(brokers=2, control=0) as cluster:
        at = ["--control", str(cluster.control), "--json"]
        assert main(["scenario", "run", "late-end-txn", *at]) == 1
        assert "needs a single broker, and this is a cluster of 2" in capsys.readouterr().err
        assert main(["scenario", "run", name, *at]) == 0
        assert json.loads(capsys.readouterr().out)["facts"] == FACTS[name]
