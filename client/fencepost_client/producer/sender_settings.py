"""The settings of the sender."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fencepost_protocol.records.compression import Compression

from fencepost_client.errors import ConfigError

ALL_REPLICAS: Final = -1
LINGER_MS: Final = 5
TRANSFORMING_MS: Final = 10_000
"""Of consume-transform-produce (KIP-447): so long others wait for offsets that a crash left."""
BATCHES_REMEMBERED: Final = 5
"""How many batches of a producer a broker can tell apart from repetitions."""


@dataclass(slots=True)
class SenderSettings:
    """Settings of the sender: linger.ms, delivery.timeout.ms and so on."""

    acks: int = ALL_REPLICAS
    linger_ms: int = LINGER_MS
    delivery_timeout_ms: int = 120_000
    request_timeout_ms: int = 30_000
    request_bytes_max: int = 1 << 20
    in_flight_max: int = 5
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    compression: Compression = Compression.NONE
    idempotent: bool = True
    transactional_id: str | None = None

    def check(self) -> None:
        """Raise ``ConfigError`` for settings that contradict each other."""
        if self.idempotent and self.acks != ALL_REPLICAS:
            raise ConfigError("enable_idempotence needs acks='all'")
        if self.transactional_id is not None and not self.idempotent:
            raise ConfigError("transactional_id needs enable_idempotence")
        if self.idempotent and not 1 <= self.in_flight_max <= BATCHES_REMEMBERED:
            raise ConfigError(
                f"max_in_flight must be 1 to {BATCHES_REMEMBERED} with enable_idempotence"
            )
        if self.delivery_timeout_ms < self.linger_ms + self.request_timeout_ms:
            raise ConfigError(
                f"delivery_timeout_ms ({self.delivery_timeout_ms}) must be at least linger_ms "
                f"plus request_timeout_ms ({self.linger_ms} and {self.request_timeout_ms})"
            )
