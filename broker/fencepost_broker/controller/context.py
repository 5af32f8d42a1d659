"""What every decision of the controller looks at, and the records that several of them write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.primitives import uuid_text

from fencepost_broker.controller.image import Image
from fencepost_broker.controller.model import UNASSIGNED_DIRECTORY, ResourceType
from fencepost_broker.controller.placement import PlacementError, place_replicas
from fencepost_broker.controller.ports import Chance, ConfigRules, ControllerSettings
from fencepost_broker.machine import MetadataRecord

if TYPE_CHECKING:
    from fencepost_protocol.generated.create_topics import CreatableTopicConfigs

PARTITION_VERSION: Final = 2
"""Version of PartitionRecord and PartitionChangeRecord, as Kafka 4.3 writes them."""

TOO_MANY_PARTITIONS: Final = "Excessively large number of partitions per request."
TOO_MANY_RECORDS: Final = "Unable to perform excessively large batch operation."


class Refusal(Exception):  # noqa: N818 (it travels no further than to the answer it becomes)
    """Why one thing among those asked for is not done: an error code and its message."""

    def __init__(self, code: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(slots=True)
class Context:
    """The image as it is now, the rules, and chance."""

    image: Image
    settings: ControllerSettings
    rules: ConfigRules
    chance: Chance

    def active(self, broker_ids: Sequence[int]) -> list[int]:
        """Those of the brokers that may lead and be in sync."""
        brokers = self.image.brokers
        return [each for each in broker_ids if each in brokers and brokers[each].is_active]

    def directory(self, broker_id: int) -> bytes:
        """Where a broker will put a new replica, if it has one directory only (KIP-858)."""
        broker = self.image.brokers[broker_id]
        return broker.log_dirs[0] if len(broker.log_dirs) == 1 else UNASSIGNED_DIRECTORY

    def new_partition(
        self, topic_id: bytes, partition_id: int, replicas: Sequence[int], isr: Sequence[int]
    ) -> MetadataRecord:
        """The record of a partition that begins to exist; the first in sync leads it."""
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

    def new_topic_id(self) -> bytes:
        """A random uuid (version 4) that no topic has and that prints well."""
        while True:
            raw = bytearray(self.chance.randbytes(16))
            raw[6] = raw[6] & 0x0F | 0x40
            raw[8] = raw[8] & 0x3F | 0x80
            found = bytes(raw)
            # A leading '-' would look like an option where an id is typed into a command line.
            if found not in self.image.topics_by_id and not uuid_text(found).startswith("-"):
                return found

    def describe_topic(self, configs: Mapping[str, str]) -> list[CreatableTopicConfigs]:
        """All settings of a topic that has these of its own."""
        of = self.image.config
        broker = of(ResourceType.BROKER, str(self.settings.node_id))
        return self.rules.describe_topic(configs, broker, of(ResourceType.BROKER, ""))

    def place(self, partition_count: int, factor: int) -> list[tuple[list[int], list[int]]]:
        """Replicas of new partitions and those of them in sync; raises a Refusal."""
        code = ErrorCode.INVALID_REPLICATION_FACTOR
        brokers = self.image.brokers.values()
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
                    f"Unable to replicate the partition {factor} time(s): All brokers are "
                    "currently fenced or in controlled shutdown.",
                )
            found.append((replicas, isr))
        return found

    def manual_isr(self, replicas: Sequence[int], partition_id: int) -> list[int]:
        """Those in sync of a checked manual assignment; raises a Refusal when there are none."""
        isr = self.active(replicas)
        if not isr:
            raise Refusal(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "All brokers specified in the manual partition assignment for partition "
                f"{partition_id} are fenced or in controlled shutdown.",
            )
        return isr

    def check_manual(self, replicas: Sequence[int], replication_factor: int | None) -> None:
        """Raises a Refusal when somebody's own assignment of one partition cannot be."""
        problem = None
        if not replicas:
            problem = "an empty replica list."
        elif repeated := [each for each in sorted(replicas) if replicas.count(each) > 1]:
            problem = f"the broker {repeated[0]} more than once."
        elif unknown := [each for each in sorted(replicas) if each not in self.image.brokers]:
            problem = f"broker {unknown[0]}, but no such broker is registered."
        elif replication_factor is not None and len(replicas) != replication_factor:
            problem = (
                f"a partition with {len(replicas)} replica(s), but this is not consistent with "
                f"previous partitions, which have {replication_factor} replica(s)."
            )
        if problem is not None:
            raise Refusal(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"The manual partition assignment includes {problem}",
            )
