"""Brokers, topics, partitions: the parts of the metadata image.

All are tuples. A record that changes one puts another in its place, so a tuple that was looked up
stays as it was; only a topic's partitions change with the image.
"""

from enum import IntEnum
from typing import Final, NamedTuple

from fencepost_protocol.primitives import ZERO_UUID

NO_LEADER: Final = -1
UNASSIGNED_DIRECTORY: Final = ZERO_UUID
"""The log directory of a replica as long as its broker has not named one (KIP-858)."""


class InconsistentMetadataError(Exception):
    """A record contradicts those before it: the log is damaged or not from one cluster."""


class ResourceType(IntEnum):
    """The kinds of resources that have settings, by their numbers in APIs and ConfigRecord."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class Partition(NamedTuple):
    """One partition: its replicas and its leader."""

    partition_id: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    directories: tuple[bytes, ...]
    removing_replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    leader_recovery_state: int = 0
    eligible_leader_replicas: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()


class Topic(NamedTuple):
    """One topic; only the image adds partitions to it and exchanges them."""

    name: str
    topic_id: bytes
    partitions: dict[int, Partition]

    def in_order(self) -> list[Partition]:
        """Return the partitions in the order of their numbers."""
        return [self.partitions[number] for number in sorted(self.partitions)]


class Endpoint(NamedTuple):
    """An address at which a broker or controller listens."""

    name: str
    host: str
    port: int
    security_protocol: int = 0


class FeatureRange(NamedTuple):
    """The levels of one feature that a broker or controller supports."""

    name: str
    min_level: int
    max_level: int


class Broker(NamedTuple):
    """A broker's registration; its epoch is the offset of the record that made it.

    Features are sorted by name, since Kafka's order of them has no meaning and changes.
    """

    broker_id: int
    epoch: int
    incarnation_id: bytes
    endpoints: tuple[Endpoint, ...]
    features: tuple[FeatureRange, ...]
    rack: str | None = None
    fenced: bool = True
    in_controlled_shutdown: bool = False
    log_dirs: tuple[bytes, ...] = ()
    cordoned_log_dirs: tuple[bytes, ...] | None = None
    is_migrating_zk_broker: bool = False

    @property
    def is_active(self) -> bool:
        """Whether it may lead partitions."""
        return not self.fenced and not self.in_controlled_shutdown


class ProducerIds(NamedTuple):
    """The latest block of producer ids: the broker that got it, and the next block's first id."""

    broker_id: int = -1
    broker_epoch: int = -1
    next_producer_id: int = 0
