"""Delegation tokens (KIP-48): Apache Kafka gives the same answers, and its tool works here."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from fencepost_broker.blocking import Broker
from fencepost_broker.metadata.log.records import decode_record, encode_record

from tests.conformance.controller_peer import log_values
from tests.conformance.delegation_token_cases import SETTINGS, Side, script
from tests.support.apache_kafka import run_tool
from tests.support.secure_kafka import PASSWORD, KafkaWithUsers

pytestmark = pytest.mark.conformance

TOOL = "org.apache.kafka.tools.DelegationTokenCommand"
EXPECTED = Path(__file__).parent / "delegation_tokens.txt"


def test_apache_kafka_answers_the_same() -> None:
    async def pass_by(milliseconds: int) -> None:
        await asyncio.sleep(milliseconds / 1000)  # Kafka's clock cannot be moved

    plain_only = {"listener.name.controller_login.sasl.enabled.mechanisms": "PLAIN"}
    with KafkaWithUsers(SETTINGS | plain_only) as kafka:
        side = Side(kafka.bootstrap, f"127.0.0.1:{kafka.login_port}", pass_by)
        lines = asyncio.run(script(side))
        kafka.stop()
        kinds = set()
        for _, value in log_values(kafka.data_dir / "__cluster_metadata-0"):
            record = decode_record(value)
            assert encode_record(record) == value
            kinds.add(record.message.NAME)
    assert {"DelegationTokenRecord", "RemoveDelegationTokenRecord"} <= kinds
    assert lines == EXPECTED.read_text(encoding="utf-8").splitlines()


def test_its_tool_makes_and_removes_tokens_here(tmp_path: Path) -> None:
    login = tmp_path / "client.properties"
    login.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required"
        f' username="alice" password="{PASSWORD}";\n'
    )
    listeners = {
        "listeners": "LOGIN://127.0.0.1:0",
        "listener.security.protocol.map": "LOGIN:SASL_PLAINTEXT",
    }
    with Broker(settings=SETTINGS | listeners) as ours:
        where = ("--bootstrap-server", ours.bootstrap, "--command-config", str(login))
        describe = ("--describe", "--owner-principal", "User:alice")
        made = run_tool(
            TOOL, *where, "--create", "--max-life-time-period", "-1",
            "--renewer-principal", "User:bob",
        )  # fmt: skip
        secret = next(word for word in made.split() if word.endswith("=="))
        described = run_tool(TOOL, *where, *describe)
        assert secret in described
        assert "User:bob" in described
        run_tool(TOOL, *where, "--renew", "--renew-time-period", "-1", "--hmac", secret)
        run_tool(TOOL, *where, "--expire", "--expiry-time-period", "-1", "--hmac", secret)
        assert secret not in run_tool(TOOL, *where, *describe)
