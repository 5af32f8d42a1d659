"""GET /metrics: what Prometheus reads from a broker."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.server.metrics.reading import FIGURES
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.share_group_heartbeat import ShareGroupHeartbeatRequest
from fencepost_protocol.generated.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from prometheus_client.parser import text_string_to_metric_families

from tests.control.harness import ControlClient, begun, controlled
from tests.support.up import produce_request
from tests.support.waiting import asked_until

pytestmark = pytest.mark.asyncio
DASHBOARD = Path(__file__).with_name("strimzi_dashboard.toml")
OUR_DASHBOARD = Path(__file__).parents[2] / "docs/reference/fencepost-dashboard.json"
ON_LINUX_ONLY = "kafka_server_kafkaserver_linux_"
NAME = 'lost "once" \\ é'
"""Of a fault rule: it is escaped."""
_TYPES = ("classic", "consumer", "share", "streams")
TRAFFIC = "kafka_server_brokertopicmetrics_"


class Scrape:
    """What one request for metrics was answered."""

    def __init__(self, text: str) -> None:
        self.samples = [
            each for family in text_string_to_metric_families(text) for each in family.samples
        ]

    def of(self, name: str) -> list[dict[str, str]]:
        """The labels of each time series of a metric."""
        return [each.labels for each in self.samples if each.name == name]

    def value(self, name: str, **labels: str) -> float:
        """The value of the one time series that has just these labels."""
        [found] = [
            each.value for each in self.samples if each.name == name and each.labels == labels
        ]
        return found


async def scraped(it: ControlClient) -> Scrape:
    async with it.session.get(f"http://{it.address}/metrics") as answer:
        assert answer.status == 200
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return Scrape(await answer.text())


def fetched(partition: int, offset: int) -> FetchRequest:
    wanted = FetchPartition(partition, fetch_offset=offset, partition_max_bytes=1 << 20)
    return FetchRequest(
        replica_id=-1, max_wait_ms=0, min_bytes=0, topics=[FetchTopic("t", partitions=[wanted])]
    )


async def test_the_queries_of_a_published_dashboard_find_series() -> None:
    queries: list[dict[str, Any]] = tomllib.loads(DASHBOARD.read_text())["query"]
    assert (len(queries), sum("absent" in each for each in queries)) == (30, 8)
    async with controlled(topics={"t": 2}) as it, it.client() as client:
        await client.produce("t", 0, b"x")
        scrape = await scraped(it)
    for query in queries:
        name = query["metric"]
        if name.startswith(ON_LINUX_ONLY) and sys.platform != "linux":
            continue
        found = [
            labels
            for labels in scrape.of(name)
            if all(labels.get(each) for each in query.get("labels", ()))
        ]
        assert bool(found) is ("absent" not in query), name


async def test_the_traffic_of_topics() -> None:
    async with controlled(topics={"t": 2, "other": 1}) as it, it.client() as client:
        for offset, value in enumerate((b"a", b"b")):
            await client.produce("t", 1, value)
            await client.ask(fetched(1, offset), 11)
        await client.produce("other", 0, b"c")
        await client.ask(produce_request("t", b"not a batch", 0), 9)
        await client.ask(fetched(1, 77), 11)
        scrape = await scraped(it)
        of_topic = {
            name: scrape.value(f"{TRAFFIC}{name}_total", topic="t")
            for name in (
                "messagesin", "totalproducerequests", "failedproducerequests",
                "totalfetchrequests", "failedfetchrequests",
            )
        }  # fmt: skip
        assert of_topic == {
            "messagesin": 2, "totalproducerequests": 2, "failedproducerequests": 1,
            "totalfetchrequests": 2, "failedfetchrequests": 1,
        }  # fmt: skip
        in_logs = scrape.value("kafka_log_log_size", topic="t", partition="1")
        assert scrape.value(f"{TRAFFIC}bytesin_total", topic="t") == in_logs > 0
        assert scrape.value(f"{TRAFFIC}bytesout_total", topic="t") == in_logs
        assert scrape.value("kafka_log_log_logendoffset", topic="t", partition="1") == 2
        assert scrape.value(f"{TRAFFIC}messagesin_total") == 3
        await it.ask("DELETE", "/v1/topics/t", expect=204)
        later = await scraped(it)
    assert not [labels for labels in later.of("kafka_log_log_size") if labels["topic"] == "t"]
    assert later.value(f"{TRAFFIC}messagesin_total") == 3, "a counter never goes back"
    assert later.value(f"{TRAFFIC}failedproducerequests_total") == 1


async def test_requests_connections_and_errors() -> None:
    prefix = "kafka_network_requestmetrics_"
    async with controlled(topics={"t": 2}) as it, it.client() as client:
        for _ in range(3):
            await client.ask(fetched(1, 77), 11)
        scrape = await scraped(it)
    assert scrape.value(f"{prefix}requests_total", request="Fetch", version="11") == 3
    assert scrape.value(f"{prefix}totaltimems_count", request="Fetch") == 3
    median, slowest = (
        scrape.value(f"{prefix}totaltimems", request="Fetch", quantile=each)
        for each in ("0.50", "0.999")
    )
    assert 0 < median <= slowest
    assert scrape.value(f"{prefix}remotetimems", request="Fetch", quantile="0.999") == 0
    assert scrape.value("fencepost_errors_total", error="OFFSET_OUT_OF_RANGE") == 3
    of_listener = {"listener": "PLAINTEXT", "networkProcessor": "0"}
    assert scrape.value("kafka_server_socket_server_metrics_connection_count", **of_listener) == 1
    assert scrape.value("fencepost_received_bytes_total") > 0


async def test_a_request_that_waits_is_seen_and_its_time_is_counted() -> None:
    async with controlled(topics={"t": 1}) as it, it.client() as client, it.client() as other:
        wanted = fetched(0, 0)
        wanted.max_wait_ms, wanted.min_bytes = 60_000, 1
        waiting = asyncio.ensure_future(client.ask(wanted, 11))

        async def is_parked() -> bool:
            return (await scraped(it)).value("fencepost_parked_requests") == 1

        await asked_until(is_parked)
        await other.produce("t", 0, b"x")
        await waiting
        scrape = await scraped(it)
    assert scrape.value("fencepost_parked_requests") == 0
    waits = {"request": "Fetch", "quantile": "0.99"}
    assert scrape.value("kafka_network_requestmetrics_remotetimems", **waits) > 0
    assert scrape.value("kafka_network_requestmetrics_totaltimems", **waits) > 0


async def test_groups_are_counted_by_type_and_state() -> None:
    prefix = "kafka_server_group_coordinator_metrics_"
    topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 1)])
    requests: list[tuple[Message, int]] = [
        (FindCoordinatorRequest("classic", 0), 3),
        (OffsetCommitRequest("classic", topics=[topic]), 8),
        (ShareGroupHeartbeatRequest("share", "m", 0, None, ["t"]), 1),
        (ShareGroupHeartbeatRequest("left", "m", 0, None, ["t"]), 1),
        (ShareGroupHeartbeatRequest("left", "m", -1), 1),
        (
            ConsumerGroupHeartbeatRequest(
                "consumer", "m", 0, rebalance_timeout_ms=60_000, subscribed_topic_names=["t"],
                topic_partitions=[],
            ),
            1,
        ),
    ]  # fmt: skip
    async with controlled(topics={"t": 1}) as it, it.client() as client:
        for request, version in requests:
            answer = await client.ask(request, version)
            assert not getattr(answer, "error_code", 0)
        protocols = [JoinGroupRequestProtocol("p", b"")]
        join = JoinGroupRequest("joined", 10_000, 10_000, "", None, "consumer", protocols)
        member = await client.ask(join, 2)
        assigned = [SyncGroupRequestAssignment(member.member_id, b"x")]
        sync = SyncGroupRequest(
            "joined", member.generation_id, member.member_id, assignments=assigned
        )
        assert not (await client.ask(sync, 2)).error_code
        scrape = await scraped(it)
    counts = {
        each: scrape.value(f"{prefix}{each}_rebalance_count")
        for each in ("group_completed", "consumer_group", "share_group", "streams_group")
    }
    assert counts == {
        "group_completed": 1, "consumer_group": 1, "share_group": 2, "streams_group": 0,
    }  # fmt: skip
    by_type = {each: scrape.value(f"{prefix}group_count", protocol=each) for each in _TYPES}
    assert by_type == {"classic": 2, "consumer": 1, "share": 2, "streams": 0}
    share = f"{prefix}share_group_count"
    assert [scrape.value(share, state=each) for each in ("Empty", "Stable", "Dead")] == [1, 1, 0]
    consumer = f"{prefix}consumer_group_count"
    assert sum(each.value for each in scrape.samples if each.name == consumer) == 1
    assert scrape.value(consumer, state="Empty") == 0
    assert {each["state"] for each in scrape.of(f"{prefix}streams_group_count")} == {
        "Empty", "NotReady", "Assigning", "Reconciling", "Stable", "Dead",
    }  # fmt: skip


async def test_an_open_transaction_and_its_markers() -> None:
    async with controlled(topics={"t": 1}, clock="manual") as it, it.client() as client:
        before = await scraped(it)
        producer = await begun(client, "payments")
        await it.ask("POST", "/v1/clock/advance", {"ms": 2500})
        during = await scraped(it)
        await it.ask("POST", "/v1/markers/holds", {"topic": "t"}, expect=201)
        assert not (await client.ask(EndTxnRequest("payments", *producer, True), 3)).error_code
        held = await scraped(it)
        await it.ask("DELETE", "/v1/markers/holds/1", expect=204)
        after = await scraped(it)

    def of(name: str) -> list[float]:
        return [each.value(f"fencepost_{name}") for each in (before, during, held, after)]

    assert of("open_transactions") == [0, 1, 0, 0]
    assert of("oldest_open_transaction_seconds") == [0, 2.5, 0, 0]
    assert of("markers_outstanding") == [0, 0, 1, 0]
    assert of("marker_holds") == [0, 0, 1, 0]
    lags = [
        each.value("fencepost_last_stable_offset_lag", topic="t")
        for each in (before, during, held, after)
    ]
    assert lags == [0, 1, 1, 0]
    partition = {"topic": "t", "partition": "0"}
    assert during.value("kafka_cluster_partition_laststableoffsetlag", **partition) == 1
    assert held.value("fencepost_transactional_ids", state="PrepareCommit") == 1


async def test_fault_rules_that_fire() -> None:
    async with controlled(topics={"t": 1}) as it, it.client() as client:
        assert not (await scraped(it)).of("fencepost_fault_rule_fired_total")
        rule = {
            "name": NAME,
            "match": {"api": "Fetch"},
            "act": {"type": "error", "code": "UNKNOWN_SERVER_ERROR"},
        }
        await it.ask("POST", "/v1/faults", rule, expect=201)
        for _ in range(2):
            await client.ask(fetched(0, 0), 11)
        scrape = await scraped(it)
    assert scrape.value("fencepost_fault_rule_fired_total", rule=NAME) == 2


async def test_each_figure_has_a_name_of_its_own_and_a_meaning() -> None:
    names = [each.name for each in FIGURES]
    assert len(set(names)) == len(names)
    assert all(each.about for each in FIGURES)


async def test_our_own_dashboard_asks_for_figures_that_there_are() -> None:
    panels = json.loads(OUR_DASHBOARD.read_text())["panels"]
    known = {each.name: each.labels for each in FIGURES}
    for panel in panels:
        [target] = panel["targets"]
        [metric] = re.findall(r"(?:kafka|fencepost)_\w+", target["expr"])
        assert metric in known, panel["title"]
        grouped = re.findall(r"by \((\w+)\)", target["expr"])
        selected = re.findall(r"(\w+)!?=", target["expr"])
        for label in (*grouped, *selected):
            assert label in known[metric], panel["title"]
        assert grouped == re.findall(r"{{(\w+)}}", target["legendFormat"]), panel["title"]


async def test_metrics_need_the_token(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef")
    async with controlled(control_token_file=token) as it:
        await it.ask("GET", "/metrics", expect=401)
        headers = {"Authorization": "Bearer 0123456789abcdef"}
        async with it.session.get(f"http://{it.address}/metrics", headers=headers) as answer:
            assert answer.status == 200
