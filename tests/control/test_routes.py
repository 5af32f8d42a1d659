"""What each route of the control port does."""

from __future__ import annotations

import pytest
from fencepost_broker import Broker, ListenError
from fencepost_broker.server.control.table import ROUTES
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from openapi_spec_validator import OpenAPIV31SpecValidator
from yarl import URL

from tests.control.harness import begun, controlled, open_port

pytestmark = pytest.mark.asyncio
DAY_MS = 24 * 3600 * 1000


async def test_the_description_is_valid_and_has_every_route() -> None:
    async with controlled() as it:
        document = await it.ask("GET", "/openapi.json")
    OpenAPIV31SpecValidator(document).validate()
    operations = {
        (method.upper(), path): operation
        for path, of_path in document["paths"].items()
        for method, operation in of_path.items()
    }
    assert operations.keys() == {(route.method, route.path) for route in ROUTES}
    names = [operation["operationId"] for operation in operations.values()]
    assert len(set(names)) == len(names), "generated clients need a name for each"
    advance = operations["POST", "/v1/clock/advance"]
    assert advance["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/Step"
    }
    asked = operations["GET", "/v1/topics/{topic}/partitions/{partition}"]
    assert [(each["name"], each["in"], each["required"]) for each in asked["parameters"]] == [
        ("topic", "path", True), ("partition", "path", True),
    ]  # fmt: skip
    assert "404" in asked["responses"]
    last = operations["GET", "/v1/requests"]["parameters"][0]
    assert (last["name"], last["in"], last["required"]) == ("last", "query", False)


async def test_brokers_and_counters() -> None:
    async with controlled(topics={"t": 2}) as it, it.client() as client:
        producer_id, _ = await begun(client, "payments")
        told = await it.ask("GET", "/v1/brokers")
        assert told["bootstrap"] == it.broker.bootstrap
        [broker] = told["brokers"]
        assert broker == {
            "broker_id": told["node_id"],
            "listeners": {"PLAINTEXT": it.broker.bootstrap},
            "ready": True,
            "here": True,
            "producer_ids": [[producer_id + 1, 999]],
        }
        assert (await it.ask("GET", "/v1/stats"))["topics"]["t"]["partitions"] == 2


async def test_the_clock_is_shown_and_advanced() -> None:
    async with controlled(clock="manual") as it:
        before = await it.ask("GET", "/v1/clock")
        now_ms = it.broker.clock.now_ms()
        assert before == {"now_ms": now_ms, "manual": True, "next_deadline_ms": None}
        after = await it.ask("POST", "/v1/clock/advance", {"days": 8, "hours": 0.5, "ms": 3})
        assert after["now_ms"] - before["now_ms"] == 8 * DAY_MS + DAY_MS // 48 + 3
        assert after["now_ms"] == it.broker.clock.now_ms()
        for wrong in ({}, {"days": -1}, {"days": 1e300}, {"ms": 10**30}):
            await it.ask("POST", "/v1/clock/advance", wrong, expect=400)
        assert it.broker.clock.now_ms() == after["now_ms"]


async def test_topics_are_created_listed_and_deleted() -> None:
    async with controlled(topics={"first": 1}) as it, it.client() as client:
        new = {"name": "second", "partitions": 2, "configs": {"retention.ms": "1"}}
        made = await it.ask("POST", "/v1/topics", new, expect=201)
        assert [each["partition"] for each in made["partitions"]] == [0, 1]
        listed = (await it.ask("GET", "/v1/topics"))["topics"]
        assert [each["name"] for each in listed] == ["first", "second"]
        assert listed[1] == made
        again = await it.ask("POST", "/v1/topics", new, expect=409)
        assert again["detail"].startswith("TOPIC_ALREADY_EXISTS: ")
        wrong = {"name": "third", "configs": {"retention.mss": "1"}}
        assert "INVALID_CONFIG" in (await it.ask("POST", "/v1/topics", wrong, expect=422))["detail"]
        await it.ask("DELETE", "/v1/topics/second", expect=204)
        gone = await it.ask("DELETE", "/v1/topics/firts", expect=404)
        assert gone["advice"] == "Did you mean first?"
        answer = await client.ask(MetadataRequest(None), 12)
        assert [each.name for each in answer.topics] == ["first"]


async def test_a_transaction_is_explained_held_and_released() -> None:
    async with controlled(topics={"t": 1}) as it, it.client() as client:
        producer = await begun(client, "pay/ments é")
        listed = await it.ask("GET", "/v1/transactions")
        assert listed["transactions"] == [
            {"transactional_id": "pay/ments é", "producer_id": producer[0], "state": "Ongoing"}
        ]
        partition = await it.ask("GET", "/v1/topics/t/partitions/0")
        assert partition["holder"]["transactional_id"] == "pay/ments é"
        assert (partition["last_stable_offset"], partition["high_watermark"]) == (0, 1)
        hold = await it.ask(
            "POST", "/v1/markers/holds", {"transactional_id": "pay/ments é"}, expect=201
        )
        assert (await it.ask("GET", "/v1/markers/holds"))["holds"] == [hold]
        assert not (await client.ask(EndTxnRequest("pay/ments é", *producer, True), 3)).error_code
        path = URL(f"http://{it.address}/v1/transactions/pay%2Fments%20%C3%A9", encoded=True)
        async with it.session.get(path) as answer:
            told = await answer.json()
        assert told["state"] == "PrepareCommit"
        assert [each["is_held"] for each in told["markers"]] == [True]
        await it.ask("DELETE", f"/v1/markers/holds/{hold['hold']}", expect=204)
        assert (await it.ask("GET", "/v1/markers/holds"))["holds"] == []
        partition = await it.ask("GET", "/v1/topics/t/partitions/0")
        assert partition["holder"] is None
        assert partition["last_stable_offset"] == 2
        missing = await it.ask("GET", "/v1/transactions/payments", expect=404)
        assert missing["where"] == "path, $.transactional_id"
        await it.ask("DELETE", f"/v1/markers/holds/{hold['hold']}", expect=404)


