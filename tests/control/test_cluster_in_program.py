"""The control port of a cluster in a program: one port speaks for all brokers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.blocking import Cluster, attach
from fencepost_broker.server.control.client import ControlClient, ControlError, path_of
from fencepost_client import LATEST, TopicPartition
from fencepost_client.blocking import Admin, Producer

TOPICS = {"t": 4}
DAY_MS = 24 * 3600 * 1000
TOKEN = "a-token-of-a-test-that-is-long-enough"


def client_of(cluster: Cluster, token: str | None = None) -> ControlClient:
    assert cluster.control is not None
    host, _, port = cluster.control.rpartition(":")
    return ControlClient(host, int(port), token)


def produce(cluster: Cluster, count: int) -> None:
    """Write records, one request each, to the partitions in turn."""
    with Producer(cluster.bootstrap, retry_backoff_ms=1) as producer:
        for number in range(count):
            producer.send("t", b"x", partition=number % TOPICS["t"]).result()


def records(cluster: Cluster) -> int:
    """How many records topic t has."""
    with Admin(cluster.bootstrap) as admin:
        ends = {TopicPartition("t", each): LATEST for each in range(TOPICS["t"])}
        return sum(each.offset for each in admin.list_offsets(ends).values())


def refused(client: ControlClient, *asked: Any, **query: Any) -> ControlError:
    with pytest.raises(ControlError) as error:
        client.ask(*asked, **query)
    return error.value


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with Cluster(brokers=2, topics=TOPICS, control=0) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: Cluster) -> Iterator[Cluster]:
    """The cluster, without faults after the test."""
    yield running
    client_of(running).ask("DELETE", "/v1/faults")
    client_of(running).ask("DELETE", "/v1/disk/faults")


def test_a_rule_is_counted_for_all_brokers(cluster: Cluster) -> None:
    attached = attach(cluster.control or "")
    third = attached.faults.drop_answer(api="Produce", skip=2, times=1)
    then = attached.faults.delay(0, api="Produce", after=third.name, every=2)
    before = records(cluster)
    produce(cluster, 8)
    assert records(cluster) == before + 8
    assert (third.fired, then.fired) == (1, 4)
    assert sum(each.faults.list()[0].fired for each in cluster.brokers.values()) == 1


def test_a_rule_counts_on_when_a_broker_is_started_again(cluster: Cluster) -> None:
    client = client_of(cluster)
    once = {"name": "once", "match": {"api": "Produce"}, "act": {"type": "delay", "ms": 0}}
    client.ask("POST", "/v1/faults", {**once, "times": 1})
    produce(cluster, 4)
    for node_id, way in ((1, "stop"), (2, "kill")):
        assert client.ask("POST", path_of("processes", node_id, way), {})["state"] == "down"
        assert client.ask("POST", path_of("processes", node_id, "start"), {})["state"] == "up"
    produce(cluster, 4)
    told = client.ask("GET", "/v1/faults/once")
    assert (told["fired"], told["is_over"]) == (1, True)


def test_a_program_ends_brokers_too(cluster: Cluster) -> None:
    client = client_of(cluster)
    client.ask("POST", "/v1/faults", {"name": "r", "act": {"type": "delay", "ms": 0}})
    client.ask("POST", "/v1/clock/advance", {"days": 1})
    cluster.kill(2)
    assert [each["state"] for each in client.ask("GET", "/v1/processes")["processes"]] == [
        "up", "up", "down",
    ]  # fmt: skip
    cluster.start_broker(2)
    assert [each["name"] for each in client.ask("GET", "/v1/faults", broker=2)["faults"]] == ["r"]
    behind = client.ask("GET", "/v1/clock")["now_ms"] - cluster.brokers[2].clock.now_ms()
    assert abs(behind) < DAY_MS / 2
    assert "cannot pause" in str(refused(client, "POST", "/v1/processes/2/pause", {}))
    assert refused(client, "POST", "/v1/processes/100/kill", {}).status == 409
    assert refused(client, "POST", "/v1/processes/2/start", {}).status == 409


def test_markers_are_held_at_all_brokers(cluster: Cluster) -> None:
    client = client_of(cluster)

    def held(broker: int) -> list[str]:
        holds = client.ask("GET", "/v1/markers/holds", broker=broker)["holds"]
        return [each["transactional_id"] for each in holds]

    client.ask("POST", "/v1/markers/holds?broker=2", {"transactional_id": "own"})
    hold = client.ask("POST", "/v1/markers/holds", {"transactional_id": "a"})
    assert client.ask("GET", "/v1/markers/holds") == {"holds": [hold]}
    assert (held(1), held(2)) == (["a"], ["own", "a"])
    cluster.kill(2)
    cluster.start_broker(2)
    assert (held(1), held(2)) == (["a"], ["a"])
    path = path_of("markers", "holds", hold["hold"])
    client.ask("DELETE", path)
    assert refused(client, "DELETE", path).status == 404
    assert (held(1), held(2)) == ([], [])
    assert client.ask("GET", "/v1/markers/holds") == {"holds": []}


def test_the_disks_of_all_brokers_fail(cluster: Cluster) -> None:
    client = client_of(cluster)

    def faults(broker: int) -> list[str]:
        told = client.ask("GET", "/v1/disk/faults", broker=broker)["faults"]
        return [each["fault"]["type"] for each in told]

    client.ask("POST", "/v1/disk/faults", {"type": "disk-slow", "topic": "u", "sync_ms": 1})
    full = client.ask("POST", "/v1/disk/faults", {"type": "disk-full", "topic": "t", "times": 1})
    assert [faults(1), faults(2)] == [["disk-slow", "disk-full"]] * 2
    produce(cluster, 4)
    [_, told] = client.ask("GET", "/v1/disk/faults")["faults"]
    assert (told["number"], told["fired"]) == (full["number"], 2)
    client.ask("DELETE", path_of("disk", "faults", full["number"]))
    assert [faults(1), faults(2)] == [["disk-slow"]] * 2
    cluster.kill(2)
    cluster.start_broker(2)
    assert [faults(1), faults(2)] == [["disk-slow"], []]
    client.ask("DELETE", "/v1/disk/faults")
    assert [faults(1), client.ask("GET", "/v1/disk/faults")["faults"]] == [[], []]


def test_snapshots_are_of_the_whole_cluster(cluster: Cluster) -> None:
    client = client_of(cluster)
    before = records(cluster)
    client.ask("POST", "/v1/snapshots", {"name": "before"})
    [listed] = client.ask("GET", "/v1/snapshots")["snapshots"]
    assert (listed["name"], list(cluster.snapshots)) == ("before", ["before"])
    produce(cluster, 4)
    assert records(cluster) == before + 4
    client.ask("POST", "/v1/faults", {"name": "gone", "act": {"type": "delay", "ms": 0}})
    wrong = refused(client, "POST", "/v1/snapshots/before/restore", {"connections": "keep"})
    assert wrong.status == 409
    client.ask("POST", "/v1/snapshots/before/restore", {})
    assert records(cluster) == before
    assert client.ask("GET", "/v1/faults") == {"faults": []}
    client.ask("POST", "/v1/faults", {"name": "new", "act": {"type": "delay", "ms": 0}})
    produce(cluster, 4)
    assert client.ask("GET", "/v1/faults/new")["fired"]
    client.ask("DELETE", "/v1/snapshots/before")
    assert refused(client, "POST", "/v1/snapshots/before/restore", {}).status == 404


def test_a_reset_is_of_the_whole_cluster(cluster: Cluster) -> None:
    client = client_of(cluster)
    produce(cluster, 4)
    client.ask("POST", "/v1/faults", {"name": "gone", "act": {"type": "delay", "ms": 0}})
    client.ask("POST", "/v1/markers/holds", {"topic": "t"})
    client.ask("POST", "/v1/disk/faults", {"type": "disk-slow", "sync_ms": 1})
    cluster.kill(2)
    client.ask("POST", "/v1/reset")
    assert records(cluster) == 0
    assert sorted(cluster.brokers) == [1, 2]
    assert client.ask("GET", "/v1/faults") == {"faults": []}
    assert client.ask("GET", "/v1/markers/holds") == {"holds": []}
    for each in (1, 2):
        assert client.ask("GET", "/v1/faults", broker=each) == {"faults": []}
        assert client.ask("GET", "/v1/markers/holds", broker=each) == {"holds": []}
        assert client.ask("GET", "/v1/disk/faults", broker=each) == {"faults": []}


def test_rules_of_the_program_are_those_of_the_port(cluster: Cluster) -> None:
    client = client_of(cluster)
    late = cluster.faults.delay(0, api="Produce", name="late")
    client.ask("POST", "/v1/faults", {"name": "more", "act": {"type": "delay", "ms": 0}})
    names = [each["name"] for each in client.ask("GET", "/v1/faults")["faults"]]
    assert names == [each.name for each in cluster.faults.list()] == ["late", "more"]
    produce(cluster, 4)
    assert client.ask("GET", "/v1/faults/late")["fired"] == late.fired == 4
    taken = refused(client, "POST", "/v1/faults", {"name": "late", "act": {"type": "hold"}})
    assert taken.status == 400
    client.ask("DELETE", "/v1/faults/late")
    assert cluster.faults["more"].fired
    assert [each.name for each in cluster.faults.list()] == ["more"]


def test_a_fork_has_a_control_port_of_its_own(cluster: Cluster) -> None:
    with cluster.fork() as other:
        assert other.control not in (None, cluster.control)
        attached = attach(other.control or "")
        assert set(attached.stats()) == {"1", "2", "100"}
        assert attached.bootstrap == other.bootstrap


def test_all_ports_of_a_cluster_with_a_token_need_it(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    with Cluster(brokers=1, control=0, control_token_file=file) as cluster:
        assert refused(client_of(cluster), "GET", "/v1/faults").status == 401
        assert client_of(cluster, TOKEN).ask("GET", "/v1/faults") == {"faults": []}
        host, _, port = (cluster.brokers[1].control or "").rpartition(":")
        assert refused(ControlClient(host, int(port)), "GET", "/v1/faults").status == 401
