"""What all parts of ``Admin`` have in common: settings, connections, beginning and end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from fencepost_client.adapters.client import Client
from fencepost_client.adapters.client_settings import ClientSettings, read_bootstrap
from fencepost_client.adapters.security import SecuritySettings, read_security
from fencepost_client.backoff import Backoff
from fencepost_client.config import ADMIN_NAMES, from_kafka_names
from fencepost_client.errors import IllegalStateError
from fencepost_client.metrics import RequestMetrics
from fencepost_client.procedures import Procedure
from fencepost_client.settings import ADMIN, check_settings

T = TypeVar("T")


class AdminBase:
    """Drives procedures."""

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
        self._settings = ClientSettings(
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
        self._client: Client | None = None

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """An admin by Kafka's names; one that does not exist is refused with the nearest.

        admin = Admin.from_config({"bootstrap.servers": "localhost:9092"})
        """
        return cls(**from_kafka_names(config, ADMIN_NAMES))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def start(self) -> None:
        """Connect."""
        if self._client is not None:
            raise IllegalStateError("the admin was started before")
        self._client = Client(self._settings)
        try:
            await self._client.start()
        except BaseException:
            await self._client.close()
            self._client = None  # it may be tried again
            raise

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    async def _run(self, procedure: Procedure[T]) -> T:
        return await self._started().run(procedure)

    def _backoff(self) -> Backoff:
        return self._started().backoff()

    @property
    def _timeout_ms(self) -> int:
        """How long a broker may take to carry out what it is asked for."""
        return self._settings.request_timeout_ms

    def _started(self) -> Client:
        if self._client is None:
            raise IllegalStateError("the admin is not started: use `async with Admin(...)`")
        return self._client
