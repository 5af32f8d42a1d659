"""How long a request may be that is one decision.

Such a request is decided in one turn of the loop, so its length is how long other clients wait.
Apache Kafka's controller refuses more than 10,000 records of one request (POLICY_VIOLATION), and a
group of Kafka's keeps no member whose record does not fit into a batch. The bound here is for the
elements of a large request, which are counted in the thread that has decoded it. Frames below the
sizes of ``large_requests`` are not counted: 256 KB of the requests that come often are decided in
some 50 ms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.error_responses import refused
from fencepost_broker.controller.ports import ControllerSettings
from fencepost_broker.network.large_requests.produce import unless_in_transaction

ELEMENTS_MAX: Final = ControllerSettings().records_per_request_max
_MOST: Final = {ApiKey.FETCH: 100_000}
"""Where more are allowed: a follower may ask for all partitions of a large broker."""
_BOUNDED: Final[Mapping[ApiKey, tuple[ErrorCode, tuple[str, ...]]]] = MappingProxyType(
    {
        ApiKey.PRODUCE: (ErrorCode.INVALID_REQUEST, ("topic_data.partition_data",)),
        ApiKey.CREATE_TOPICS: (ErrorCode.POLICY_VIOLATION, ("topics",)),
        ApiKey.CREATE_PARTITIONS: (ErrorCode.POLICY_VIOLATION, ("topics",)),
        ApiKey.ALTER_CONFIGS: (ErrorCode.POLICY_VIOLATION, ("resources",)),
        ApiKey.INCREMENTAL_ALTER_CONFIGS: (ErrorCode.POLICY_VIOLATION, ("resources",)),
        ApiKey.CREATE_ACLS: (ErrorCode.POLICY_VIOLATION, ("creations",)),
        ApiKey.DELETE_TOPICS: (ErrorCode.POLICY_VIOLATION, ("topics", "topic_names")),
        ApiKey.DESCRIBE_LOG_DIRS: (ErrorCode.INVALID_REQUEST, ("topics",)),
        ApiKey.FETCH: (ErrorCode.INVALID_REQUEST, ("topics.partitions",)),
        ApiKey.DELETE_ACLS: (ErrorCode.POLICY_VIOLATION, ("filters",)),
        ApiKey.ALTER_CLIENT_QUOTAS: (ErrorCode.POLICY_VIOLATION, ("entries.entity", "entries.ops")),
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS: (
            ErrorCode.POLICY_VIOLATION, ("deletions", "upsertions"),
        ),
        ApiKey.UPDATE_FEATURES: (ErrorCode.INVALID_REQUEST, ("feature_updates",)),
        ApiKey.JOIN_GROUP: (ErrorCode.INVALID_REQUEST, ("protocols",)),
        ApiKey.LEAVE_GROUP: (ErrorCode.INVALID_REQUEST, ("members",)),
        ApiKey.SYNC_GROUP: (ErrorCode.INVALID_REQUEST, ("assignments",)),
        ApiKey.CONSUMER_GROUP_HEARTBEAT: (
            ErrorCode.INVALID_REQUEST, ("subscribed_topic_names", "topic_partitions.partitions"),
        ),
        ApiKey.LIST_GROUPS: (ErrorCode.INVALID_REQUEST, ("states_filter", "types_filter")),
        ApiKey.LIST_TRANSACTIONS: (
            ErrorCode.INVALID_REQUEST, ("state_filters", "producer_id_filters"),
        ),
        ApiKey.OFFSET_COMMIT: (ErrorCode.INVALID_COMMIT_OFFSET_SIZE, ("topics.partitions",)),
        ApiKey.TXN_OFFSET_COMMIT: (ErrorCode.INVALID_COMMIT_OFFSET_SIZE, ("topics.partitions",)),
        ApiKey.LIST_PARTITION_REASSIGNMENTS: (
            ErrorCode.INVALID_REQUEST, ("topics.partition_indexes",),
        ),
        ApiKey.DESCRIBE_TOPIC_PARTITIONS: (ErrorCode.INVALID_REQUEST, ("topics",)),
        ApiKey.ADD_PARTITIONS_TO_TXN: (
            ErrorCode.INVALID_REQUEST,
            ("transactions.topics.partitions", "v3_and_below_topics.partitions"),
        ),
        ApiKey.OFFSET_FETCH: (
            ErrorCode.INVALID_REQUEST,
            ("topics.partition_indexes", "groups.topics.partition_indexes"),
        ),
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: (ErrorCode.INVALID_REQUEST, ("users",)),
        ApiKey.DESCRIBE_QUORUM: (ErrorCode.INVALID_REQUEST, ("topics.partitions",)),
        ApiKey.DESCRIBE_CLIENT_QUOTAS: (ErrorCode.INVALID_REQUEST, ("components",)),
    }
)  # fmt: skip
"""The code of those that are longer, and the lists that are bounded."""


def refused_as_too_long(key: int, message: Any, version: int) -> Message | None:
    """The answer to a request that is too long for one decision; ``None`` if it is not."""
    bound = _BOUNDED.get(ApiKey(key))
    if bound is None or (
        key == ApiKey.PRODUCE and unless_in_transaction(message, version) is not None
    ):
        return None
    code, names = bound
    most = _MOST.get(ApiKey(key), ELEMENTS_MAX)
    for name in names:
        count = _count(message, name.split("."))
        if count > most:
            words = f"one request may have {most} {name}, and this one has {count}: split it"
            return refused(ApiKey(key), message, version, code, words)
    return None


def _count(message: Any, names: Sequence[str]) -> int:
    elements = getattr(message, names[0]) or ()
    if len(names) == 1:
        return len(elements)
    return sum(max(1, _count(each, names[1:])) for each in elements)
