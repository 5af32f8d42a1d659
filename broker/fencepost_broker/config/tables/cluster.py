"""Settings of replicas and of the controller."""

from __future__ import annotations

from typing import Final

from fencepost_broker.config.setting import (
    Kind,
    Scope,
    Setting,
    boolean,
    integer,
    long,
    string,
    strings,
)
from fencepost_broker.config.tables.without_effect import VOTERS, kept
from fencepost_broker.config.values.units import MIB
from fencepost_broker.config.values.value_text import check_form

_SERVER: Final = r"(\[[^\]]+\]|[^:\[\]/@]+):[0-9]+"
_VOTER: Final = rf"[0-9]+@{_SERVER}"
_SNAPSHOTS: Final = "the last two metadata snapshots are kept, and the records after the older one"


class ReplicaSettings:
    """Replication between brokers."""

    replica_lag_time_max_ms = long(30_000, "how long a follower may lag before it leaves the ISR")
    replica_fetch_max_bytes = integer(
        MIB, "how much of a partition a follower asks for at once", at_least=0
    )
    replica_fetch_min_bytes = integer(
        1, "the least size of a fetch response that a follower waits for"
    )
    replica_fetch_wait_max_ms = integer(500, "how long a follower waits for that size")
    replica_fetch_response_max_bytes = integer(
        10 * MIB, "how much of all partitions a follower asks for at once", at_least=0
    )
    replica_fetch_backoff_ms = integer(
        1000, "how long a follower pauses after failed fetches at most", at_least=0
    )
    replica_high_watermark_checkpoint_interval_ms = kept(
        Kind.LONG,
        5000,
        "high watermarks are written as log.flush.offset.checkpoint.interval.ms says",
    )
    replica_socket_timeout_ms = integer(30_000, "how long a follower waits for an answer")
    replica_socket_receive_buffer_bytes = integer(
        64 * 1024, "the system's receive buffer of a follower's connection", ignored=True
    )
    replica_selector_class: Setting[str | None] = string(
        None,
        "the class that chooses the replica for a consumer; names that end in"
        " RackAwareReplicaSelector are supported",
        check=lambda name: _check_selector(name),
        range_text="RackAwareReplicaSelector or LeaderSelector",
    )
    auto_leader_rebalance_enable = boolean(
        True, "whether leadership goes back to the preferred replica automatically"
    )
    leader_imbalance_check_interval_seconds = long(
        300, "how often the controller checks whether leadership should go back", at_least=1
    )
    unclean_leader_election_interval_ms = long(
        300_000,
        "how often the controller checks for partitions that need an unclean election",
        at_least=1,
        internal=True,
    )


class ControllerSettings:
    """Registration of brokers, and the metadata log."""

    broker_heartbeat_interval_ms = integer(
        2000, "how often a broker sends a heartbeat to the controller"
    )
    broker_session_timeout_ms = integer(
        9000, "how long without a heartbeat before a broker is fenced"
    )
    initial_broker_registration_timeout_ms = integer(
        60_000, "how long a broker tries to register at its start"
    )
    controlled_shutdown_enable = boolean(
        True, "whether a broker hands over its leaderships before it stops"
    )
    controller_quorum_voters: Setting[tuple[str, ...]] = strings(
        (),
        "the controllers that vote",
        check=lambda words: check_form(words, _VOTER, "ID@HOST:PORT"),
        range_text="ID@HOST:PORT each",
    )
    controller_quorum_bootstrap_servers: Setting[tuple[str, ...]] = strings(
        (),
        "addresses of controllers",
        check=lambda words: check_form(words, _SERVER, "HOST:PORT"),
        range_text="HOST:PORT each",
    )
    controller_quorum_election_timeout_ms = kept(Kind.INT, 1000, VOTERS, at_least=0)
    controller_quorum_election_backoff_max_ms = kept(Kind.INT, 1000, VOTERS, at_least=0)
    controller_quorum_fetch_timeout_ms = kept(Kind.INT, 2000, VOTERS, at_least=0)
    controller_quorum_request_timeout_ms = integer(
        2000, "how long controllers wait for each other's answers", at_least=0
    )
    controller_quorum_retry_backoff_ms = kept(Kind.INT, 20, VOTERS, at_least=0)
    controller_quorum_append_linger_ms = kept(
        Kind.INT, 25, "the controller writes each decision at once", at_least=0
    )
    controller_socket_timeout_ms = integer(30_000, "how long a broker waits for the controller")
    metadata_log_segment_bytes = integer(
        1 << 30, "the size of a segment of the metadata log", at_least=8 * MIB
    )
    metadata_log_segment_ms = long(604_800_000, "the age at which a segment of it ends")
    metadata_log_max_record_bytes_between_snapshots = long(
        20 * MIB, "after how many bytes of new records a metadata snapshot is written", at_least=1
    )
    metadata_log_max_snapshot_interval_ms = long(
        3_600_000, "after how much time a metadata snapshot is written", at_least=0
    )
    metadata_max_retention_bytes = kept(Kind.LONG, 100 * MIB, _SNAPSHOTS)
    metadata_max_retention_ms = kept(Kind.LONG, 604_800_000, _SNAPSHOTS)
    metadata_max_idle_interval_ms = kept(
        Kind.INT, 500, "an idle metadata log gets no records", at_least=0
    )
    cordoned_log_dirs: Setting[tuple[str, ...]] = strings(
        (),
        "data directories that get no new replicas",
        scope=Scope.PER_BROKER,
        ignored=True,
    )


def _check_selector(name: str) -> str | None:
    known = name.endswith(("RackAwareReplicaSelector", "LeaderSelector"))
    return None if known else "no other class can be loaded"
