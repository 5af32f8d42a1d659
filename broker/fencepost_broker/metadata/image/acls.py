"""The ACLs of the metadata image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fencepost_broker.metadata.image.changes import Change, Changes, OtherChange

if TYPE_CHECKING:
    from fencepost_protocol.generated.access_control_entry_record import AccessControlEntryRecord
    from fencepost_protocol.generated.remove_access_control_entry_record import (
        RemoveAccessControlEntryRecord,
    )


class AclsImage:
    """All ACLs."""

    __slots__ = ("by_id",)

    def __init__(self) -> None:
        self.by_id: dict[bytes, AccessControlEntryRecord] = {}

    def add(self, record: AccessControlEntryRecord) -> Changes:
        """Apply a record that adds an ACL."""
        self.by_id[record.id] = record
        return (OtherChange.ACLS,)

    def remove(self, record: RemoveAccessControlEntryRecord) -> Changes:
        """Apply a record that removes an ACL."""
        self.by_id.pop(record.id, None)
        return (OtherChange.ACLS,)

    def differences(self, later: AclsImage) -> Iterator[Change]:
        """Yield what leads to a later image."""
        if self.by_id != later.by_id:
            yield OtherChange.ACLS
