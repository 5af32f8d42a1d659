"""Start and end of every client class."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from fencepost_client.errors import IllegalStateError, KafkaError
from fencepost_client.network.client_settings import ClientSettings
from fencepost_client.network.network_client import NetworkClient

if TYPE_CHECKING:
    from fencepost_client.clients.history import ClientHistory
    from fencepost_client.histories.operations import Kind


class BaseClient:
    """Has a :class:`NetworkClient` from ``start`` on; ``async with`` starts and closes it."""

    _client: NetworkClient | None = None
    _history: ClientHistory | None = None

    def __init__(self, settings: ClientSettings) -> None:
        self._client_settings = settings

    @property
    def bootstrap_servers(self) -> list[str]:
        """The addresses that are asked first."""
        return [f"{host}:{port}" for host, port in self._client_settings.bootstrap]

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self._exit(is_failure=error is not None)
        except KafkaError as why:
            if error is None:
                raise
            error.add_note(f"Closing failed as well: {why}")  # a cancellation must not be lost

    async def start(self) -> None:
        """Connect."""
        if self._client is not None:
            raise IllegalStateError(f"this {type(self).__name__} was started before")
        client = self._client = NetworkClient(self._client_settings)
        try:
            await self._begin(client)
        except BaseException:
            await client.close()
            self._stop()
            self._client = None  # start may be called again
            raise

    def _recorded(self, op: Kind, **fields: Any) -> AbstractContextManager[None]:
        """Write an operation to the history, if there is one."""
        if self._history is None:
            return nullcontext()
        return self._history.operation(op, **fields)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            try:
                await self._client.close()
            finally:
                self._stop()

    async def _begin(self, client: NetworkClient) -> None:
        """Connect, and make what works on the connections."""
        await client.start()

    def _stop(self) -> None:
        """Stop what ``_begin`` made; the connections are closed."""

    async def _exit(self, *, is_failure: bool) -> None:
        """Close at the end of ``async with``."""
        del is_failure
        await self.close()

    def _connected(self) -> NetworkClient:
        if self._client is None:
            name = type(self).__name__
            raise IllegalStateError(f"this {name} is not started: use `async with {name}(...)`")
        return self._client
