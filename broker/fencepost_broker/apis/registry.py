"""Every API that the broker serves: one line each, and nowhere else.

What stands here is what ApiVersions advertises (in the range of ``apis.Api.advertised``) and what
the support table of the docs lists as served.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from fencepost_protocol.apis import Api, Message
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.api_versions import api_versions
from fencepost_broker.apis.fetch import fetch
from fencepost_broker.apis.metadata import metadata
from fencepost_broker.apis.offsets import list_offsets
from fencepost_broker.apis.produce import produce
from fencepost_broker.apis.remembered import RememberedAnswers
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.apis.topics import create_topics, delete_topics
from fencepost_broker.authorizing.authorizer import Authorizer
from fencepost_broker.cluster_action import ClusterAction
from fencepost_broker.controller.image import Image
from fencepost_broker.fetch_sessions import FetchSessions
from fencepost_broker.flushes import Flushes
from fencepost_broker.log import LogManager
from fencepost_broker.log_levels import LogLevels
from fencepost_broker.metrics import Metrics
from fencepost_broker.other_brokers import OtherBrokers
from fencepost_broker.partitions import PartitionTable
from fencepost_broker.producer_ids import ProducerIdSource
from fencepost_broker.replicas import Replicas
from fencepost_broker.settings import Settings
from fencepost_broker.settings.version_caps import parse_version_caps
from fencepost_broker.warnings_once import WarningsOnce

if TYPE_CHECKING:
    from fencepost_broker.controlling.local import LocalController
    from fencepost_broker.coordination.runtime import Coordination
    from fencepost_broker.node_core import Address


@dataclass(frozen=True, slots=True)
class Features:
    """Feature levels (KIP-584)."""

    supported: Mapping[str, tuple[int, int]]
    finalized: Mapping[str, int]
    epoch: int
    """Grows with every change, so that clients know whether they have the latest."""


class Timer(Protocol):
    """A call that will be made, unless it is cancelled."""

    def cancel(self) -> None:
        """Do not make it."""


class Broker(Protocol):
    """What handlers may use of the node."""

    node_id: int
    cluster_id: str
    settings: Settings
    image: Image
    table: PartitionTable
    manager: LogManager
    producer_ids: ProducerIdSource
    fetch_sessions: FetchSessions
    replicas: Replicas
    others: OtherBrokers
    metrics: Metrics
    flushes: Flushes
    log_levels: LogLevels
    warnings: WarningsOnce
    authorizer: Authorizer | None
    """Who decides what users may do; without one they may do everything."""
    cluster_action: ClusterAction
    """Who may ask what only brokers ask."""
    speaks_for_controller: bool
    """Whoever asks here asks the controller, which decides about all brokers."""
    controller_addresses: Sequence[Address]
    """Where brokers reach the controller that is here; none may join one without."""
    remembered: Mapping[int, RememberedAnswers]
    """By API key, of those that have any."""

    @property
    def features(self) -> Features:
        """Supported and finalized features as they are now."""

    @property
    def coordination(self) -> Coordination:
        """The coordinators of groups and transactions."""

    @property
    def versions(self) -> Mapping[int, tuple[int, int]]:
        """The lowest and the highest version of what is served, by API key."""

    def now_ms(self) -> int:
        """State time."""

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Timer:
        """Wire time: make a call after so many milliseconds."""

    def command(self, message: Message) -> Any:
        """Let the controller decide; gives its answer once the records are in the log."""

    @property
    def decider(self) -> LocalController:
        """The controller, where it is in this process."""

    def is_internal(self, topic: str) -> bool:
        """Whether it is a coordinator's topic."""

    def auto_create(self, topics: Sequence[str]) -> None:
        """A client asked for topics that do not exist: create them if that is allowed."""

    def advertised_brokers(
        self, listener: str, *, fenced: bool = False
    ) -> Iterable[tuple[int, str, int, str | None]]:
        """Id, host, port and rack of each broker, by the listener that the client uses."""


