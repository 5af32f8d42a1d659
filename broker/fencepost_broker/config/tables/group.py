"""Settings of one group; missing ones are the broker's."""

from __future__ import annotations

import re
from typing import Final

from fencepost_broker.config.setting import Scope, boolean, integer, string
from fencepost_broker.config.table import Table

_DURATION: Final = (
    r"(?i)by_duration:P(?=.)([0-9]+D)?(T(?=.)([0-9]+H)?([0-9]+M)?([0-9]+([.][0-9]*)?S)?)?"
)


def _check_reset(given: str) -> str | None:
    known = given in ("latest", "earliest") or re.fullmatch(_DURATION, given)
    return None if known else "it is not one of them"


class SettingsOfGroup(Table, scope=Scope.GROUP):
    """Settings of a group; those in force are given as overrides of the broker's."""

    what = "group setting"

    consumer_session_timeout_ms = integer(
        45_000,
        "how long without a heartbeat before a member is removed",
        at_least=1,
        synonyms=(("group.consumer.session.timeout.ms", 1),),
    )
    consumer_heartbeat_interval_ms = integer(
        5000,
        "how often members must send a heartbeat",
        at_least=1,
        synonyms=(("group.consumer.heartbeat.interval.ms", 1),),
    )
    consumer_assignment_interval_ms = integer(
        1000,
        "how often the group may get a new assignment",
        at_least=0,
        synonyms=(("group.consumer.assignment.interval.ms", 1),),
    )

    share_session_timeout_ms = integer(
        45_000,
        "KIP-932: how long without a heartbeat before a member is removed",
        at_least=1,
        synonyms=(("group.share.session.timeout.ms", 1),),
    )
    share_heartbeat_interval_ms = integer(
        5000,
        "KIP-932: how often members must send a heartbeat",
        at_least=1,
        synonyms=(("group.share.heartbeat.interval.ms", 1),),
    )
    share_record_lock_duration_ms = integer(
        30_000,
        "KIP-932: how long records are locked for the member that has acquired them",
        at_least=1000,
        synonyms=(("group.share.record.lock.duration.ms", 1),),
    )
    share_delivery_count_limit = integer(
        5,
        "KIP-932: how often a record is delivered at most",
        at_least=2,
        synonyms=(("group.share.delivery.count.limit", 1),),
    )
    share_partition_max_record_locks = integer(
        2000,
        "KIP-932: how many records of a partition are in flight at most",
        at_least=100,
        synonyms=(("group.share.partition.max.record.locks", 1),),
    )
    share_auto_offset_reset = string(
        "latest",
        "KIP-932: where the group begins to read a partition",
        check=_check_reset,
        range_text="latest, earliest, or by_duration: and an ISO duration",
    )
    share_isolation_level = string(
        "read_uncommitted",
        "KIP-932: whether records of open and aborted transactions are delivered",
        one_of=("read_committed", "read_uncommitted"),
    )
    share_renew_acknowledge_enable = boolean(True, "KIP-1222: whether members may renew locks")
    share_assignment_interval_ms = integer(
        1000,
        "KIP-932: how often the group may get a new assignment",
        at_least=0,
        synonyms=(("group.share.assignment.interval.ms", 1),),
    )
    streams_session_timeout_ms = integer(
        45_000,
        "KIP-1071: how long without a heartbeat before a member is removed",
        at_least=1,
        synonyms=(("group.streams.session.timeout.ms", 1),),
    )
    streams_heartbeat_interval_ms = integer(
        5000,
        "KIP-1071: how often members must send a heartbeat",
        at_least=1,
        synonyms=(("group.streams.heartbeat.interval.ms", 1),),
    )
    streams_num_standby_replicas = integer(
        0,
        "KIP-1071: how many copies of a task's state other processes keep",
        at_least=0,
        synonyms=(("group.streams.num.standby.replicas", 1),),
    )
    streams_initial_rebalance_delay_ms = integer(
        3000,
        "KIP-1071: how long a new group waits for more members before its first assignment",
        at_least=0,
        synonyms=(("group.streams.initial.rebalance.delay.ms", 1),),
    )
    streams_assignment_interval_ms = integer(
        1000,
        "KIP-1071: how often the group may get a new assignment",
        at_least=0,
        synonyms=(("group.streams.assignment.interval.ms", 1),),
    )

    def contradictions(self) -> list[str]:
        """Return what is wrong: a member must be able to send a heartbeat in time."""
        problems = []
        for protocol in ("consumer", "share", "streams"):
            interval, timeout = (
                f"{protocol}.heartbeat.interval.ms",
                f"{protocol}.session.timeout.ms",
            )
            interval_ms, timeout_ms = self[interval], self[timeout]
            assert isinstance(interval_ms, int)
            assert isinstance(timeout_ms, int)
            if interval_ms >= timeout_ms:
                problems.append(f"{interval} ({interval_ms}) is not below {timeout} ({timeout_ms})")
        return problems
