"""The control port of a cluster of processes. Imported only where it is asked for."""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fencepost_broker.server.control.cluster import Cluster
from fencepost_broker.server.control.port import ControlPort
from fencepost_broker.server.control.problems import ProblemError

if TYPE_CHECKING:
    from fencepost_broker.cli.cluster.supervisor import Supervisor
    from fencepost_broker.config import Settings
    from fencepost_broker.observability.logging import Logger

_FILE: Final = "control-token"
_TOKEN_BYTES: Final = 32


def options_of_members(folder: Path) -> list[str]:
    """Return the options that give a process a control port of its own, for the cluster's."""
    return ["--control", "127.0.0.1:0", "--control-token-file", str(folder / _FILE)]


class ClusterControl:
    """The control port of a cluster."""

    def __init__(
        self, supervisor: Supervisor, settings: Settings, folder: Path, log: Logger
    ) -> None:
        """Write the token of the processes' ports to ``folder``."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        file = folder / _FILE
        file.touch(mode=0o600)
        file.write_text(token, encoding="ascii")
        self._log = log
        self._cluster = Cluster(supervisor, token)
        assert settings.control_address is not None
        self._port = ControlPort(
            settings.control_address, settings.control_token_file, self._cluster, log
        )
        self.address = ""
        """``host:port``, once it is open."""

    async def open(self) -> None:
        """Listen; raises ``ListenError``, ``SettingsError``."""
        self.address = await self._port.open()

    async def close(self) -> None:
        """End all streams and requests, and close the port."""
        await self._port.close()

    async def goes_down(self, node_id: int) -> None:
        """Note what a process has done, before it ends."""
        with suppress(ProblemError):  # it has ended by itself
            await self._cluster.goes_down(node_id)

    async def came_up(self, node_id: int) -> None:
        """Give a process that was started or resumed what it has missed."""
        try:
            await self._cluster.came_up(node_id)
        except ProblemError as error:
            self._log.warning(
                "a process did not get the fault rules and the time of the others",
                node=node_id,
                reason=str(error),
            )
