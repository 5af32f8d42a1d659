"""What the metadata image is made of.

All but ``Topic`` are tuples: a record that changes one puts another in its place, so whoever holds
one keeps what was true when it was looked up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, NamedTuple

from fencepost_protocol.primitives import ZERO_UUID

NO_LEADER: Final = -1
UNASSIGNED_DIRECTORY: Final = ZERO_UUID
"""The log directory of a replica whose broker has not said yet where it is (KIP-858)."""


class InconsistentMetadataError(Exception):
    """A record contradicts those before it: the log is damaged or not from one cluster."""


class ResourceType(IntEnum):
    """What a setting belongs to: the numbers of the configuration APIs and of ConfigRecord."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class Partition(NamedTuple):
    """One partition: who holds it and who leads it."""

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


@dataclass(slots=True)
class Topic:
    """One topic; the image adds partitions to it and exchanges them, and nobody else."""

    name: str
    topic_id: bytes
    partitions: dict[int, Partition] = field(default_factory=dict)

    def in_order(self) -> list[Partition]:
        """The partitions by their number."""
        return [self.partitions[number] for number in sorted(self.partitions)]


class Endpoint(NamedTuple):
    """Where a broker or controller listens."""

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

    Features are in the order of their names: it means nothing, and Kafka's changes from time to
    time.
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
    """The latest block of producer ids: who got it, and where the next one begins (KIP-730)."""

    broker_id: int = -1
    broker_epoch: int = -1
    next_producer_id: int = 0
