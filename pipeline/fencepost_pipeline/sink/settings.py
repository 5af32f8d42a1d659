"""The settings of a sink, as plain values that all its processes get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from fencepost_client.network.client_settings import ClientSettings
from fencepost_protocol.records.compression import Compression

from fencepost_pipeline.sink.commit_protocol import MarkerPlace
from fencepost_pipeline.sink.marker import Allowance

BATCH_BYTES: Final = 900_000
"""Below ``max.message.bytes``, which is 1,048,588 by default."""
TRANSACTION_TIMEOUT_MS: Final = 300_000
"""The time for a micro-batch; Kafka's ``transaction.max.timeout.ms`` is 900,000."""


@dataclass(frozen=True, slots=True)
class SinkSettings:
    """All settings of a sink; ``place`` is ``None`` for a sink without a marker."""

    client: Mapping[str, str]
    """Settings of connections, by Kafka's names."""
    transactional_id: str
    place: MarkerPlace | None = None
    topic: str | None = None
    """The topic of all rows, instead of the topic column."""
    transaction_timeout_ms: int = TRANSACTION_TIMEOUT_MS
    codec: Compression = Compression.NONE
    batch_bytes: int = BATCH_BYTES
    buffer_bytes: int = 32 << 20
    api_timeout_ms: int = 60_000
    delivery_timeout_ms: int = 120_000
    transactional: bool = True
    """False: rows are written as they come, to know what exactly once costs."""
    allowed: Allowance = field(default_factory=Allowance)
    checkpoint: str | None = None
    """The checkpoint of the query, if it is known."""

    def client_settings(self) -> ClientSettings:
        """The settings of a client."""
        settings = ClientSettings.from_config(self.client)
        settings.api_timeout_ms = self.api_timeout_ms
        return settings
