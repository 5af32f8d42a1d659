"""All that a broker sends by OTLP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_broker.config.errors import SettingsError
from fencepost_broker.server.otlp.receiver import Receiver

if TYPE_CHECKING:
    from fencepost_broker.observability.logging import Logger
    from fencepost_broker.server.control.watching import WatchedBroker
    from fencepost_broker.server.otlp.traces import TracesSender
    from fencepost_broker.server.process import BrokerProcess


class OtlpSending:
    """Sends until it is closed."""

    def __init__(
        self, endpoint: str, process: BrokerProcess, traced: WatchedBroker | None, log: Logger
    ) -> None:
        """Spans are those of ``traced``. Raise ``SettingsError`` if the library is missing."""
        try:
            from fencepost_broker.server.otlp.metrics import MetricsSender
        except ModuleNotFoundError as error:
            raise SettingsError(
                [f"otlp.endpoint: {error.name} is missing: pip install 'fencepost[otlp]'"]
            ) from None
        self._receiver = Receiver(endpoint, log)
        self._metrics = MetricsSender(process, self._receiver)
        self._traces: TracesSender | None = None
        if traced is not None:
            from fencepost_broker.server.otlp.traces import TracesSender

            self._traces = TracesSender(traced, self._receiver, log)

    async def close(self) -> None:
        """Send the last spans, and then no more."""
        self._metrics.stop()
        if self._traces is not None:
            await self._traces.close()
        await self._receiver.close()