async def test_partitions_and_topics_that_are_not_there() -> None:
    async with controlled(topics={"orders": 2}) as it:
        for path, advice in (
            ("/v1/topics/order/partitions/0", "Did you mean orders?"),
            ("/v1/topics/orders/partitions/2", "There are: 0, 1"),
        ):
            assert (await it.ask("GET", path, expect=404))["advice"] == advice
        for number in ("-1", "x", "1.5"):
            wrong = await it.ask("GET", f"/v1/topics/orders/partitions/{number}", expect=400)
            assert wrong["where"] == "path, $.partition"


async def test_groups_of_both_kinds_are_described() -> None:
    async with controlled(topics={"t": 2}) as it, it.client() as client:
        await client.ask(FindCoordinatorRequest("plain", 0), 3)
        await client.produce("t", 1, b"a", b"b", b"c")
        topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(1, 1)])]
        answer = await client.ask(OffsetCommitRequest("plain", topics=topics), 8)
        assert not answer.topics[0].partitions[0].error_code
        heartbeat = ConsumerGroupHeartbeatRequest(
            "new", "member", 0, rebalance_timeout_ms=1000, subscribed_topic_names=["t"],
            topic_partitions=[],
        )  # fmt: skip
        assert not (await client.ask(heartbeat, 1)).error_code
        listed = (await it.ask("GET", "/v1/groups"))["groups"]
        assert [(each["group_id"], each["type"], each["state"]) for each in listed] == [
            ("new", "consumer", "Stable"), ("plain", "classic", "Empty"),
        ]  # fmt: skip
        plain = await it.ask("GET", "/v1/groups/plain")
        assert plain["offsets"] == [
            {"topic": "t", "partition": 1, "offset": 1, "log_end_offset": 3, "lag": 2}
        ]
        [member] = (await it.ask("GET", "/v1/groups/new"))["members"]
        assert member["member_id"] == "member"
        assert member["subscribed_topics"] == ["t"]
        assert member["assignment"] == [
            {"topic": "t", "partition": 0},
            {"topic": "t", "partition": 1},
        ]
        [*_, last] = (await it.ask("GET", "/v1/groups/new/history"))["epochs"]
        [then] = last["members"]
        assert (then["member_id"], then["partitions"]) == ("member", member["assignment"])
        assert then["epoch"] == last["epoch"]
        assert (await it.ask("GET", "/v1/groups/plan", expect=404))[
            "advice"
        ] == "Did you mean plain?"


async def test_requests_are_kept_from_the_first_question_on() -> None:
    async with open_port() as it:
        broker = it.broker

        def is_watched() -> bool:
            return broker.process.socket_server.watcher is not None

        await broker.ask(MetadataRequest([]), 12)
        assert not is_watched(), "watching costs each request something"
        assert await it.ask("GET", "/v1/requests") == {"seen": 0, "requests": []}
        assert is_watched()
        for topic in ("one", "two"):
            asked = [MetadataRequestTopic(name=topic)]
            await broker.ask(MetadataRequest(asked, allow_auto_topic_creation=False), 12)
        told = await it.ask("GET", "/v1/requests?last=1")
        assert told["seen"] == 2
        [request] = told["requests"]
        assert (request["api"], request["version"], request["client_id"]) == (
            "Metadata", 12, "test",
        )  # fmt: skip
        assert request["errors"] == {"UNKNOWN_TOPIC_OR_PARTITION": 1}
        assert request["number"] == 2
        assert request["took_us"] >= 0
        assert request["address"].startswith("127.0.0.1:")
        await it.ask("DELETE", "/v1/requests", expect=204)
        assert not is_watched()
        assert await it.ask("GET", "/v1/requests") == {"seen": 0, "requests": []}
        await it.port.close()
        assert not is_watched()


async def test_the_control_port_stops_and_starts_with_its_broker() -> None:
    async with controlled() as it:
        await it.broker.stop()
        with pytest.raises(OSError, match="onnect"):
            await it.ask("GET", "/v1/clock")
        await it.broker.start()
        assert it.broker.control == it.address
        await it.ask("GET", "/v1/clock")


async def test_a_taken_port_is_the_usual_error_and_the_broker_is_not_left_running() -> None:
    async with controlled() as it:
        other = Broker(control=it.broker.control, log_level="error")
        with pytest.raises(ListenError, match="in use already"):
            await other.start()
        with pytest.raises(RuntimeError, match="not running"):
            other.stats()


async def test_a_controller_by_itself_has_a_control_port_too() -> None:
    settings = {"process.roles": "controller", "node.id": 100}
    async with controlled(settings=settings) as it:
        assert (await it.ask("GET", "/v1/brokers"))["node_id"] == 100
        assert (await it.ask("GET", "/v1/topics"))["topics"] == []
        for path in ("/v1/transactions", "/v1/groups", "/v1/markers/holds"):
            assert "by itself" in (await it.ask("GET", path, expect=409))["detail"]
