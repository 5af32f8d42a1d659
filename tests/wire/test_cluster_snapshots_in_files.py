"""Snapshots of clusters in files: another cluster continues from one."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_broker import Cluster, ClusterSnapshot
from fencepost_broker.server.embedded.snapshot import NoSnapshotsError
from fencepost_client import LATEST, Admin, Consumer, Producer, TopicPartition

pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])
T = TopicPartition("t", 0)


async def test_another_cluster_continues_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cluster.tar.gz"
    async with Cluster(brokers=2, topics={"t": 1}) as cluster:
        async with Producer(cluster.bootstrap, acks="all") as producer:
            await producer.send_and_wait("t", b"one")
        cluster.snapshot("stuck").save(path)
    loaded = ClusterSnapshot.load(path)
    assert (loaded.name, sorted(loaded.running)) == ("stuck", [1, 2])
    async with Cluster(brokers=2) as other:
        await other.restore(loaded)
        async with Consumer(other.bootstrap, auto_offset_reset="earliest") as consumer:
            consumer.assign([T])
            [record] = await consumer.getmany(timeout_ms=30_000)
            assert record.value == b"one"
        async with other.fork(loaded) as third, Admin(third.bootstrap) as admin:
            assert (await admin.list_offsets({T: LATEST}))[T].offset == 1
    async with Cluster(brokers=1) as small:
        with pytest.raises(NoSnapshotsError, match="has nodes 1, 2, 100, and this cluster"):
            await small.restore(loaded)
        assert sorted(small.brokers) == [1]
