"""Apache Kafka's own tool (kafka-configs.sh) sets and tells quotas and SCRAM users of ours."""

from __future__ import annotations

import pytest
from fencepost_client import QuotaEntity, QuotaName, ScramMechanism
from fencepost_client.blocking import Admin

from tests.support.apache_kafka import KafkaUnavailableError, fetch, run_tool
from tests.support.up import Up

pytestmark = pytest.mark.conformance

TOOL = "kafka.admin.ConfigCommand"
BOTH = "producer_byte_rate=1024.0", "consumer_byte_rate=2048.0"


def test_quotas_and_users_by_kafkas_tool() -> None:
    try:
        fetch()
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    with Up() as ours:
        bootstrap = f"127.0.0.1:{ours.port}"
        where = ("--bootstrap-server", bootstrap)
        user = ("--entity-type", "users", "--entity-name", "alice")
        client = ("--entity-type", "clients", "--entity-default")
        change = ("--alter", "--add-config", ",".join(BOTH))
        run_tool(TOOL, *where, *user, *client, *change)
        password = "SCRAM-SHA-256=[iterations=8192,password=alice-secret]"
        run_tool(TOOL, *where, *user, "--alter", "--add-config", password)
        told = run_tool(TOOL, *where, *user, *client, "--describe")
        for quota in BOTH:
            assert quota in told
        with Admin(bootstrap) as admin:
            assert admin.describe_client_quotas() == {
                QuotaEntity(user="alice", client_id=QuotaName.DEFAULT): {
                    "producer_byte_rate": 1024.0,
                    "consumer_byte_rate": 2048.0,
                }
            }
            assert admin.describe_user_scram_credentials() == {
                "alice": {ScramMechanism.SCRAM_SHA_256: 8192}
            }
