"""Settings of share groups (KIP-932), and of the share coordinator."""

from __future__ import annotations

from typing import Final

from fencepost_broker.config.setting import Kind, Scope, integer, short
from fencepost_broker.config.tables.coordinators import ONE_BROKER, SMALL
from fencepost_broker.config.tables.without_effect import kept
from fencepost_broker.config.values.units import HOUR_MS, MIB

_PIECES: Final = "coordinators read their logs in pieces of 128 KiB"
_ONE: Final = "there is one persister"
_NO_PURGATORY: Final = "a fetch that has its answer waits nowhere"
_AT_ONCE: Final = "coordinators write at once"


class ShareGroupSettings:
    """Share groups: their members, their share partitions, and the coordinator of the latter."""

    group_share_assignment_interval_ms = integer(
        1000,
        "KIP-932: how often a share group may get a new assignment",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    group_share_assignors = kept(Kind.LIST, ("simple",), "there is one assignor of share groups")
    group_share_delivery_count_limit = integer(
        5, "KIP-932: how often a record is delivered at most", at_least=2, at_most=10
    )
    group_share_heartbeat_interval_ms = integer(
        5000, "KIP-932: how often members must send a heartbeat", at_least=1
    )
    group_share_initialize_retry_interval_ms = integer(
        30_000,
        "KIP-932: after how long a share partition is initialized again if no answer has come",
        at_least=1,
        internal=True,
    )
    group_share_max_assignment_interval_ms = integer(
        15_000, "KIP-932: the longest assignment interval a group may be set to", at_least=0
    )
    group_share_max_delivery_count_limit = integer(
        10, "KIP-932: the highest delivery count limit of a group", at_least=5, at_most=25
    )
    group_share_max_heartbeat_interval_ms = integer(
        15_000, "KIP-932: the longest heartbeat interval a group may be set to", at_least=1
    )
    group_share_max_partition_max_record_locks = integer(
        4000,
        "KIP-932: the most records in flight a group may be set to",
        at_least=2000,
        at_most=10_000,
    )
    group_share_max_record_lock_duration_ms = integer(
        60_000,
        "KIP-932: the longest lock of records a group may be set to",
        at_least=30_000,
        at_most=HOUR_MS,
    )
    group_share_max_session_timeout_ms = integer(
        60_000, "KIP-932: the longest session timeout a group may be set to", at_least=1
    )
    group_share_max_share_sessions = integer(
        2000, "KIP-932: how many share sessions the broker has at most", at_least=1
    )
    group_share_max_size = integer(
        200, "KIP-932: how many members a share group may have", at_least=1, at_most=1000
    )
    group_share_min_assignment_interval_ms = integer(
        0, "KIP-932: the shortest assignment interval a group may be set to", at_least=0
    )
    group_share_min_delivery_count_limit = integer(
        2, "KIP-932: the lowest delivery count limit of a group", at_least=2, at_most=5
    )
    group_share_min_heartbeat_interval_ms = integer(
        5000, "KIP-932: the shortest heartbeat interval a group may be set to", at_least=1
    )
    group_share_min_partition_max_record_locks = integer(
        100,
        "KIP-932: the fewest records in flight a group may be set to",
        at_least=100,
        at_most=2000,
    )
    group_share_min_record_lock_duration_ms = integer(
        15_000,
        "KIP-932: the shortest lock of records a group may be set to",
        at_least=1000,
        at_most=30_000,
    )
    group_share_min_session_timeout_ms = integer(
        45_000, "KIP-932: the shortest session timeout a group may be set to", at_least=1
    )
    group_share_partition_max_record_locks = integer(
        2000,
        "KIP-932: how many records of a partition a share group has in flight at most",
        at_least=100,
        at_most=10_000,
    )
    group_share_persister_class_name = kept(
        Kind.STRING,
        "org.apache.kafka.server.share.persister.DefaultStatePersister",
        _ONE,
        internal=True,
    )
    group_share_record_lock_duration_ms = integer(
        30_000,
        "KIP-932: how long records are locked for the member that has acquired them",
        at_least=1000,
        at_most=HOUR_MS,
    )
    group_share_session_timeout_ms = integer(
        45_000, "KIP-932: how long without a heartbeat before a member is removed", at_least=1
    )
    share_coordinator_append_linger_ms = kept(Kind.INT, -1, _AT_ONCE, at_least=-1)
    share_coordinator_cached_buffer_max_bytes = kept(
        Kind.INT, 1_048_588, _AT_ONCE, at_least=524_288, scope=Scope.CLUSTER
    )
    share_coordinator_cold_partition_snapshot_interval_ms = integer(
        300_000,
        "KIP-932: after how long the snapshot of a share partition is written again, so that"
        " earlier records can be deleted",
        at_least=1,
        internal=True,
    )
    share_coordinator_load_buffer_size = kept(Kind.INT, 5_242_880, _PIECES, at_least=1)
    share_coordinator_snapshot_update_records_per_snapshot = integer(
        500,
        "KIP-932: after how many updates of a share partition a snapshot follows",
        at_least=0,
        at_most=500,
    )
    share_coordinator_state_topic_compression_codec = kept(
        Kind.INT, 0, "the records are not compressed"
    )
    share_coordinator_state_topic_min_isr = short(
        1,
        "how many replicas of __share_group_state must be in sync for a write",
        at_least=1,
        kafka=2,
        because=ONE_BROKER,
        stays=True,
    )
    share_coordinator_state_topic_num_partitions = integer(
        5,
        "how many partitions __share_group_state has",
        at_least=1,
        kafka=50,
        because=SMALL,
    )
    share_coordinator_state_topic_prune_interval_ms = integer(
        300_000,
        "KIP-932: how often records of __share_group_state before all snapshots are deleted",
        at_least=1,
        internal=True,
    )
    share_coordinator_state_topic_replication_factor = short(
        1,
        "how many replicas __share_group_state has",
        at_least=1,
        kafka=3,
        because=ONE_BROKER,
        stays=True,
    )
    share_coordinator_state_topic_segment_bytes = integer(
        100 * MIB, "the size of a segment of __share_group_state", at_least=1
    )
    share_coordinator_threads = kept(Kind.INT, 1, "one thread does all work", at_least=1)
    share_coordinator_write_timeout_ms = kept(
        Kind.INT, 5000, "offsets.commit.timeout.ms limits these writes, too", at_least=1
    )
    share_fetch_purgatory_purge_interval_requests = kept(Kind.INT, 1000, _NO_PURGATORY)
