"""A proxy in front of a cluster.

    async with Proxy("broker-1.example:9092") as proxy:
        proxy.faults.drop_answer(api="EndTxn", times=1)
        ...  # clients connect to proxy.bootstrap

With a control port, other programs add rules and see requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from fencepost_broker.config import Settings
from fencepost_broker.server.embedded.settings import option_settings
from fencepost_broker.server.proxy.local_ports import LocalPorts, ProxyOptions

if TYPE_CHECKING:
    from pathlib import Path

    from fencepost_broker.server.control.port import ControlPort


class Proxy(LocalPorts):
    """A proxy in front of a Kafka cluster, in this process and this event loop."""

    def __init__(
        self,
        upstream: str,
        *,
        control: int | str | None = None,
        control_token_file: str | Path | None = None,
        **options: Unpack[ProxyOptions],
    ) -> None:
        """Take ``control`` and ``control_token_file`` as ``Broker`` does, and what follows.

        ``options`` are those of ``LocalPorts``.
        """
        super().__init__(upstream, **options)
        self._wanted_control = option_settings(None, control, control_token_file)
        self.control: str | None = None
        """``host:port`` of its control port, once it is started with one."""
        self._control_port: ControlPort | None = None

    async def start(self) -> None:
        """Listen; raises ``ListenError``, and ``SettingsError`` for the control port."""
        await super().start()
        if "control.address" in self._wanted_control:
            try:
                await self._open_control_port()
            except BaseException:
                await self.stop()
                raise

    async def _open_control_port(self) -> None:
        from fencepost_broker.server.control.controlled import controlled_proxy
        from fencepost_broker.server.control.port import ControlPort

        wanted = Settings().with_overrides(self._wanted_control)
        controlled = controlled_proxy(self.clients, self.fault_rules, self._logs)
        assert wanted.control_address is not None
        self._control_port = ControlPort(
            wanted.control_address, wanted.control_token_file, controlled, self._log
        )
        self.control = await self._control_port.open()

    async def stop(self) -> bool:
        """Close all ports and connections."""
        if self._control_port is not None:
            await self._control_port.close()
        return await super().stop()
