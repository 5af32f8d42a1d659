"""The SCRAM credentials of the metadata image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fencepost_broker.metadata.image.changes import Change, Changes, OtherChange

if TYPE_CHECKING:
    from fencepost_protocol.generated.remove_user_scram_credential_record import (
        RemoveUserScramCredentialRecord,
    )
    from fencepost_protocol.generated.user_scram_credential_record import UserScramCredentialRecord


class ScramImage:
    """The credentials of all users, by user and mechanism."""

    __slots__ = ("credentials",)

    def __init__(self) -> None:
        self.credentials: dict[tuple[str, int], UserScramCredentialRecord] = {}

    def set(self, record: UserScramCredentialRecord) -> Changes:
        """Apply a record that sets a credential."""
        self.credentials[record.name, record.mechanism] = record
        return (OtherChange.SCRAM,)

    def remove(self, record: RemoveUserScramCredentialRecord) -> Changes:
        """Apply a record that removes a credential."""
        self.credentials.pop((record.name, record.mechanism), None)
        return (OtherChange.SCRAM,)

    def differences(self, later: ScramImage) -> Iterator[Change]:
        """Yield what leads to a later image."""
        if self.credentials != later.credentials:
            yield OtherChange.SCRAM
