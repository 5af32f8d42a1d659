"""The control port of a cluster, and its fault rules."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from fencepost_broker.server.control.cluster import Cluster, ClusterProcesses, WholeCluster
from fencepost_broker.server.control.families.faults import ADDING, Plan
from fencepost_broker.server.control.port import ControlPort
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import Asked
from fencepost_broker.server.errors import ProcessError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fencepost_broker.faults.rule import Rule, Verdict
    from fencepost_broker.observability.logging import Logger

_LAST_WORDS_SECONDS: Final = 2.0
"""How long a process may take to say what its rules have done, before it is stopped."""


class ClusterControl:
    """The control port of a cluster."""

    def __init__(
        self,
        processes: ClusterProcesses,
        token: str,
        address: str | None,
        token_file: str | None,
        log: Logger,
        rules: Sequence[Rule] = (),
        whole: WholeCluster | None = None,
    ) -> None:
        """``token`` is that of the processes' own ports; without ``address`` there is no port.

        ``rules`` are added at the start. ``whole`` is a cluster in a program.
        """
        self._log = log
        self._cluster = Cluster(processes, token, whole)
        self._rules = rules
        self._port: ControlPort | None = None
        if address is not None:
            self._port = ControlPort(address, token_file, self._cluster, log)
        self.address: str | None = None
        """``host:port``, once it is open; a cluster may have rules without it."""

    @property
    def listens_at(self) -> str:
        """Its address as in settings, with the actual port."""
        return self._port.listens_at if self._port is not None else ""

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

    async def count(self, names: Sequence[str]) -> Sequence[Verdict | None]:
        """Count a request that fault rules match; return the verdict for each."""
        return await self._cluster.rules.count(names)

    async def restored(self, node_ids: Iterable[int]) -> None:
        """Forget all rules, and read the events of processes again: all were started anew."""
        self._cluster.rules.clear()
        self._cluster.numbered.clear()
        for each in node_ids:
            await self.came_up(each, is_started=True)

    async def came_up(self, node_id: int, *, is_started: bool) -> None:
        """Give a process that was started or resumed what it has missed."""
        try:
            await self._cluster.came_up(node_id, is_started=is_started)
        except ProblemError as error:
            self._log.warning(
                "a process did not get the fault rules and the time of the others",
                node=node_id,
                reason=str(error),
            )
