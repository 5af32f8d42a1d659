"""The control port of a cluster of processes: one port speaks for all brokers."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from fencepost_broker.blocking import attach
from fencepost_broker.server.control.client import ControlClient, ControlError, path_of
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.produce import ProduceRequest
from fencepost_protocol.records.writer import build_batch

from tests.support.cluster_processes import ClusterProcesses
from tests.support.up import ClosedError, produce_request
from tests.support.waiting import polled

pytestmark = pytest.mark.slow
DAY_MS = 24 * 3600 * 1000
PARTITIONS = 4
VERSION = 9


class Controlled:
    """A cluster, and a client of its control port."""

    def __init__(self, processes: ClusterProcesses) -> None:
        self.processes = processes
        host, _, port = processes.told["control"].rpartition(":")
        self.port = ControlClient(host, int(port))
        self.ask = self.port.ask

    def leaders(self) -> dict[int, int]:
        """The leader of each partition of topic t."""
        return {each: self.processes.leader("t", each) for each in range(PARTITIONS)}

    def produce(self, partition: int) -> bool:
        """Write a record at the leader; return whether there was an answer."""
        batch = build_batch(None, [b"x"], 1000)
        request: ProduceRequest = produce_request("t", bytes(batch), partition)
        with self.processes.connect(self.processes.leader("t", partition)) as leader:
            try:
                answer = leader.ask(request, VERSION)
            except ClosedError:
                return False
        assert not answer.responses[0].partition_responses[0].error_code
        return True

    def set_state(self, node_id: int, what: str) -> dict[str, Any]:
        told: dict[str, Any] = self.ask("POST", path_of("processes", node_id, what), {})
        return told


def refused(controlled: Controlled, *asked: Any, **query: Any) -> ControlError:
    with pytest.raises(ControlError) as error:
        controlled.ask(*asked, **query)
    return error.value


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Controlled]:
    words = ("--topic", f"t:{PARTITIONS}", "--control", "0")
    folder = tmp_path_factory.mktemp("cluster")
    with ClusterProcesses(folder, *words, brokers=2, session_timeout_ms=1500) as processes:
        processes.until_settled()
        yield Controlled(processes)


@pytest.fixture
def controlled(cluster: Controlled) -> Iterator[Controlled]:
    """The cluster, without rules after the test."""
    yield cluster
    cluster.ask("DELETE", "/v1/faults")


def test_a_rule_fires_at_each_leader_and_its_counts_are_summed(controlled: Controlled) -> None:
    rule = {"match": {"api": "Produce"}, "act": {"type": "drop-answer"}}
    added = controlled.ask("POST", "/v1/faults", rule)
    assert (added["name"], added["fired"]) == ("rule-1", 0)
    assert set(controlled.leaders().values()) == {1, 2}
    assert not any(controlled.produce(each) for each in range(PARTITIONS))
    [told] = controlled.ask("GET", "/v1/faults")["faults"]
    assert (told["fired"], told["matched"], told["is_over"]) == (4, 4, False)
    assert controlled.ask("GET", "/v1/faults/rule-1") == told
    assert len(controlled.ask("GET", "/v1/faults/rule-1/requests")["requests"]) == 4
    assert controlled.ask("GET", "/v1/faults/rule-1/fired", times=4) == told
    fired = [controlled.ask("GET", "/v1/faults/rule-1", broker=each)["fired"] for each in (1, 2)]
    assert sum(fired) == 4
    assert all(fired)
    controlled.ask("DELETE", "/v1/faults/rule-1")
    assert refused(controlled, "GET", "/v1/faults/rule-1").status == 404
    assert refused(controlled, "DELETE", "/v1/faults/rule-1").status == 404


def test_a_rule_is_counted_for_all_brokers(controlled: Controlled) -> None:
    drop = {"type": "drop-answer"}
    rules = [
        {"name": "third", "match": {"api": "Produce"}, "act": drop, "skip": 2, "times": 1},
        {"name": "then", "match": {"api": "Produce"}, "act": drop, "after": "third", "every": 2},
    ]
    controlled.ask("POST", "/v1/fault-plans", {"fault": rules})
    assert set(controlled.leaders().values()) == {1, 2}
    answered = [controlled.produce(each % PARTITIONS) for each in range(7)]
    assert answered == [True, True, False, True, False, True, False]
    third, then = controlled.ask("GET", "/v1/faults")["faults"]
    assert (third["fired"], third["is_over"]) == (1, True)
    assert (then["fired"], then["is_over"]) == (3, False)


def test_a_rule_comes_after_one_that_fired_at_another_broker(controlled: Controlled) -> None:
    for broker, more in ((1, {}), (2, {"after": "at-1"})):
        match = {"api": "Produce", "broker": broker}
        rule = {"name": f"at-{broker}", "match": match, "act": {"type": "drop-answer"}, **more}
        controlled.ask("POST", "/v1/faults", rule)
    partition_of = {leader: each for each, leader in controlled.leaders().items()}
    assert controlled.produce(partition_of[2])
    assert not controlled.produce(partition_of[1])
    assert not controlled.produce(partition_of[2])


def test_a_rule_for_one_broker(controlled: Controlled) -> None:
    match = {"api": "Produce", "broker": 2}
    controlled.ask("POST", "/v1/faults", {"name": "at-2", "match": match, "act": {"type": "hold"}})
    leaders = controlled.leaders()
    at_1 = next(each for each, leader in leaders.items() if leader == 1)
    at_2 = next(each for each, leader in leaders.items() if leader == 2)
    assert controlled.produce(at_1)
    answers: list[bool] = []
    waiting = threading.Thread(target=lambda: answers.append(controlled.produce(at_2)))
    waiting.start()
    assert controlled.ask("GET", "/v1/faults/at-2/fired")["held"] == 1
    assert controlled.ask("POST", "/v1/faults/at-2/release", {}) == {"released": 1}
    waiting.join(30)
    assert answers == [True]


def test_the_metrics_of_one_process(controlled: Controlled) -> None:
    leaders = list(controlled.leaders().values())
    for process in controlled.ask("GET", "/v1/processes")["processes"]:
        node_id = process["id"]
        address = f"http://{controlled.port.address}/metrics?broker={node_id}"
        with urlopen(address) as answer:
            text = answer.read().decode()
        assert f'fencepost_info{{node_id="{node_id}",version=' in text
        leads = re.findall(r"^kafka_server_replicamanager_leadercount (.+)$", text, re.MULTILINE)
        is_active = re.findall(
            r"^kafka_controller_\w+_activecontrollercount (.+)$", text, re.MULTILINE
        )
        if "controller" in process["roles"]:
            assert (leads, is_active) == ([], ["1.0"])
        else:
            assert (leads, is_active) == ([f"{leaders.count(node_id)}.0"], [])
    assert refused(controlled, "GET", "/metrics").status == 409


def test_a_rule_that_cannot_work_is_added_nowhere(controlled: Controlled) -> None:
    good = {"name": "good", "act": {"type": "disconnect"}, "match": {"api": "Fetch"}}
    bad = {"name": "bad", "act": {"type": "disconnect"}, "match": {"api": "Fitch"}}
    wrong = refused(controlled, "POST", "/v1/fault-plans", {"fault": [good, bad]})
    assert wrong.status == 400
    assert "did you mean 'Fetch'?" in str(wrong) or "Fetch" in str(wrong)
    for broker in (1, 2):
        assert controlled.ask("GET", "/v1/faults", broker=broker) == {"faults": []}
    controlled.ask("POST", "/v1/faults", good)
    assert "already" in str(refused(controlled, "POST", "/v1/faults", good))
    unnamed = {"act": {"type": "disconnect"}, "match": {"api": "Fetch"}}
    plan = controlled.ask("POST", "/v1/fault-plans", {"fault": [unnamed, unnamed]})
    assert [each["name"] for each in plan["faults"]] == ["rule-1", "rule-2"]


def test_names_are_passed_on_as_they_are(controlled: Controlled) -> None:
    name = "a/b é%2F?x=1&broker=7"
    rule = {"name": name, "match": {"api": "Fetch"}, "act": {"type": "delay", "ms": 0}}
    controlled.ask("POST", "/v1/faults", rule)
    assert controlled.ask("GET", path_of("faults", name))["name"] == name
    assert controlled.ask("GET", path_of("faults", name), broker=2)["name"] == name
    controlled.ask("DELETE", path_of("faults", name))
    assert controlled.ask("GET", "/v1/faults") == {"faults": []}


def test_guards_are_those_of_a_broker(controlled: Controlled) -> None:
    url = f"http://{controlled.processes.told['control']}/v1/faults"
    for name, value, status in (
        ("Host", "evil.example", 421),
        ("Origin", "http://evil.example", 403),
        ("Sec-Fetch-Site", "cross-site", 403),
    ):
        with pytest.raises(HTTPError) as error:
            urlopen(Request(url, headers={name: value}))
        assert error.value.code == status
        error.value.close()


def test_waiting_for_a_rule_ends_with_its_time(controlled: Controlled) -> None:
    rule = {"name": "never", "match": {"api": "EndTxn"}, "act": {"type": "disconnect"}}
    controlled.ask("POST", "/v1/faults", rule)
    wrong = refused(controlled, "GET", "/v1/faults/never/fired", timeout_ms=50)
    assert wrong.status == 408
    assert "fired 0 of 1 times in 50 ms" in str(wrong)


def test_a_broker_is_killed_and_started_and_has_the_rules_and_the_time(
    controlled: Controlled,
) -> None:
    controlled.processes.until_settled()
    rule = {"name": "slow", "match": {"api": "Produce"}, "act": {"type": "delay", "ms": 0}}
    controlled.ask("POST", "/v1/faults", rule)
    once = {"name": "once", "match": {"api": "Produce"}, "act": {"type": "delay", "ms": 0}}
    controlled.ask("POST", "/v1/faults", {**once, "times": 1})
    for each in range(PARTITIONS):
        assert controlled.produce(each)
    before = controlled.ask("POST", "/v1/clock/advance", {"days": 1})["now_ms"]
    killed = controlled.set_state(2, "kill")
    assert (killed["state"], killed["pid"]) == ("down", None)
    assert [each["state"] for each in controlled.ask("GET", "/v1/processes")["processes"]] == [
        "up", "up", "down",
    ]  # fmt: skip
    told = controlled.ask("GET", "/v1/faults/slow")
    assert told["fired"] == PARTITIONS, "what was counted at the killed broker is not lost"
    down = refused(controlled, "GET", "/v1/faults", broker=2)
    assert down.status == 503
    assert "broker-2 is down" in str(down)
    second = {"name": "second", "match": {"api": "Fetch"}, "act": {"type": "delay", "ms": 0}}
    controlled.ask("POST", "/v1/faults", second)
    wrong = refused(controlled, "POST", "/v1/processes/1/start", {})
    assert (wrong.status, "is running already" in str(wrong)) == (409, True)
    assert refused(controlled, "POST", "/v1/processes/7/start", {}).status == 404
    assert refused(controlled, "POST", "/v1/processes/2/pause", {}).status == 409
    assert refused(controlled, "POST", "/v1/processes/2/wake", {}).status == 400
    assert controlled.set_state(2, "start")["state"] == "up"
    there = controlled.ask("GET", "/v1/faults", broker=2)["faults"]
    assert [each["name"] for each in there] == ["slow", "once", "second"]
    assert controlled.ask("GET", "/v1/clock", broker=2)["now_ms"] >= before
    assert controlled.ask("GET", "/v1/faults/slow")["fired"] == PARTITIONS
    controlled.processes.until_settled()
    for each in range(PARTITIONS):
        assert controlled.produce(each)
    assert controlled.ask("GET", "/v1/faults/once")["fired"] == 1


def test_a_broker_that_dies_while_the_port_is_asked_is_left_out(controlled: Controlled) -> None:
    rule = {"name": "kept", "match": {"api": "Fetch"}, "act": {"type": "delay", "ms": 0}}
    controlled.ask("POST", "/v1/faults", rule)
    processes = {each["id"]: each for each in controlled.ask("GET", "/v1/processes")["processes"]}
    os.kill(processes[1]["pid"], signal.SIGKILL)

    def is_down() -> bool:
        [told] = controlled.ask("GET", "/v1/faults")["faults"]
        assert told["name"] == "kept"
        controlled.ask("GET", "/v1/topics")
        controlled.ask("GET", "/v1/clock")
        states = [each["state"] for each in controlled.ask("GET", "/v1/processes")["processes"]]
        return "down" in states

    polled(is_down, "the end of the process is not noticed")
    controlled.set_state(1, "start")
    assert [each["name"] for each in controlled.ask("GET", "/v1/faults", broker=1)["faults"]] == [
        "kept"
    ]
    controlled.processes.until_settled()


def test_a_rule_of_one_broker_alone_is_not_touched_by_one_for_all(controlled: Controlled) -> None:
    own = {"name": "own", "match": {"api": "Fetch"}, "act": {"type": "delay", "ms": 0}}
    controlled.ask("POST", "/v1/faults", own, broker=2)
    assert "already" in str(refused(controlled, "POST", "/v1/faults", own))
    assert controlled.ask("GET", "/v1/faults", broker=1) == {"faults": []}
    assert [each["name"] for each in controlled.ask("GET", "/v1/faults")["faults"]] == ["own"]
    controlled.ask("DELETE", "/v1/faults/own")
    assert controlled.ask("GET", "/v1/faults", broker=2) == {"faults": []}


def test_a_paused_broker_is_not_waited_for(controlled: Controlled) -> None:
    assert controlled.set_state(2, "pause")["state"] == "paused"
    try:
        rule = {"name": "missed", "match": {"api": "Fetch"}, "act": {"type": "delay", "ms": 0}}
        controlled.ask("POST", "/v1/faults", rule)
        assert "resume" in str(refused(controlled, "GET", "/v1/faults", broker=2))
    finally:
        assert controlled.set_state(2, "resume")["state"] == "up"
    assert controlled.ask("GET", "/v1/faults/missed", broker=2)["fired"] == 0
    controlled.processes.until_settled()


def test_a_clock_that_is_advanced_fences_no_broker(controlled: Controlled) -> None:
    ids = [1000, 1, 2]
    before = [controlled.ask("GET", "/v1/clock", broker=each)["now_ms"] for each in ids]
    controlled.ask("POST", "/v1/clock/advance", {"days": 8})
    known_to_controller = controlled.ask("GET", "/v1/brokers", broker=1000)["brokers"]
    after = [controlled.ask("GET", "/v1/clock", broker=each)["now_ms"] for each in ids]
    for then, now in zip(before, after, strict=True):
        assert now - then >= 8 * DAY_MS
    assert [each["ready"] for each in known_to_controller] == [True, True]
    assert "0, up to" in str(refused(controlled, "POST", "/v1/clock/advance", {"days": -1}))


def test_topics_and_what_leaders_and_coordinators_know(controlled: Controlled) -> None:
    made = controlled.ask("POST", "/v1/topics", {"name": "u", "partitions": 2})
    assert {each["leader"] for each in made["partitions"]} == {1, 2}
    assert [each["name"] for each in controlled.ask("GET", "/v1/topics")["topics"]][-1] == "u"
    controlled.ask("DELETE", "/v1/topics/u")
    ends = {each: controlled.ask("GET", path_of("topics", "t", "partitions", each))
            for each in range(PARTITIONS)}  # fmt: skip
    assert {each: told["leader_id"] for each, told in ends.items()} == controlled.leaders()
    assert refused(controlled, "GET", "/v1/topics/t/partitions/9").status == 404
    assert set(controlled.ask("GET", "/v1/stats")) == {"1000", "1", "2"}


def test_operations_find_the_broker_that_they_concern(controlled: Controlled) -> None:
    ids = [f"payments-{number}" for number in range(6)]
    coordinators = {each: controlled.processes.transaction_coordinator(each) for each in ids}
    assert set(coordinators.values()) == {1, 2}
    for each in ids:
        with controlled.processes.connect(coordinators[each]) as wire:

            def begun(wire: Any = wire, each: str = each) -> bool:
                return not wire.ask(InitProducerIdRequest(each, 60_000), 4).error_code

            polled(begun, "the coordinator does not answer")
    listed = controlled.ask("GET", "/v1/transactions")["transactions"]
    assert [each["transactional_id"] for each in listed] == ids
    for each in ids:
        told = controlled.ask("GET", path_of("transactions", each))
        assert told["coordinator_id"] == coordinators[each]
        fenced = {"type": "fence-producer", "transactional_id": each}
        assert controlled.ask("POST", "/v1/operations", fenced)["producer_epoch"] == 1
    unknown = {"type": "fence-producer", "transactional_id": "payments"}
    assert refused(controlled, "POST", "/v1/operations", unknown).status == 409
    assert refused(controlled, "GET", "/v1/transactions/payments").status == 404
    for what, holds in (("hold-markers", 1), ("release-markers", 0)):
        assert controlled.ask("POST", "/v1/operations", {"type": what})["holds"] == holds


def test_what_a_cluster_cannot_do_names_one_broker(controlled: Controlled) -> None:
    wrong = refused(controlled, "GET", "/metrics")
    assert wrong.status == 409
    assert "?broker=1" in str(wrong)
    assert controlled.ask("GET", "/v1/markers/holds", broker=1) == {"holds": []}
    assert refused(controlled, "GET", "/v1/markers/holds", broker=7).status == 404
    assert refused(controlled, "GET", "/v1/markers/holds", broker="x").status == 400
    for path, why in (("?broker=1", "only brokers in memory"), ("", "the same instant")):
        wrong = refused(controlled, "POST", f"/v1/snapshots{path}", {"name": "s"})
        assert why in str(wrong)


def test_a_broker_that_was_paused_holds_markers_too(controlled: Controlled) -> None:
    controlled.set_state(1, "pause")
    hold = controlled.ask("POST", "/v1/markers/holds", {"transactional_id": "a"})
    controlled.set_state(1, "resume")
    [here] = controlled.ask("GET", "/v1/markers/holds", broker=1)["holds"]
    assert here["transactional_id"] == "a"
    controlled.ask("DELETE", path_of("markers", "holds", hold["hold"]))
    assert controlled.ask("GET", "/v1/markers/holds", broker=1) == {"holds": []}


def told_by_both(controlled: Controlled, before: Callable[[], None]) -> None:
    """Read events while both brokers are asked, until both have told that a rule fired.

    ``before`` is called when the stream is open.
    """
    told: set[int] = set()
    is_open, is_over = threading.Event(), threading.Event()

    def read() -> None:
        for each in controlled.port.events("fault"):
            is_open.set()
            assert (each["type"], each["name"]) == ("fault", "told")
            told.add(each["broker"])
            if is_over.is_set():
                return

    def ask(*brokers: int) -> None:
        for broker in brokers:
            with controlled.processes.connect(broker) as wire:
                wire.ask(MetadataRequest([]), 12)

    def is_read() -> bool:
        ask(1)
        return is_open.is_set()

    def is_told() -> bool:
        if told == {1, 2}:
            is_over.set()
        ask(1, 2)
        return is_over.is_set()

    rule = {"name": "told", "match": {"api": "Metadata"}, "act": {"type": "delay", "ms": 0}}
    controlled.ask("POST", "/v1/faults", rule)
    reading = threading.Thread(target=read)
    reading.start()
    polled(is_read, "no event comes")
    before()
    told.clear()
    polled(is_told, "the events of a broker are missing")
    reading.join(30)
    assert not reading.is_alive()


def test_events_of_a_broker_that_is_started_later_are_read(controlled: Controlled) -> None:
    def restart() -> None:
        controlled.set_state(2, "kill")
        controlled.set_state(2, "start")

    told_by_both(controlled, restart)
    controlled.processes.until_settled()


def test_requests_and_events_of_all_brokers_are_merged(controlled: Controlled) -> None:
    controlled.ask("GET", "/v1/requests")
    told_by_both(controlled, lambda: None)
    requests = [
        each
        for each in controlled.ask("GET", "/v1/requests", last=1000)["requests"]
        if each["api"] == "Metadata"
    ]
    assert {each["broker"] for each in requests} == {1, 2}
    controlled.ask("DELETE", "/v1/requests")
    assert "did you mean fault?" in str(refused(controlled, "GET", "/v1/events", kinds="falt"))


def test_the_processes_own_ports_need_the_token(controlled: Controlled) -> None:
    [folder] = controlled.processes.run_dir.glob("controller-*")
    token = folder / "control-token"
    assert token.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_cluster_port_with_a_token(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef")
    words = ("--control", "0", "--control-token-file", str(token), "--combined")
    with ClusterProcesses(tmp_path, *words, brokers=1, keeps=False) as processes:
        host, _, port = processes.told["control"].rpartition(":")
        with pytest.raises(ControlError, match="needs a token"):
            ControlClient(host, int(port)).ask("GET", "/v1/faults")
        asked = ControlClient(host, int(port), token.read_text())
        assert asked.ask("GET", "/v1/faults") == {"faults": []}
        asked.ask("POST", "/v1/processes/1/kill", {})
        with pytest.raises(ControlError, match="no broker of this cluster is running") as error:
            asked.ask("GET", "/v1/faults")
        assert error.value.status == 503
        assert [each["state"] for each in asked.ask("GET", "/v1/processes")["processes"]] == [
            "down"
        ]
    assert not list((tmp_path / "run").glob("controller-*")), "the token is gone"


def test_rules_of_a_file_are_in_all_brokers_with_and_without_a_port(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('[[fault]]\nmatch = {api = "Metadata"}\nact = {type = "drop-answer"}\n')
    words = ("--topic", "t:1", "--faults", str(plan))
    with ClusterProcesses(tmp_path / "a", *words, "--control", "0", brokers=2) as processes:
        it = Controlled(processes)
        [told] = it.ask("GET", "/v1/faults", broker=2)["faults"]
        assert told["name"] == "rule-1"
        it.set_state(2, "kill")
        it.set_state(2, "start")
        assert len(it.ask("GET", "/v1/faults", broker=2)["faults"]) == 1
    with ClusterProcesses(tmp_path / "b", *words, brokers=1) as processes:
        assert processes.told["control"] is None
        with processes.connect(1) as wire, pytest.raises(ClosedError):
            wire.ask(MetadataRequest([]), 12)
    plan.write_text('[[fault]]\nmatch = {api = "Metadatta"}\nact = {type = "drop-answer"}\n')
    with (
        pytest.raises(AssertionError, match="does not serve 'Metadatta'"),
        ClusterProcesses(tmp_path / "c", *words, brokers=1),
    ):
        pass


def test_a_program_attaches_to_a_cluster(controlled: Controlled) -> None:
    cluster = attach(controlled.processes.told["control"])
    assert cluster.bootstrap.count(",") == 1
    late = cluster.faults.delay(0, api="Metadata", name="late")
    for broker in (1, 2):
        with controlled.processes.connect(broker) as wire:
            wire.ask(MetadataRequest([]), 12)
    late.wait_until_fired(times=2)
    assert cluster.broker(2).faults["late"].fired >= 1
    cluster.clock.advance(hours=1)
    cluster.kill(2)
    with pytest.raises(ControlError, match="broker-2 is down"):
        cluster.broker(2).faults.list()
    assert late.fired >= 2
    cluster.start_broker(2)
    cluster.pause_broker(2)
    cluster.resume_broker(2)
    cluster.stop_broker(2)
    cluster.start_broker(2)
    controlled.processes.until_settled()
