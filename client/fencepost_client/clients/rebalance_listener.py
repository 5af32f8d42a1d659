"""The callables of an application that are called in rebalances."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from fencepost_client.errors import IllegalStateError
from fencepost_client.types import TopicPartition

OnChange: TypeAlias = Callable[[set[TopicPartition]], Awaitable[None] | None]
"""A plain or an async callable that takes a set of partitions."""


@dataclass(slots=True)
class RebalanceListener:
    """Up to three callables."""

    on_assigned: OnChange | None = None
    on_revoked: OnChange | None = None
    on_lost: OnChange | None = None
    _task: asyncio.Task[object] | None = None

    async def assigned(self, partitions: set[TopicPartition]) -> None:
        """Report the new partitions at the end of a rebalance; there may be none."""
        await self._tell(self.on_assigned, partitions)

    async def gone(self, partitions: set[TopicPartition], *, are_lost: bool) -> None:
        """Report partitions that are revoked, or that were lost already."""
        if partitions:
            on_gone = (self.on_lost or self.on_revoked) if are_lost else self.on_revoked
            await self._tell(on_gone, partitions)

    async def _tell(self, callback: OnChange | None, partitions: set[TopicPartition]) -> None:
        if callback is None:
            return
        self._task = asyncio.current_task()
        try:
            waiting = callback(partitions)
            if waiting is not None:
                await waiting
        finally:
            self._task = None

    def refuse_within(self) -> None:
        """Raise an error inside of a listener, which would wait for itself."""
        if self._task is not None and self._task is asyncio.current_task():
            raise IllegalStateError("a rebalance listener cannot ask for records")
