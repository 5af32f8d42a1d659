"""Records as the control port reads and writes them, and the bytes of requests."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.sasl_authenticate import SaslAuthenticateRequest
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeRequest

from tests.control.harness import begun, controlled

pytestmark = pytest.mark.asyncio
_RECORDS = "/v1/topics/t/partitions/0/records"


def _leaves(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for each in node.get("children", ()):
        yield from _leaves(each)
    if "children" not in node:
        yield node


async def test_records_are_read_with_markers_and_outcomes() -> None:
    async with controlled(topics={"t": 1}) as it, it.client() as client:
        for committed in (True, False):
            producer_id, epoch = await begun(client, "payments")
            await client.ask(EndTxnRequest("payments", producer_id, epoch, committed=committed), 3)
        written = await it.ask("POST", _RECORDS, {"key": "k", "value": "v"}, expect=201)
        assert written == {"topic": "t", "partition": 0, "offset": 4}
        await it.ask("POST", "/v1/markers/holds", {}, expect=201)
        await begun(client, "payments")
        read = await it.ask("GET", _RECORDS)
        later = await it.ask("GET", f"{_RECORDS}?offset=2&count=1")
        offsets = (await it.ask("GET", "/v1/topics/t"))["partitions"]
    told = [(each["base_offset"], each["outcome"], each["control"]) for each in read["batches"]]
    assert told == [
        (0, "committed", ""),
        (1, "", "commit"),
        (2, "aborted", ""),
        (3, "", "abort"),
        (4, "", ""),
        (5, "open", ""),
    ]
    [record] = read["batches"][4]["records"]
    assert base64.b64decode(record["value"]) == b"v"
    assert [each["base_offset"] for each in later["batches"]] == [2]
    assert later["batches"][0]["outcome"] == "aborted"
    assert later["next_offset"] == 3
    assert read["offsets"] == offsets[0]
    assert (offsets[0]["last_stable_offset"], offsets[0]["high_watermark"]) == (5, 6)


async def test_what_is_not_there_is_named() -> None:
    async with controlled(topics={"t": 1}) as it:
        for path in ("/v1/topics/u", "/v1/topics/t/partitions/7/records"):
            await it.ask("GET", path, expect=404)
        wrong = await it.ask("POST", "/v1/topics/u/partitions/0/records", {}, expect=422)
        assert "UNKNOWN_TOPIC_OR_PARTITION" in wrong["detail"]


async def test_each_byte_of_a_request_that_is_kept_has_a_name() -> None:
    async with controlled(topics={"t": 1}) as it, it.client() as client:
        await client.ask(MetadataRequest([]), 12)
        await it.ask("GET", "/v1/requests/1/bytes", expect=404)
        await it.ask("GET", "/v1/requests")
        await client.ask(MetadataRequest([]), 12)
        [seen] = (await it.ask("GET", "/v1/requests"))["requests"]
        told = await it.ask("GET", f"/v1/requests/{seen['number']}/bytes")
    assert (told["api"], told["version"]) == ("Metadata", 12)
    for side in ("request", "answer"):
        content = base64.b64decode(told[side])
        leaves = list(_leaves(told[f"{side}_tree"]))
        assert b"".join(bytes.fromhex(each["bytes"]) for each in leaves) == content
        assert len(content) == seen[f"{side}_bytes"]


async def test_bytes_with_secrets_are_not_kept() -> None:
    async with controlled(users={"alice": "secret"}) as it, it.client() as client:
        await it.ask("GET", "/v1/requests")
        await client.ask(SaslHandshakeRequest("PLAIN"), 1)
        answer = await client.ask(SaslAuthenticateRequest(b"\0alice\0secret"), 2)
        assert not answer.error_code
        seen = (await it.ask("GET", "/v1/requests"))["requests"]
        assert [each["api"] for each in seen] == ["SaslHandshake", "SaslAuthenticate"]
        await it.ask("GET", f"/v1/requests/{seen[0]['number']}/bytes")
        wrong = await it.ask("GET", f"/v1/requests/{seen[1]['number']}/bytes", expect=404)
        assert "passwords" in wrong["advice"]


async def test_errors_are_explained() -> None:
    async with controlled() as it:
        told = {each["name"]: each for each in (await it.ask("GET", "/v1/errors"))["errors"]}
    assert told["NOT_COORDINATOR"]["retriable"]
    assert told["PRODUCER_FENCED"]["hint"]
    assert "NONE" not in told


async def test_records_are_found_by_key_and_time() -> None:
    async with controlled(topics={"t": 1}, clock="manual") as it:
        for number in range(6):
            await it.ask("POST", _RECORDS, {"key": f"k{number % 2}", "value": "v"}, expect=201)
            it.broker.clock.advance(seconds=1)
        found = (await it.ask("GET", f"{_RECORDS}?key=k1&offset=2"))["batches"]
        at_ms = it.broker.clock.now_ms() - 2_500
        later = (await it.ask("GET", f"{_RECORDS}?at_ms={at_ms}"))["batches"]
        none = await it.ask("GET", f"{_RECORDS}?key=another")
        end = await it.ask("GET", f"{_RECORDS}?at_ms={at_ms + 10_000}")
    assert [each["base_offset"] for each in found] == [3, 5]
    assert [each["base_offset"] for each in later] == [4, 5]
    assert (none["batches"], none["next_offset"]) == ([], 6)
    assert (end["batches"], end["next_offset"]) == ([], 6)


async def test_a_record_is_written_in_a_transaction() -> None:
    async with controlled(topics={"t": 1}) as it:
        record = {"value": "v", "transactional_id": "by-hand"}
        assert (await it.ask("POST", _RECORDS, record, expect=201))["offset"] == 0
        await it.ask("POST", _RECORDS, {**record, "abort": True}, expect=201)
        await it.ask("POST", "/v1/topics/t/partitions/7/records", record, expect=404)
        read = (await it.ask("GET", _RECORDS))["batches"]
    told = [each["outcome"] or each["control"] for each in read]
    assert told == ["committed", "commit", "aborted", "abort"]
