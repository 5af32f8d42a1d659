"""What administrators see of one broker: features, and where its controller is."""

from __future__ import annotations

import pytest
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.describe_cluster import DescribeClusterRequest
from fencepost_protocol.generated.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)

from tests.support.broker import running_broker

pytestmark = pytest.mark.asyncio

OFF = ("kraft.version",)


async def test_features_that_are_off_are_told_with_level_0_alone() -> None:
    async with running_broker() as broker:
        for version, seen in ((3, set()), (4, {(name, 0, 0) for name in OFF})):
            request = ApiVersionsRequest("a", "1")
            answer = await broker.ask(request, version)
            told = {(each.name, each.min_version, each.max_version) for each in
                    answer.supported_features}  # fmt: skip
            assert {each for each in told if each[0] in OFF} == seen
            assert not {each.name for each in answer.finalized_features} & {*OFF}


async def test_the_voter_has_an_address() -> None:
    topic = DescribeQuorumRequestTopicData(
        "__cluster_metadata", [DescribeQuorumRequestPartitionData(0)]
    )
    async with running_broker() as broker:
        [node] = (await broker.ask(DescribeQuorumRequest([topic]), 2)).nodes
        [listener] = node.listeners
        [known] = (await broker.ask(DescribeClusterRequest(), 1)).brokers
        assert (listener.host, listener.port) == (known.host, known.port)
