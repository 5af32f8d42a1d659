"""Pre-registration (KIP-609): a transaction names its partitions when it begins.

The coordinator gets all partitions and the group with one request, so that no send has to wait for
it. EndTxn names the partitions that were written, so that only these get markers. Both use tagged
fields, for brokers with the feature ``fencepost.preregistration``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from fencepost_protocol.generated.end_txn import EndTxnTopic

from fencepost_client.errors import InvalidGroupIdError, UnknownTopicOrPartitionError
from fencepost_client.producer.response_codes import by_topic
from fencepost_client.requests.procedures import PartitionCounts, Procedure
from fencepost_client.types import TopicPartition

FEATURE: Final = "fencepost.preregistration"
OFFSETS_TOPIC: Final = "__consumer_offsets"


class Registration:
    """What a transaction registers. ``None`` is neither registered nor restricted."""

    def __init__(self, partitions: Iterable[TopicPartition] | None, group_id: str | None) -> None:
        self.partitions: frozenset[TopicPartition] | None = None
        if partitions is not None:
            self.partitions = frozenset(TopicPartition(*where) for where in partitions)
        if group_id is not None and not group_id:
            raise InvalidGroupIdError("group_id is empty: do not pass it if no offsets are sent.")
        self.group_id = group_id

    def check_topic(self, topic: str) -> None:
        """Raise an error unless the topic has a registered partition."""
        if self.partitions is not None and not any(topic == name for name, _ in self.partitions):
            raise UnknownTopicOrPartitionError(
                f"The transaction was begun without any partition of {topic!r}."
            )

    def check_partition(self, topic: str, partition: int) -> None:
        """Raise an error unless the partition is registered."""
        if self.partitions is not None and (topic, partition) not in self.partitions:
            raise UnknownTopicOrPartitionError(
                f"{topic}-{partition} is not one of the partitions that the transaction was begun "
                f"with."
            )

    def check_group(self, group_id: str) -> None:
        """Raise an error unless the group is registered."""
        if self.group_id is not None and group_id != self.group_id:
            raise InvalidGroupIdError(
                f"The transaction was begun with group {self.group_id!r}: offsets of {group_id!r} "
                f"cannot be sent."
            )


def offsets_partition(group_id: str, partition_count: int) -> int:
    """The partition of a group's offsets, by Java's hash of the name."""
    hashed = 0
    units = group_id.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        hashed = (hashed * 31 + (high << 8 | low)) & 0xFFFF_FFFF
    # As Java's abs(), but for the one int that has no positive counterpart.
    positive = hashed if hashed < 0x8000_0000 else 0x1_0000_0000 - hashed
    return 0 if positive == 0x8000_0000 else positive % partition_count


def what_was_written(
    partitions: Iterable[TopicPartition], groups: Collection[str]
) -> Procedure[list[EndTxnTopic] | None]:
    """Partitions for EndTxn: those written to, and those of the groups' offsets."""
    written = set(partitions)
    if groups:
        count = (yield PartitionCounts((OFFSETS_TOPIC,))).get(OFFSETS_TOPIC)
        if not count:
            return None  # then every registered partition gets a marker, which does no harm
        for group_id in groups:
            written.add(TopicPartition(OFFSETS_TOPIC, offsets_partition(group_id, count)))
    return [EndTxnTopic(topic, numbers) for topic, numbers in by_topic(written).items()]
