"""A broker records what its clients send and are answered."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_client import Producer
from fencepost_client.recordings.file import EntryKind, read_entries
from fencepost_protocol.framing import read_request_head
from fencepost_protocol.generated.index import ApiKey

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
