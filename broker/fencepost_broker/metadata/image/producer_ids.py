"""The blocks of producer ids in the metadata image (KIP-730)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fencepost_broker.metadata.image.changes import Change, Changes, ProducerIdsChanged
from fencepost_broker.metadata.image.model import InconsistentMetadataError, ProducerIds

if TYPE_CHECKING:
    from fencepost_protocol.generated.producer_ids_record import ProducerIdsRecord


class ProducerIdsImage:
    """The latest block of producer ids that a broker got."""

    __slots__ = ("latest",)

    def __init__(self) -> None:
        self.latest = ProducerIds()

    def apply(self, record: ProducerIdsRecord) -> Changes:
        """Apply a record that gives a block to a broker."""
        if record.next_producer_id <= self.latest.next_producer_id:
            raise InconsistentMetadataError(
                f"the next producer id {record.next_producer_id} is not above "
                f"{self.latest.next_producer_id}"
            )
        self.latest = ProducerIds(record.broker_id, record.broker_epoch, record.next_producer_id)
        return (ProducerIdsChanged(*self.latest),)

    def differences(self, later: ProducerIdsImage) -> Iterator[Change]:
        """Yield what leads to a later image."""
        if self.latest != later.latest:
            yield ProducerIdsChanged(*later.latest)
