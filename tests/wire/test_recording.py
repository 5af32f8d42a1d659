"""A broker records what its clients send and are answered."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_broker.network.recorder import Recording
from fencepost_client import Producer
from fencepost_client.recordings.file import EntryKind, read_entries
from fencepost_client.recordings.replaying import Replay, replay_file
from fencepost_protocol.framing import encode_request, encode_response, read_request_head
from fencepost_protocol.generated.create_delegation_token import CreateDelegationTokenResponse
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.renew_delegation_token import RenewDelegationTokenRequest

pytestmark = pytest.mark.asyncio


async def test_a_session_is_in_the_file_and_passwords_are_not(tmp_path: Path) -> None:
    path = tmp_path / "session.fprec"
    async with Broker(topics={"t": 1}, users={"ada": "engine-42"}) as broker:
        recorder = broker.record(path)
        async with Producer(
            broker.bootstrap, security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN",
            sasl_plain_username="ada", sasl_plain_password="engine-42",
        ) as producer:  # fmt: skip
            await producer.send_and_wait("t", b"a value")
    recorder.close()
    with path.open("rb") as file:
        entries = list(read_entries(file))
    requests = [each.data for each in entries if each.kind is EntryKind.REQUEST]
    keys = [read_request_head(memoryview(each))[0] for each in requests if each]
    assert ApiKey.PRODUCE in keys
    assert len([each for each in entries if each.kind is EntryKind.ANSWER]) == len(requests)
    assert entries[-1].kind is EntryKind.CLOSED
    assert b"a value" in path.read_bytes()
    assert b"engine-42" not in path.read_bytes()


async def test_of_delegation_tokens_only_the_correlation_ids_are_recorded(tmp_path: Path) -> None:
    path = tmp_path / "tokens.fprec"
    recording = Recording(path)
    request = encode_request(RenewDelegationTokenRequest(b"secret"), 1, 7, "c")[4:]
    answer = encode_response(CreateDelegationTokenResponse(hmac=b"secret"), 1, 8)
    recording.request("a", ApiKey.RENEW_DELEGATION_TOKEN, memoryview(request))
    recording.answer("a", ApiKey.CREATE_DELEGATION_TOKEN, 1, [answer], 4)
    recording.close()
    with path.open("rb") as file:
        entries = list(read_entries(file))
    assert [bytes(each.data) for each in entries] == [request[:8], answer[4:8]]
    async with Broker() as broker:
        found = await replay_file(path, Replay(broker.bootstrap))
    assert found.differences == []
    assert found.notes == [
        "RenewDelegationToken was left out: it has secrets, which recordings hide"
    ]
