"""The heartbeats of a member of a share group."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from fencepost_client.clients.classic_membership import leave_group
from fencepost_client.consumer.share_member import ShareGroupMember
from fencepost_client.errors import KafkaError, RetriableError
from fencepost_client.network import log
from fencepost_client.network.network_client import NetworkClient


class ShareGroupMembership:
    """Sends heartbeats from the first subscription on."""

    def __init__(
        self,
        client: NetworkClient,
        member: ShareGroupMember,
        group_id: str,
        wake: Callable[[], None],
    ) -> None:
        self.member = member
        self._client = client
        self._group_id = group_id
        self._wake = wake
        self._heart: asyncio.Task[None] | None = None
        self._due = asyncio.Event()
        self._error: KafkaError | None = None

    def subscribe(self, topics: Iterable[str]) -> None:
        """Change the subscription."""
        self.member.subscribe(topics)
        self._due.set()

    def keep_up(self) -> None:
        """Go on with heartbeats; raises the error that ended them."""
        error, self._error = self._error, None
        if error is not None:
            raise error
        if self._heart is None or self._heart.done():
            if self._heart is not None:
                self._heart.result()  # a bug of the client is raised, not retried
            self._heart = self._client.spawn(self._beat())

    async def _beat(self) -> None:
        while True:
            self._due.clear()
            try:
                pause_ms = await self._client.run(self.member.heartbeat())
            except KafkaError as error:
                if isinstance(error, RetriableError) and self.member.has_joined:
                    continue  # no answer for that time
                log.expelled(self._group_id, error)
                self._error = error
                self._wake()
                return
            self._wake()
            try:
                async with asyncio.timeout(pause_ms / 1000):
                    await self._due.wait()
            except TimeoutError:
                pass

    async def leave(self) -> None:
        """Leave the group, so that its members need not wait for the session timeout."""
        heart, self._heart = self._heart, None
        if heart is not None:
            heart.cancel()
            await asyncio.gather(heart, return_exceptions=True)
        await leave_group(self._client, self.member.leave())
