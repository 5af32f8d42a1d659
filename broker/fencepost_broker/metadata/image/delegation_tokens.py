"""The delegation tokens of the metadata image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fencepost_broker.metadata.image.changes import Change, Changes, OtherChange

if TYPE_CHECKING:
    from fencepost_protocol.generated.delegation_token_record import DelegationTokenRecord
    from fencepost_protocol.generated.remove_delegation_token_record import (
        RemoveDelegationTokenRecord,
    )


class DelegationTokensImage:
    """All delegation tokens, by id."""

    __slots__ = ("by_id",)

    def __init__(self) -> None:
        self.by_id: dict[str, DelegationTokenRecord] = {}

    def set(self, record: DelegationTokenRecord) -> Changes:
        """Apply a record that makes a token, or renews it."""
        self.by_id[record.token_id] = record
        return (OtherChange.DELEGATION_TOKENS,)

    def remove(self, record: RemoveDelegationTokenRecord) -> Changes:
        """Apply a record that removes a token."""
        self.by_id.pop(record.token_id, None)
        return (OtherChange.DELEGATION_TOKENS,)

    def differences(self, later: DelegationTokensImage) -> Iterator[Change]:
        """Yield what leads to a later image."""
        if self.by_id != later.by_id:
            yield OtherChange.DELEGATION_TOKENS
