"""What applying records to the metadata image changed, one entry for each thing."""

from enum import Enum
from typing import NamedTuple, TypeAlias

from fencepost_broker.metadata.image.model import Broker, Partition


class TopicCreated(NamedTuple):
    """A topic came into being, without partitions yet."""

    topic_id: bytes
    name: str


class TopicDeleted(NamedTuple):
    """A topic went away, its partitions and its settings with it."""

    topic_id: bytes
    name: str
    partitions: tuple[Partition, ...]


class PartitionChanged(NamedTuple):
    """A partition came into being (``before`` is None) or is led or held differently."""

    topic_id: bytes
    name: str
    before: Partition | None
    after: Partition


class ConfigChanged(NamedTuple):
    """A setting was given a value, or lost it (``value`` is None)."""

    resource_type: int
    resource_name: str
    name: str
    value: str | None


class BrokerChanged(NamedTuple):
    """A broker registered (again), was fenced or unfenced, or is gone (``after`` is None)."""

    broker_id: int
    before: Broker | None
    after: Broker | None


class FeatureChanged(NamedTuple):
    """A feature's finalized level is another one; 0 is off."""

    name: str
    level: int


class ProducerIdsChanged(NamedTuple):
    """A block of producer ids was given away."""

    broker_id: int
    broker_epoch: int
    next_producer_id: int


class OtherChange(Enum):
    """That something changed, and no more: its readers look at the whole image."""

    CLIENT_QUOTAS = "a client quota was set or removed"
    SCRAM = "a user's SCRAM credential was set or removed"
    DELEGATION_TOKENS = "a delegation token was made, renewed or removed"
    ACLS = "an ACL was added or removed"


Change: TypeAlias = (
    TopicCreated
    | TopicDeleted
    | PartitionChanged
    | ConfigChanged
    | BrokerChanged
    | FeatureChanged
    | ProducerIdsChanged
    | OtherChange
)
Changes: TypeAlias = tuple[Change, ...]
