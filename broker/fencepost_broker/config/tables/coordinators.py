"""Settings of groups, committed offsets and transactions."""

from __future__ import annotations

from typing import Final

from fencepost_broker.config.setting import (
    Kind,
    Scope,
    Setting,
    boolean,
    integer,
    long,
    short,
    string,
    strings,
)
from fencepost_broker.config.tables.without_effect import kept
from fencepost_broker.config.values.units import DAY_MS, INT_MAX, MIB

ONE_BROKER: Final = "a single broker cannot hold three replicas"
SMALL: Final = "fewer partitions start faster, and a test has few groups and transactions"
_PIECES: Final = "coordinators read their logs in pieces of 128 KiB"


class GroupSettings:
    """Groups of both protocols: the classic one, and KIP-848."""

    group_min_session_timeout_ms = integer(
        6000, "the shortest session timeout that a member may ask for"
    )
    group_max_session_timeout_ms = integer(
        1_800_000, "the longest session timeout that a member may ask for"
    )
    group_max_size = integer(INT_MAX, "how many members a group may have", at_least=1)
    group_initial_rebalance_delay_ms = integer(
        0,
        "how long a new group waits for more members before its first rebalance",
        kafka=3000,
        because="a test should not wait three seconds for members that never come",
    )
    group_coordinator_rebalance_protocols: Setting[tuple[str, ...]] = strings(
        ("classic", "consumer", "streams"),
        "the kinds of groups that are served; share has no effect",
        one_of=("classic", "consumer", "share", "streams"),
        may_be_empty=False,
    )
    group_coordinator_append_linger_ms = integer(
        -1,
        "how long a coordinator gathers records before it writes them; -1 as long as it is busy",
        at_least=-1,
        ignored=True,
    )
    group_coordinator_cached_buffer_max_bytes = integer(
        1024 * 1024 + 12,
        "the largest buffer that a coordinator keeps for later",
        scope=Scope.CLUSTER,
        at_least=512 * 1024,
        ignored=True,
    )
    group_consumer_session_timeout_ms = integer(
        45_000, "KIP-848: how long without a heartbeat before a member is removed", at_least=1
    )
    group_consumer_min_session_timeout_ms = integer(
        45_000, "KIP-848: the shortest session timeout a group may be set to", at_least=1
    )
    group_consumer_max_session_timeout_ms = integer(
        60_000, "KIP-848: the longest session timeout a group may be set to", at_least=1
    )
    group_consumer_heartbeat_interval_ms = integer(
        5000, "KIP-848: how often members must send a heartbeat", at_least=1
    )
    group_consumer_min_heartbeat_interval_ms = integer(
        5000, "KIP-848: the shortest heartbeat interval a group may be set to", at_least=1
    )
    group_consumer_max_heartbeat_interval_ms = integer(
        15_000, "KIP-848: the longest heartbeat interval a group may be set to", at_least=1
    )
    group_consumer_max_size = integer(
        INT_MAX, "KIP-848: how many members a group may have", at_least=1
    )
    group_consumer_assignors: Setting[tuple[str, ...]] = strings(
        ("uniform", "range"),
        "KIP-848: the assignors; the first one is used unless members name one",
        one_of=("uniform", "range"),
        may_be_empty=False,
    )
    group_consumer_assignment_interval_ms = integer(
        1000,
        "KIP-848: how often a group may get a new assignment",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    group_consumer_min_assignment_interval_ms = integer(
        0, "KIP-848: the shortest assignment interval a group may be set to", at_least=0
    )
    group_consumer_max_assignment_interval_ms = integer(
        15_000, "KIP-848: the longest assignment interval a group may be set to", at_least=0
    )
    group_consumer_migration_policy = string(
        "bidirectional",
        "whether groups may change from the classic protocol to KIP-848's, and back",
        check=lambda policy: _check_policy(policy),
        range_text="one of disabled, downgrade, upgrade, bidirectional",
    )
    group_consumer_regex_refresh_interval_ms = integer(
        600_000,
        "KIP-848: how often subscriptions by pattern are matched with all topics again",
        at_least=10_000,
        internal=True,
    )


class OffsetSettings:
    """Committed offsets, and their topic."""

    offsets_topic_num_partitions = integer(
        5,
        "how many partitions __consumer_offsets has",
        at_least=1,
        kafka=50,
        because=SMALL,
    )
    offsets_topic_replication_factor = short(
        1,
        "how many replicas __consumer_offsets has",
        at_least=1,
        kafka=3,
        because=ONE_BROKER,
        stays=True,
    )
    offsets_topic_segment_bytes = integer(
        100 * 1024 * 1024, "the size of a segment of __consumer_offsets", at_least=MIB
    )
    offsets_topic_compression_codec = integer(
        0, "the codec of __consumer_offsets by its number; 0 is none", ignored=True
    )
    offsets_retention_minutes = integer(
        7 * 24 * 60, "how long offsets outlive the last member of their group", at_least=1
    )
    offsets_retention_check_interval_ms = long(
        600_000, "how often offsets that are too old are looked for", at_least=1
    )
    offsets_commit_timeout_ms = integer(
        5000, "how long a commit waits for its replicas", at_least=1
    )
    offsets_load_buffer_size = kept(Kind.INT, 5 * 1024 * 1024, _PIECES, at_least=1)


class TransactionSettings:
    """Transactions, and the topic with their state."""

    transaction_max_timeout_ms = integer(
        900_000, "the longest transaction timeout that a producer may ask for", at_least=1
    )
    transactional_id_expiration_ms = integer(
        7 * DAY_MS, "how long a transactional id is remembered without being used", at_least=1
    )
    transaction_abort_timed_out_transaction_cleanup_interval_ms = integer(
        10_000,
        "how often overdue transactions are looked for; here each is aborted at its time",
        at_least=1,
        ignored=True,
    )
    transaction_remove_expired_transaction_cleanup_interval_ms = integer(
        3_600_000,
        "how often unused transactional ids are looked for; here each expires at its time",
        at_least=1,
        ignored=True,
    )
    transaction_partition_verification_enable = boolean(
        True,
        "whether a leader verifies an old producer's transaction at the coordinator",
        scope=Scope.CLUSTER,
    )
    transaction_two_phase_commit_enable = boolean(
        False, "whether producers of a two-phase commit (KIP-939) have transactions without timeout"
    )
    transaction_state_log_num_partitions = integer(
        5,
        "how many partitions __transaction_state has",
        at_least=1,
        kafka=50,
        because=SMALL,
    )
    transaction_state_log_replication_factor = short(
        1,
        "how many replicas __transaction_state has",
        at_least=1,
        kafka=3,
        because=ONE_BROKER,
        stays=True,
    )
    transaction_state_log_min_isr = integer(
        1,
        "how many replicas of __transaction_state must be in sync for a write",
        at_least=1,
        kafka=2,
        because=ONE_BROKER,
        stays=True,
    )
    transaction_state_log_segment_bytes = integer(
        100 * 1024 * 1024, "the size of a segment of __transaction_state", at_least=MIB
    )
    transaction_state_log_load_buffer_size = kept(Kind.INT, 5 * 1024 * 1024, _PIECES, at_least=1)
    add_partitions_to_txn_retry_backoff_ms = integer(
        20,
        "with transaction.park.enable=false: the pause before a held produce request tries again",
        at_least=1,
    )
    add_partitions_to_txn_retry_backoff_max_ms = integer(
        100,
        "with transaction.park.enable=false: how long a produce request is held in all",
        at_least=0,
    )


def _check_policy(policy: str) -> str | None:
    known = policy.lower() in {"disabled", "downgrade", "upgrade", "bidirectional"}
    return None if known else "it is not one of them"
