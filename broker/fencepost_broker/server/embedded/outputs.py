"""Where a broker tells about itself: its control port, StatsD, and a receiver of OTLP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fencepost_broker.config import Settings
    from fencepost_broker.observability.logging import LazyLogs
    from fencepost_broker.ports import Address
    from fencepost_broker.server.control.port import ControlPort
    from fencepost_broker.server.control.routes import Embedded
    from fencepost_broker.server.metrics.statsd import StatsdSender
    from fencepost_broker.server.otlp.sending import OtlpSending
    from fencepost_broker.server.process import BrokerProcess


class Outputs:
    """What the settings ask for of them; nothing of the rest is imported."""

    def __init__(self, logs: LazyLogs) -> None:
        self._logs = logs
        self._control_port: ControlPort | None = None
        self._statsd: StatsdSender | None = None
        self._otlp: OtlpSending | None = None

    async def open(
        self, settings: Settings, process: BrokerProcess, addresses: Sequence[Address], of: Embedded
    ) -> tuple[str, str] | None:
        """Open all; returns the control port's address, for clients and as it listens there.

        Raises ``ListenError``, and ``SettingsError`` for a file or a library that is missing.
        """
        found, watched, log = None, None, self._logs.area("server")
        if settings.control_address is not None or settings.otlp_traces:
            from fencepost_broker.server.control.watching import WatchedBroker

            watched = WatchedBroker(process)
        if settings.control_address is not None:
            from fencepost_broker.server.control.controlled import controlled_broker
            from fencepost_broker.server.control.port import ControlPort

            assert watched is not None
            made = controlled_broker(watched, addresses, self._logs, of)
            port = ControlPort(settings.control_address, settings.control_token_file, made, log)
            self._control_port = port
            found = await port.open(), port.listens_at
        if settings.statsd_address is not None:
            from fencepost_broker.server.metrics.statsd import StatsdSender

            self._statsd = StatsdSender(process, settings.statsd_address)
        if settings.otlp_endpoint is not None:
            from fencepost_broker.server.otlp.sending import OtlpSending

            traced = watched if settings.otlp_traces else None
            self._otlp = OtlpSending(settings.otlp_endpoint, process, traced, log)
        return found

    async def close(self) -> None:
        """Close all."""
        if self._statsd is not None:
            self._statsd.stop()
        if self._otlp is not None:
            await self._otlp.close()
        if self._control_port is not None:
            await self._control_port.close()
