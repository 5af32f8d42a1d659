"""The client quotas of the metadata image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from fencepost_broker.metadata.image.changes import Change, Changes, ClientQuotasChanged

if TYPE_CHECKING:
    from fencepost_protocol.generated.client_quota_record import ClientQuotaRecord

QuotaKey: TypeAlias = tuple[tuple[tuple[str, str | None], ...], str]
"""An entity, whose parts are in order, and the name of one of its quotas."""


class ClientQuotasImage:
    """All client quotas."""

    __slots__ = ("records",)

    def __init__(self) -> None:
        self.records: dict[QuotaKey, ClientQuotaRecord] = {}

    def apply(self, record: ClientQuotaRecord) -> Changes:
        """Apply a record that sets a quota or removes it."""
        entity = tuple(sorted((part.entity_type, part.entity_name) for part in record.entity))
        if record.remove:
            self.records.pop((entity, record.key), None)
        else:
            self.records[entity, record.key] = record
        return (ClientQuotasChanged(),)

    def differences(self, later: ClientQuotasImage) -> Iterator[Change]:
        """Yield what leads to a later image."""
        if self.records != later.records:
            yield ClientQuotasChanged()
