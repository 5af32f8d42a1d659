"""Share sessions (KIP-932): which partitions a member of a share group fetches.

    epoch 0      a new session begins, and takes the place of the member's session, if it has one
    epoch n      the session continues; the next epoch is n + 1
    epoch -1     the session ends, after the acknowledgements of the request
    another one  INVALID_SHARE_SESSION_EPOCH; the session is unchanged
    no session   SHARE_SESSION_NOT_FOUND

A member has one session with each broker. Epochs run from 1 to 2^31 - 1 and begin again at 1. A
session ends with the connection that it was opened on, and the member's records are released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.ports import RemoteClient
from fencepost_broker.replication.share.share_partitions import SharePartitionKey

FIRST_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
EPOCH_MAX: Final = (1 << 31) - 1


class ShareSession:
    """A member's session."""

    __slots__ = ("client", "epoch", "group_id", "member_id", "partitions")

    def __init__(
        self,
        group_id: str,
        member_id: str,
        client: RemoteClient,
        keys: Iterable[SharePartitionKey],
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.client = client
        self.epoch = 1
        """The epoch that the next request has to have."""
        self.partitions = dict.fromkeys(keys)
        """In the order in which they are read."""

    def to_the_end(self, keys: Iterable[SharePartitionKey]) -> None:
        """Read these partitions last the next time, since they have had their turn."""
        for key in keys:
            if key in self.partitions:
                del self.partitions[key]
                self.partitions[key] = None


class ShareSessions:
    """All sessions of a broker."""

    def __init__(
        self,
        release: Callable[[SharePartitionKey, str], None],
        group_is_gone: Callable[[str], None],
    ) -> None:
        """``release`` is called for each partition of a session that ends.

        ``group_is_gone`` is called when a group has no session left.
        """
        self._release = release
        self._group_is_gone = group_is_gone
        self._sessions: dict[tuple[str, str], ShareSession] = {}
        self._of_group: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._sessions)

    def open(
        self,
        group_id: str,
        member_id: str,
        client: RemoteClient,
        keys: Iterable[SharePartitionKey],
        limit: int,
    ) -> ShareSession | ErrorCode:
        """Begin a session in place of the member's former one."""
        former = self._sessions.get((group_id, member_id))
        if former is not None:
            self._remove(former)
        if len(self._sessions) >= limit:
            return ErrorCode.SHARE_SESSION_LIMIT_REACHED
        session = ShareSession(group_id, member_id, client, keys)
        self._sessions[group_id, member_id] = session
        self._of_group[group_id] += 1
        client.at_end[session] = partial(self.end, session)
        return session

    def go_on(self, group_id: str, member_id: str, epoch: int) -> ShareSession | ErrorCode:
        """Continue a session, or find the one that ends with this request."""
        session = self._sessions.get((group_id, member_id))
        if session is None:
            return ErrorCode.SHARE_SESSION_NOT_FOUND
        if epoch == FINAL_EPOCH:
            return session
        if epoch != session.epoch:
            return ErrorCode.INVALID_SHARE_SESSION_EPOCH
        session.epoch = 1 if epoch == EPOCH_MAX else epoch + 1
        return session

    def end(self, session: ShareSession) -> None:
        """End a session, and release the member's records."""
        if self._sessions.get((session.group_id, session.member_id)) is not session:
            return
        self._remove(session)
        for each in session.partitions:
            self._release(each, session.member_id)
        if not self._of_group[session.group_id]:
            del self._of_group[session.group_id]
            self._group_is_gone(session.group_id)

    def _remove(self, session: ShareSession) -> None:
        del self._sessions[session.group_id, session.member_id]
        session.client.at_end.pop(session, None)
        self._of_group[session.group_id] -= 1