class Later:
    """A handler whose module its first request imports: starting does not wait for it."""

    __slots__ = ("_handler", "_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name
        self._handler: Callable[[Any, Request], Pieces | None] | None = None

    def __call__(self, broker: Any, request: Request) -> Pieces | None:
        """Answer a request."""
        return (self._handler or self.load())(broker, request)

    def load(self) -> Callable[[Any, Request], Pieces | None]:
        """The handler itself."""
        loaded: Callable[[Any, Request], Pieces | None]
        loaded = getattr(importlib.import_module(self._module), self._name)
        self._handler = loaded
        return loaded


@dataclass(frozen=True, slots=True)
class Served:
    """One API and who answers it."""

    key: ApiKey
    handler: Callable[[Any, Request], Pieces | None]
    version_cap: int | None = None
    """The highest version that may be used, where that is not the highest there is."""
    is_passed_on: bool = False
    """The controller answers it, which is another process."""

    @property
    def versions(self) -> tuple[int, int]:
        """What is advertised."""
        api = Api.of(self.key)
        assert api is not None
        low, high = api.advertised
        return low, high if self.version_cap is None else min(high, self.version_cap)

    @property
    def accepted(self) -> tuple[int, int]:
        """What its handler takes; below the schema's range there is no layout to read by."""
        if self.key is ApiKey.API_VERSIONS:
            return -(1 << 15), (1 << 15) - 1  # it answers every version
        api = Api.of(self.key)
        assert api is not None
        return api.min_version, self.versions[1]


SERVED: Final = (
    Served(ApiKey.PRODUCE, produce),
    Served(ApiKey.FETCH, fetch),
    Served(ApiKey.LIST_OFFSETS, list_offsets),
    Served(ApiKey.METADATA, metadata),
    Served(ApiKey.OFFSET_COMMIT, Later("fencepost_broker.apis.group_offsets", "offset_commit")),
    Served(ApiKey.OFFSET_FETCH, Later("fencepost_broker.apis.group_offsets", "offset_fetch")),
    Served(
        ApiKey.FIND_COORDINATOR,
        Later("fencepost_broker.apis.find_coordinator", "find_coordinator"),
    ),
    Served(ApiKey.JOIN_GROUP, Later("fencepost_broker.apis.groups", "join_group")),
    Served(ApiKey.HEARTBEAT, Later("fencepost_broker.apis.groups", "heartbeat")),
    Served(ApiKey.LEAVE_GROUP, Later("fencepost_broker.apis.groups", "leave_group")),
    Served(ApiKey.SYNC_GROUP, Later("fencepost_broker.apis.groups", "sync_group")),
    Served(ApiKey.DESCRIBE_GROUPS, Later("fencepost_broker.apis.groups", "describe_groups")),
    Served(ApiKey.LIST_GROUPS, Later("fencepost_broker.apis.groups", "list_groups")),
    Served(ApiKey.SASL_HANDSHAKE, Later("fencepost_broker.apis.logins", "sasl_handshake")),
    Served(ApiKey.API_VERSIONS, api_versions),
    Served(ApiKey.CREATE_TOPICS, create_topics),
    Served(ApiKey.DELETE_TOPICS, delete_topics),
    Served(ApiKey.DELETE_RECORDS, Later("fencepost_broker.apis.records", "delete_records")),
    Served(
        ApiKey.INIT_PRODUCER_ID, Later("fencepost_broker.apis.producer_ids", "init_producer_id")
    ),
    Served(
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        Later("fencepost_broker.apis.epochs", "offset_for_leader_epoch"),
    ),
    Served(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        Later("fencepost_broker.apis.transactions", "add_partitions_to_txn"),
    ),
    Served(
        ApiKey.ADD_OFFSETS_TO_TXN, Later("fencepost_broker.apis.transactions", "add_offsets_to_txn")
    ),
    Served(ApiKey.END_TXN, Later("fencepost_broker.apis.transactions", "end_txn")),
    Served(ApiKey.WRITE_TXN_MARKERS, Later("fencepost_broker.apis.markers", "write_txn_markers")),
    Served(
        ApiKey.TXN_OFFSET_COMMIT,
        Later("fencepost_broker.apis.txn_offset_commit", "txn_offset_commit"),
    ),
    Served(ApiKey.DESCRIBE_ACLS, Later("fencepost_broker.apis.acls", "describe_acls")),
    Served(ApiKey.CREATE_ACLS, Later("fencepost_broker.apis.acls", "create_acls")),
    Served(ApiKey.DELETE_ACLS, Later("fencepost_broker.apis.acls", "delete_acls")),
    Served(ApiKey.DESCRIBE_CONFIGS, Later("fencepost_broker.apis.configs", "describe_configs")),
    Served(ApiKey.ALTER_CONFIGS, Later("fencepost_broker.apis.configs", "alter_configs")),
    Served(
        ApiKey.ALTER_REPLICA_LOG_DIRS,
        Later("fencepost_broker.apis.log_dirs", "alter_replica_log_dirs"),
    ),
    Served(ApiKey.DESCRIBE_LOG_DIRS, Later("fencepost_broker.apis.log_dirs", "describe_log_dirs")),
    Served(ApiKey.SASL_AUTHENTICATE, Later("fencepost_broker.apis.logins", "sasl_authenticate")),
    Served(
        ApiKey.CREATE_PARTITIONS,
        Later("fencepost_broker.apis.topic_partitions", "create_partitions"),
    ),
    Served(ApiKey.DELETE_GROUPS, Later("fencepost_broker.apis.groups", "delete_groups")),
    Served(ApiKey.ELECT_LEADERS, Later("fencepost_broker.apis.cluster", "elect_leaders")),
    Served(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        Later("fencepost_broker.apis.configs", "incremental_alter_configs"),
    ),
    Served(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        Later("fencepost_broker.apis.reassignments", "alter_partition_reassignments"),
    ),
    Served(
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        Later("fencepost_broker.apis.reassignments", "list_partition_reassignments"),
    ),
    Served(ApiKey.OFFSET_DELETE, Later("fencepost_broker.apis.group_offsets", "offset_delete")),
    Served(
        ApiKey.DESCRIBE_CLIENT_QUOTAS,
        Later("fencepost_broker.apis.client_quotas", "describe_client_quotas"),
    ),
    Served(
        ApiKey.ALTER_CLIENT_QUOTAS,
        Later("fencepost_broker.apis.client_quotas", "alter_client_quotas"),
    ),
    Served(
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        Later("fencepost_broker.apis.scram_users", "describe_user_scram_credentials"),
    ),
    Served(
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        Later("fencepost_broker.apis.scram_users", "alter_user_scram_credentials"),
    ),
    Served(ApiKey.DESCRIBE_QUORUM, Later("fencepost_broker.apis.quorum", "describe_quorum")),
    Served(ApiKey.UPDATE_FEATURES, Later("fencepost_broker.apis.features", "update_features")),
    Served(ApiKey.DESCRIBE_CLUSTER, Later("fencepost_broker.apis.cluster", "describe_cluster")),
    Served(
        ApiKey.DESCRIBE_PRODUCERS, Later("fencepost_broker.apis.producers", "describe_producers")
    ),
    Served(
        ApiKey.DESCRIBE_TRANSACTIONS,
        Later("fencepost_broker.apis.transaction_listing", "describe_transactions"),
    ),
    Served(ApiKey.UNREGISTER_BROKER, Later("fencepost_broker.apis.controller", "command")),
    Served(
        ApiKey.LIST_TRANSACTIONS,
        Later("fencepost_broker.apis.transaction_listing", "list_transactions"),
    ),
    Served(
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        Later("fencepost_broker.apis.consumer_groups", "consumer_group_heartbeat"),
    ),
    Served(
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        Later("fencepost_broker.apis.consumer_groups", "consumer_group_describe"),
    ),
    Served(
        ApiKey.LIST_CONFIG_RESOURCES,
        Later("fencepost_broker.apis.configs", "list_config_resources"),
    ),
    Served(
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        Later("fencepost_broker.apis.topic_partitions", "describe_topic_partitions"),
    ),
)


def served(settings: Settings) -> tuple[Served, ...]:
    """What a broker with these settings serves: ``SERVED``, some of it only up to a version.

    Where the controller is another process, what it answers is passed on to it.
    """
    caps = parse_version_caps(settings.api_versions_max)
    apis = tuple(replace(api, version_cap=caps.get(api.key)) for api in SERVED)
    if "controller" in settings.process_roles:
        return apis
    from fencepost_broker.controlling.forwarding import passed_on

    return tuple(map(passed_on, apis))
