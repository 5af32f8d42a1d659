"""The control port of a cluster of processes, and its fault rules.

Imported only where one of them is asked for.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from fencepost_broker.server.control.cluster import Cluster
from fencepost_broker.server.control.families.faults import ADDING, Plan
from fencepost_broker.server.control.port import ControlPort
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import Asked
from fencepost_broker.server.errors import ProcessError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fencepost_broker.cli.cluster.supervisor import Supervisor
    from fencepost_broker.config import Settings
    from fencepost_broker.faults.rule import Rule
    from fencepost_broker.observability.logging import Logger

_FILE: Final = "control-token"
_TOKEN_BYTES: Final = 32
_LAST_WORDS_SECONDS: Final = 2.0
"""How long a process may take to say what its rules have done, before it is stopped."""


def options_of_members(folder: Path) -> list[str]:
    """Return the options that give a process a control port of its own, for the cluster's."""
    return ["--control", "127.0.0.1:0", "--control-token-file", str(folder / _FILE)]


class ClusterControl:
    """The control port of a cluster."""

    def __init__(
        self,
        supervisor: Supervisor,
        settings: Settings,
        folder: Path,
        log: Logger,
        rules: Sequence[Rule] = (),
    ) -> None:
        """Write the token of the processes' ports to ``folder``."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        file = folder / _FILE
        file.touch(mode=0o600)
        file.write_text(token, encoding="ascii")
        self._log = log
        self._cluster = Cluster(supervisor, token)
        self._rules = rules
        self._port: ControlPort | None = None
        if settings.control_address is not None:
            self._port = ControlPort(
                settings.control_address, settings.control_token_file, self._cluster, log
            )
        self.address: str | None = None
        """``host:port``, once it is open; a cluster may have rules without it."""

    async def open(self) -> None:
        """Add the first rules, and listen.

        Raises ``ListenError``, ``SettingsError``, and ``ProcessError`` for a rule that cannot work.
        """
        if self._rules:
            plan = Plan(list(self._rules))
            try:
                await self._cluster.carry_out(ADDING, Asked(plan, ADDING.path))
            except ProblemError as error:
                raise ProcessError(f"--faults: {error}") from None
        if self._port is not None:
            self.address = await self._port.open()

    async def close(self) -> None:
        """End all streams and requests, and close the port."""
        if self._port is not None:
            await self._port.close()
        await self._cluster.close()

    async def goes_down(self, node_id: int) -> None:
        """Note what a process has done, before it ends."""
        with suppress(ProblemError, TimeoutError):  # it has ended by itself, or hangs
            async with asyncio.timeout(_LAST_WORDS_SECONDS):
                await self._cluster.goes_down(node_id)

    async def count(self, names: Sequence[str]) -> list[dict[str, bool] | None]:
        """Count a request that fault rules match; return the verdict for each."""
        verdicts: list[dict[str, bool] | None]
        verdicts = msgspec.to_builtins(await self._cluster.count(names))
        return verdicts

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
