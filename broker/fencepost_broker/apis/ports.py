"""What handlers may use of the broker that they answer for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from fencepost_protocol.apis import Message

from fencepost_broker.apis.authorization.cluster_action import ClusterAction
from fencepost_broker.apis.fetch.sessions import FetchSessions
from fencepost_broker.config import Settings
from fencepost_broker.coordinator.runtime.peer_brokers import PeerBrokers
from fencepost_broker.coordinator.transaction.producer_id_manager import ProducerIdSource
from fencepost_broker.metadata.image import MetadataImage
from fencepost_broker.observability.log_levels import LogLevels
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.observability.one_time_warnings import OneTimeWarnings
from fencepost_broker.replication.partition import PartitionTable
from fencepost_broker.replication.replicated_partitions import ReplicatedPartitions
from fencepost_broker.security.authorizer.authorizer import Authorizer
from fencepost_broker.storage.flush_scheduler import FlushScheduler
from fencepost_broker.storage.log import LogManager

if TYPE_CHECKING:
    from fencepost_broker.controller.channel.local import LocalController
    from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
    from fencepost_broker.ports import Address, Timer


@dataclass(frozen=True, slots=True)
class Features:
    """Feature levels (KIP-584)."""

    supported: Mapping[str, tuple[int, int]]
    finalized: Mapping[str, int]
    epoch: int
    """Grows with every change, so that clients know whether they have the latest."""


class Broker(Protocol):
    """What handlers may use of the node."""

    node_id: int
    cluster_id: str
    settings: Settings
    image: MetadataImage
    table: PartitionTable
    manager: LogManager
    producer_ids: ProducerIdSource
    fetch_sessions: FetchSessions
    replicas: ReplicatedPartitions
    others: PeerBrokers
    metrics: Metrics
    flushes: FlushScheduler
    log_levels: LogLevels
    warnings: OneTimeWarnings
    authorizer: Authorizer | None
    """Who decides what users may do; without one they may do everything."""
    cluster_action: ClusterAction
    """Who may ask what only brokers ask."""
    speaks_for_controller: bool
    """Whoever asks here asks the controller, which decides about all brokers."""
    controller_addresses: Sequence[Address]
    """Where brokers reach the controller that is here; none may join one without."""

    @property
    def features(self) -> Features:
        """Supported and finalized features as they are now."""

    @property
    def coordination(self) -> CoordinatorRuntime:
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
