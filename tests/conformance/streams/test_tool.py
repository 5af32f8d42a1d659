"""Apache Kafka's own tool (kafka-streams-groups.sh) works on streams groups here."""

from __future__ import annotations

import pytest
from fencepost_broker.blocking import Broker
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest

from tests.machine.coordinator.group.streams.members import GROUP, beat, join
from tests.support.apache_kafka import KafkaUnavailableError, fetch, run_tool
from tests.support.up import Wire

pytestmark = pytest.mark.conformance

TOOL = "org.apache.kafka.tools.streams.StreamsGroupCommand"
MEMBER = "A" * 22


def test_streams_groups_by_kafkas_tool() -> None:
    try:
        fetch()
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    with Broker(topics={"t": 2}) as ours, Wire(int(ours.bootstrap.rpartition(":")[2])) as member:
        where = ("--bootstrap-server", ours.bootstrap)
        member.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP]), 4)
        joined = member.ask(join(MEMBER), 0)
        assert not joined.error_code
        assert GROUP in run_tool(TOOL, *where, "--list").split()
        described = run_tool(TOOL, *where, "--describe", "--group", GROUP, "--members")
        assert f"{GROUP} " in described
        assert "ACTIVE: 0:[0,1]" in described
        assert "Stable" in run_tool(TOOL, *where, "--describe", "--group", GROUP, "--state")
        member.ask(beat(MEMBER, -1), 0)
        run_tool(TOOL, *where, "--delete", "--group", GROUP)
        assert GROUP not in run_tool(TOOL, *where, "--list").split()
