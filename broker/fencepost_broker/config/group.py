"""What can be set for one group of KIP-848; where it is not, the broker's setting holds."""

from __future__ import annotations

from fencepost_broker.config.setting import Scope, integer
from fencepost_broker.config.table import Table


class SettingsOfGroup(Table, scope=Scope.GROUP):
    """The settings of a group: those in force are given as overrides of the broker's."""

    what = "group setting"

    consumer_session_timeout_ms = integer(
        45_000,
        "after how much silence a member is out",
        at_least=1,
        synonyms=(("group.consumer.session.timeout.ms", 1),),
    )
    consumer_heartbeat_interval_ms = integer(
        5000,
        "how often members are told to send a heartbeat",
        at_least=1,
        synonyms=(("group.consumer.heartbeat.interval.ms", 1),),
    )
    consumer_assignment_interval_ms = integer(
        1000,
        "how often the group's partitions may be spread anew",
        at_least=0,
        synonyms=(("group.consumer.assignment.interval.ms", 1),),
    )

    def contradictions(self) -> list[str]:
        """A member must have a chance to be heard of in time."""
        if self.consumer_heartbeat_interval_ms < self.consumer_session_timeout_ms:
            return []
        return [
            f"consumer.heartbeat.interval.ms ({self.consumer_heartbeat_interval_ms}) is not below "
            f"consumer.session.timeout.ms ({self.consumer_session_timeout_ms})"
        ]
