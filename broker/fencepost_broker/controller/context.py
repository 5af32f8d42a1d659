"""Context of the controller's decisions, and records that several of them write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.primitives import uuid_text

from fencepost_broker.controller.placement import PlacementError, place_replicas
from fencepost_broker.controller.ports import ConfigRules, ControllerSettings, PartitionPermits
from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.features import MIN_INSYNC_SETTING, keeps_eligible
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import UNASSIGNED_DIRECTORY, ResourceType
from fencepost_broker.metadata.log.records import PARTITION_VERSION
from fencepost_broker.ports import Chance

if TYPE_CHECKING:
    from fencepost_protocol.generated.create_topics import CreatableTopicConfigs

_IDS_SHOWN: Final = 10
NAMES_TOLD: Final = 10
"""Names in a message, which must not grow with the request."""


class Refusal(Exception):  # noqa: N818 (it travels no further than to the answer it becomes)
    """Refusal of one entry of a request: an error code and its message."""

    def __init__(self, code: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def invalid_request(message: str) -> Refusal:
    """Return the refusal of a request that would be invalid in every cluster."""
    return Refusal(ErrorCode.INVALID_REQUEST, message)


def given_twice(what: str) -> Refusal:
    """Return the refusal of entries about the same thing: none of them is applied."""
    return invalid_request(
        f"{what} is in the request more than once: none of these entries was applied"
    )


def too_many_records(records_max: int) -> Refusal:
    """Return the refusal of a request that would write too many records."""
    return Refusal(
        ErrorCode.POLICY_VIOLATION,
        f"one request may write {records_max} metadata records (each topic, each partition and "
        "each setting is one), and this one needs more: split it",
    )


class Context(NamedTuple):
    """The current image, the rules, and randomness."""

    image: MetadataImage
    settings: ControllerSettings
    rules: ConfigRules
    chance: Chance
    permits: PartitionPermits | None = None
    """Those of the client whose request is decided; ``None``: it may create what it likes."""

    def charge(self, partitions: int) -> None:
        """Count partitions that are created or deleted; raises a Refusal above a quota."""
        if self.permits is not None:
            self.permits.take(partitions)

    def active(self, broker_ids: Sequence[int]) -> list[int]:
        """Return those brokers that may lead and be in sync."""
        return [each for each in broker_ids if self.is_active(each)]

    def is_active(self, broker_id: int) -> bool:
        """Return whether a broker may lead and be in sync."""
        broker = self.image.cluster.brokers.get(broker_id)
        return broker is not None and broker.is_active

    def directory(self, broker_id: int) -> bytes:
        """Return where a broker puts a new replica, if it has only one directory (KIP-858)."""
        broker = self.image.cluster.brokers[broker_id]
        return broker.log_dirs[0] if len(broker.log_dirs) == 1 else UNASSIGNED_DIRECTORY

    def new_partition(
        self, topic_id: bytes, partition_id: int, replicas: Sequence[int], isr: Sequence[int]
    ) -> MetadataRecord:
        """Return the record of a new partition; the first in-sync replica leads it."""
        # Not above: generated modules are imported on demand, for a quick start.
        from fencepost_protocol.generated.partition_record import PartitionRecord

        message = PartitionRecord(
            partition_id=partition_id,
            topic_id=topic_id,
            replicas=list(replicas),
            isr=list(isr),
            leader=isr[0],
            leader_epoch=0,
            partition_epoch=0,
            directories=[self.directory(broker_id) for broker_id in replicas],
        )
        return MetadataRecord(message, PARTITION_VERSION)

    def setting_records(
        self, kind: int, name: str, values: Mapping[str, str | None]
    ) -> list[MetadataRecord]:
        """Return records that set values of a resource; ``None`` removes a value."""
        from fencepost_protocol.generated.config_record import ConfigRecord

        records = [
            MetadataRecord(ConfigRecord(kind, name, key, value), 0) for key, value in values.items()
        ]
        if MIN_INSYNC_SETTING in values and keeps_eligible(self.image):
            from fencepost_protocol.generated.clear_elr_record import ClearElrRecord

            # ELRs depend on the value before.
            of_topic = name if kind == ResourceType.TOPIC else ""
            records.append(MetadataRecord(ClearElrRecord(of_topic), 0))
        return records

    def new_topic_id(self) -> bytes:
        """Return a random uuid that no topic has."""
        while True:
            found = self.new_uuid()
            if found not in self.image.topics.by_id:
                return found

    def new_uuid(self) -> bytes:
        """Return a random uuid (version 4) that prints well."""
        while True:
            raw = bytearray(self.chance.randbytes(16))
            raw[6] = raw[6] & 0x0F | 0x40
            raw[8] = raw[8] & 0x3F | 0x80
            # A leading '-' would look like an option where an id is typed into a command line.
            if not uuid_text(raw).startswith("-"):
                return bytes(raw)

    def describe_topic(self, configs: Mapping[str, str]) -> list[CreatableTopicConfigs]:
        """Return all settings of a topic with these settings of its own."""
        of = self.image.configs.of
        broker = of(ResourceType.BROKER, str(self.settings.node_id))
        return self.rules.describe_topic(configs, broker, of(ResourceType.BROKER, ""))

    def place(self, partition_count: int, factor: int) -> list[tuple[list[int], list[int]]]:
        """Return replicas and in-sync replicas of new partitions; raises a Refusal."""
        code = ErrorCode.INVALID_REPLICATION_FACTOR
        brokers = self.image.cluster.brokers.values()
        try:
            placed = place_replicas(brokers, partition_count, factor, self.chance)
        except PlacementError as error:
            raise Refusal(code, str(error)) from None
        found = []
        for replicas in placed:
            isr = self.active(replicas)
            if not isr:
                raise Refusal(
                    code,
                    "every broker is fenced or shutting down, so none can lead: wait until one "
                    "is up",
                )
            found.append((replicas, isr))
        return found

    def manual_isr(self, replicas: Sequence[int], partition_id: int) -> list[int]:
        """Return the in-sync replicas of a manual assignment; raises a Refusal without one."""
        isr = self.active(replicas)
        if not isr:
            raise Refusal(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"partition {partition_id} would have no leader: it is assigned to "
                f"{_listed(replicas)}, none of which is up",
            )
        return isr

    def check_manual(
        self, partition_id: int, replicas: Sequence[int], replication_factor: int | None
    ) -> None:
        """Raise a Refusal for an invalid manual assignment of a partition."""
        problem = None
        if not replicas:
            problem = "to no broker: name at least one"
        elif repeated := sorted(each for each, times in Counter(replicas).items() if times > 1):
            problem = f"to broker {repeated[0]} more than once: a broker holds one replica of it"
        elif unknown := [
            each for each in sorted(replicas) if each not in self.image.cluster.brokers
        ]:
            known = _listed(sorted(self.image.cluster.brokers))
            problem = f"to broker {unknown[0]}, which is not registered; registered: {known}"
        elif replication_factor is not None and len(replicas) != replication_factor:
            problem = (
                f"to {_listed(replicas)}: name as many brokers as for the topic's other "
                f"partitions, {replication_factor}"
            )
        if problem is not None:
            raise Refusal(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"partition {partition_id} is assigned {problem}",
            )


def _listed(broker_ids: Sequence[int]) -> str:
    """Return broker ids for a message, which must not grow with the cluster."""
    ids = ", ".join(map(str, broker_ids[:_IDS_SHOWN]))
    more = ", ..." if len(broker_ids) > _IDS_SHOWN else ""
    return f"broker {ids}{more}" if len(broker_ids) == 1 else f"brokers {ids}{more}"
