"""The part of ``Admin`` for the cluster itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fencepost_client.admin.cluster import (
    ClusterDescription,
    FeatureLevel,
    Features,
    Listener,
    QuorumDescription,
    add_raft_voter,
    describe_cluster,
    describe_features,
    describe_quorum,
    remove_raft_voter,
    update_features,
)
from fencepost_client.admin.log_dirs import (
    LogDirDescription,
    TopicPartitionReplica,
    alter_replica_log_dirs,
    describe_log_dirs,
)
from fencepost_client.admin.routing import list_brokers
from fencepost_client.clients.admin.base import AdminBase
from fencepost_client.types import TopicPartition


class AdminCluster(AdminBase):
    """Brokers, features, the quorum and log directories."""

    async def describe_cluster(self, *, include_fenced: bool = False) -> ClusterDescription:
        """The id of the cluster, and its brokers.

        print([broker.host for broker in (await admin.describe_cluster()).brokers])
        """
        return await self._run(describe_cluster(self._backoff(), include_fenced=include_fenced))

    async def describe_features(self) -> Features:
        """The features of the cluster, and the levels that a broker supports.

        level = (await admin.describe_features()).features["transaction.version"].level
        """
        return await self._run(describe_features(self._backoff()))

    async def update_features(
        self, levels: Mapping[str, int | FeatureLevel], *, validate_only: bool = False
    ) -> None:
        """Set levels of features, all or none; a downgrade must be allowed explicitly.

        await admin.update_features(
            {"transaction.version": FeatureLevel(1, LevelChange.SAFE_DOWNGRADE)}
        )
        """
        await self._run(
            update_features(levels, self._backoff(), self._timeout_ms, validate_only=validate_only)
        )

    async def describe_quorum(self) -> QuorumDescription:
        """The voters and observers of the metadata quorum, and their log end offsets.

        print((await admin.describe_quorum()).leader_id)
        """
        return await self._run(describe_quorum(self._backoff()))

    async def add_raft_voter(
        self,
        voter_id: int,
        directory_id: bytes,
        listeners: Iterable[Listener],
        *,
        cluster_id: str | None = None,
    ) -> None:
        """Give a controller a vote in the metadata quorum (KIP-853), in Kafka 3.9 and later.

        A static quorum, as a Fencepost has it, refuses with UNSUPPORTED_VERSION. With
        ``cluster_id``, a cluster with another id refuses, too.

        await admin.add_raft_voter(3, directory_id, [Listener("CONTROLLER", "kafka-3", 9093)])
        """
        adding = add_raft_voter(
            voter_id, directory_id, listeners, cluster_id, self._backoff(), self._timeout_ms
        )
        await self._run(adding)

    async def remove_raft_voter(
        self, voter_id: int, directory_id: bytes, *, cluster_id: str | None = None
    ) -> None:
        """Take the vote from a controller (KIP-853); ``describe_quorum`` tells its directory id.

        [voter] = (await admin.describe_quorum()).voters
        await admin.remove_raft_voter(voter.replica_id, voter.directory_id)
        """
        await self._run(remove_raft_voter(voter_id, directory_id, cluster_id, self._backoff()))

    async def describe_log_dirs(
        self,
        broker_ids: Iterable[int] | None = None,
        partitions: Iterable[TopicPartition] | None = None,
    ) -> dict[int, dict[str, LogDirDescription]]:
        """The log directories of brokers, or of all brokers, with their partitions.

        for path, folder in (await admin.describe_log_dirs())[1].items():
            print(path, sum(log.size_bytes for log in folder.replicas.values()))
        """
        if broker_ids is None:
            broker_ids = await self._run(list_brokers(self._backoff()))
        return await self._run(describe_log_dirs(broker_ids, partitions, self._backoff()))

    async def alter_replica_log_dirs(self, paths: Mapping[TopicPartitionReplica, str]) -> None:
        """Move replicas to other log directories of their brokers; the copy ends later.

        await admin.alter_replica_log_dirs({TopicPartitionReplica("orders", 0, 1): "/data2"})
        """
        await self._run(alter_replica_log_dirs(paths, self._backoff()))
