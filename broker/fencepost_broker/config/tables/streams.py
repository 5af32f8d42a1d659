"""Settings of streams groups (KIP-1071)."""

from __future__ import annotations

from fencepost_broker.config.setting import Scope, integer
from fencepost_broker.config.values.units import INT_MAX


class StreamsGroupSettings:
    """Streams groups: their members and their tasks."""

    group_streams_assignment_interval_ms = integer(
        1000,
        "KIP-1071: how often a streams group may get a new assignment",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    group_streams_heartbeat_interval_ms = integer(
        5000, "KIP-1071: how often members must send a heartbeat", at_least=1
    )
    group_streams_initial_rebalance_delay_ms = integer(
        0,
        "KIP-1071: how long a new group waits for more members before its first assignment",
        at_least=0,
        kafka=3000,
        because="a test should not wait three seconds for members that never come",
    )
    group_streams_max_assignment_interval_ms = integer(
        15_000, "KIP-1071: the longest assignment interval a group may be set to", at_least=0
    )
    group_streams_max_heartbeat_interval_ms = integer(
        15_000, "KIP-1071: the longest heartbeat interval a group may be set to", at_least=1
    )
    group_streams_max_session_timeout_ms = integer(
        60_000, "KIP-1071: the longest session timeout a group may be set to", at_least=1
    )
    group_streams_max_size = integer(
        INT_MAX, "KIP-1071: how many members a streams group may have", at_least=1
    )
    group_streams_max_standby_replicas = integer(
        2, "KIP-1071: the most copies of a task's state a group may be set to", at_least=0
    )
    group_streams_min_assignment_interval_ms = integer(
        0, "KIP-1071: the shortest assignment interval a group may be set to", at_least=0
    )
    group_streams_min_heartbeat_interval_ms = integer(
        5000, "KIP-1071: the shortest heartbeat interval a group may be set to", at_least=1
    )
    group_streams_min_session_timeout_ms = integer(
        45_000, "KIP-1071: the shortest session timeout a group may be set to", at_least=1
    )
    group_streams_num_standby_replicas = integer(
        0, "KIP-1071: how many copies of a task's state other processes keep", at_least=0
    )
    group_streams_session_timeout_ms = integer(
        45_000, "KIP-1071: how long without a heartbeat before a member is removed", at_least=1
    )
