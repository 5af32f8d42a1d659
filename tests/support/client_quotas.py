"""Entries of AlterClientQuotas."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost_protocol.generated.alter_client_quotas import (
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    OpData,
)

PRODUCED, CONSUMED = "producer_byte_rate", "consumer_byte_rate"

Names = Sequence[tuple[str, str | None]]


def entry(names: Names, **changes: float | None) -> AlterClientQuotasRequestEntryData:
    """Quotas by name with what becomes of them; None takes one away."""
    return AlterClientQuotasRequestEntryData(
        [AlterClientQuotasRequestEntityData(*name) for name in names],
        [OpData(key, value or 0.0, value is None) for key, value in changes.items()],
    )
