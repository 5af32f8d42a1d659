"""The base of all parts of ``Admin``: settings and connections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar, Unpack

from fencepost_client.clients.base import BaseClient
from fencepost_client.config.kafka_names import ADMIN_NAMES, from_kafka_names
from fencepost_client.config.settings import ADMIN, check_settings
from fencepost_client.metrics import RequestMetrics
from fencepost_client.network.client_settings import ClientSettings, read_bootstrap
from fencepost_client.network.security import SecuritySettings, read_security
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import Procedure

T = TypeVar("T")


class AdminBase(BaseClient):
    """Runs procedures."""

    def __init__(
        self,
        bootstrap_servers: str | Sequence[str],
        *,
        client_id: str = "fencepost-admin",
        request_timeout_ms: int = 30_000,
        default_api_timeout_ms: int = 60_000,
        retry_backoff_ms: int = 100,
        retry_backoff_max_ms: int = 1_000,
        metadata_max_age_ms: int = 300_000,
        metrics: RequestMetrics | None = None,
        **security: Unpack[SecuritySettings],
    ) -> None:
        check_settings("Admin", ADMIN, locals())
        settings = ClientSettings(
            read_bootstrap(bootstrap_servers),
            client_id=client_id,
            request_timeout_ms=request_timeout_ms,
            api_timeout_ms=default_api_timeout_ms,
            retry_backoff_ms=retry_backoff_ms,
            retry_backoff_max_ms=retry_backoff_max_ms,
            metadata_max_age_ms=metadata_max_age_ms,
            security=read_security(**security),
            metrics=metrics,
        )
        super().__init__(settings)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Make an admin with settings by Kafka's names; an unknown name raises an error.

        admin = Admin.from_config({"bootstrap.servers": "localhost:9092"})
        """
        return cls(**from_kafka_names(config, ADMIN_NAMES))

    async def _run(self, procedure: Procedure[T]) -> T:
        return await self._connected().run(procedure)

    def _backoff(self) -> Backoff:
        return self._connected().backoff()

    @property
    def _timeout_ms(self) -> int:
        """The timeout of requests that brokers carry out."""
        return self._client_settings.request_timeout_ms
