"""``ShareFetchLoop``: the share sessions of a share consumer, and their requests."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from fencepost_protocol.errors import RETRIABLE, ErrorCode
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.index import ApiKey

from fencepost_client.consumer.record_batch import unreadable
from fencepost_client.consumer.share_member import ShareGroupMember
from fencepost_client.consumer.share_records import ShareRecord, acquired_records
from fencepost_client.consumer.share_session import (
    ENDED,
    GAP,
    RENEWALS_FROM,
    Acknowledgements,
    AcknowledgeType,
    Key,
    ShareFetchSettings,
    ShareSession,
    errors_of,
)
from fencepost_client.errors import (
    KafkaError,
    RetriableError,
    UnsupportedVersionError,
    consumer_error,
)
from fencepost_client.network.network_client import NetworkClient
from fencepost_client.requests.procedures import Ask, NodeId
from fencepost_client.types import TopicPartition

_MOVED: Final = (
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_TOPIC_ID,
)


class Held(NamedTuple):
    """An acquired record, and where it has to be acknowledged."""

    session: ShareSession
    era: int
    key: Key
    record: ShareRecord


class ShareFetchLoop:
    """Asks each leader of assigned partitions for records, one request at a time."""

    def __init__(
        self,
        client: NetworkClient,
        group_id: str,
        member: ShareGroupMember,
        settings: ShareFetchSettings,
    ) -> None:
        self._client = client
        self._group_id = group_id
        self._member = member
        self._settings = settings
        self._sessions: dict[int, ShareSession] = {}
        self._buffer: deque[Held] = deque()
        """Records that were acquired and not taken."""
        self.failed: dict[TopicPartition, KafkaError] = {}
        """The partitions with acknowledgements that were refused."""
        self.lock_timeout_ms: int | None = None
        self.news = asyncio.Event()
        """Set when something may have become possible."""
        self._error: KafkaError | None = None
        self._names: dict[bytes, str] = {}
        self._requests: set[asyncio.Task[None]] = set()
        self._retry_at: dict[int, float] = {}

    def raise_error(self) -> None:
        """Raise the error of an answer, once."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def take(self, limit: int) -> list[Held]:
        """Take acquired records, without those that a broker has released with their session."""
        found: list[Held] = []
        while self._buffer and len(found) < limit:
            held = self._buffer.popleft()
            if held.era == held.session.era:
                found.append(held)
        return found

    async def acknowledge_all(self) -> None:
        """Send all acknowledgements, and wait for the answers."""
        await self.idle()
        sessions = [each for each in self._sessions.items() if each[1].waiting]
        await asyncio.gather(*(self._acknowledge_at(*each) for each in sessions))

    async def end(self) -> None:
        """Send the last acknowledgements and end the sessions; the rest is released."""
        await self.idle()
        self._buffer.clear()
        sessions = [each for each in self._sessions.items() if each[1].is_open]
        await asyncio.gather(*(self._acknowledge_at(*each, is_last=True) for each in sessions))
        self._sessions.clear()

    async def idle(self) -> None:
        """Wait for the requests under way: a session has one at a time."""
        while self._requests:
            await asyncio.wait(set(self._requests))

    def send(self, *, fetches: bool) -> None:
        """Send what each node that is not busy has to be asked."""
        client = self._client
        now = client.loop.time()
        wanted = self._wanted()
        for node_id in wanted.keys() | self._sessions.keys():
            session = self._sessions.get(node_id)
            if session is None:
                session = ShareSession(self._group_id, self._member.member_id)
                self._sessions[node_id] = session
            if session.is_busy or self._retry_at.get(node_id, 0) > now:
                continue
            if session.waiting and (not session.is_open or session.renews or not fetches):
                self._spawn(self._acknowledge_at(node_id, session), session)
            elif fetches and not self._buffer and (wanted.get(node_id) or session.waiting):
                keys = wanted.get(node_id, frozenset())
                self._spawn(self._fetch_at(node_id, session, keys), session)

    def _wanted(self) -> dict[int, frozenset[Key]]:
        """Return the assigned partitions by their leaders."""
        client = self._client
        by_node: dict[int, set[Key]] = {}
        for each in self._member.assignment:
            self._names[each.topic_id] = each.where.topic
            client.cluster.want(each.where.topic, client.now_ms())
            leader = client.cluster.leader(*each.where)
            if leader is None or leader < 0:
                client.metadata.refresh()
            else:
                by_node.setdefault(leader, set()).add((each.topic_id, each.where.partition))
        return {node_id: frozenset(keys) for node_id, keys in by_node.items()}

    def _spawn(self, what: Any, session: ShareSession) -> None:
        session.is_busy = True
        task = self._client.spawn(what)
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)
        task.add_done_callback(lambda _: self._done(session))

    def _done(self, session: ShareSession) -> None:
        session.is_busy = False
        self.news.set()

    async def _fetch_at(self, node_id: int, session: ShareSession, keys: frozenset[Key]) -> None:
        client, settings = self._client, self._settings
        request, sent = session.fetch(keys, settings)
        timeout_ms = client.settings.request_timeout_ms + settings.max_wait_ms
        ask = Ask(NodeId(node_id), ApiKey.SHARE_FETCH, lambda _: request, timeout_ms=timeout_ms)
        answer = await self._ask(node_id, session, ask, sent)
        if answer is None:
            return
        told = [(each, data) for each, data in _parts(answer)]
        self._note(
            sent,
            [(k, d.acknowledge_error_code, d.acknowledge_error_message) for k, d in told],
            answer.error_code,
        )
        for key, data in told:
            name = self._names.get(key[0])
            if name is None or answer.error_code:
                continue
            if data.error_code:
                self._refused(node_id, TopicPartition(name, key[1]), data)
            elif data.acquired_records:
                self._keep(session, key, TopicPartition(name, key[1]), data)

    async def _acknowledge_at(
        self, node_id: int, session: ShareSession, *, is_last: bool = False
    ) -> None:
        if not session.is_open:
            self._note(session.waiting, (), ErrorCode.SHARE_SESSION_NOT_FOUND)
            session.waiting = {}
            return
        is_renewal = session.renews
        request, sent = session.acknowledgement(is_last=is_last)

        def build(version: int) -> Any:
            if is_renewal and version < RENEWALS_FROM:
                raise UnsupportedVersionError(
                    "The broker does not support ShareAcknowledge v2, which a renewal needs."
                )
            return request

        ask = Ask(NodeId(node_id), ApiKey.SHARE_ACKNOWLEDGE, build)
        answer = await self._ask(node_id, session, ask, sent)
        if answer is not None:
            results = [(key, d.error_code, d.error_message) for key, d in _parts(answer)]
            self._note(sent, results, answer.error_code)
        if is_last:
            session.lost()

    async def _ask(
        self, node_id: int, session: ShareSession, ask: Ask, sent: Acknowledgements
    ) -> Any:
        """Return the answer, or ``None`` if there is none; the session is lost then."""
        client = self._client
        try:
            answer = await client.ask(ask)
        except KafkaError as error:
            self._note(sent, (), ErrorCode.NETWORK_EXCEPTION)
            if not isinstance(error, RetriableError):
                self._error = error
            self._try_later(node_id)
            session.lost()
            return None
        code = answer.error_code
        session.answered(code)
        if code and code not in ENDED:
            self._try_later(node_id)
            if code not in RETRIABLE and code != ErrorCode.SHARE_SESSION_LIMIT_REACHED:
                self._error = consumer_error(code, answer.error_message, state="share fetch")
        if answer.acquisition_lock_timeout_ms:
            self.lock_timeout_ms = answer.acquisition_lock_timeout_ms
        return answer

    def _refused(self, node_id: int, where: TopicPartition, data: Any) -> None:
        code = data.error_code
        self._try_later(node_id)
        if code not in RETRIABLE and code not in _MOVED:
            state = f"fetching {where.topic}-{where.partition}"
            self._error = consumer_error(code, data.error_message, state=state)

    def _keep(self, session: ShareSession, key: Key, where: TopicPartition, data: Any) -> None:
        try:
            records, gaps = acquired_records(where, data)
        except RemoteProtocolError as error:
            for each in data.acquired_records:
                for offset in range(each.first_offset, each.last_offset + 1):
                    session.acknowledge(key, offset, AcknowledgeType.REJECT)
            first = data.acquired_records[0].first_offset
            self._error = unreadable(where, first, None, error)
            return
        for offset in gaps:
            session.acknowledge(key, offset, GAP)
        self._buffer.extend(Held(session, session.era, key, record) for record in records)

    def _note(self, sent: Acknowledgements, results: Any, code: int) -> None:
        """Remember the acknowledgements that were refused."""
        for key, (error, text) in errors_of(sent, results, code).items():
            where = TopicPartition(self._names.get(key[0], ""), key[1])
            state = f"acknowledging records of {where.topic}-{where.partition}"
            self.failed[where] = consumer_error(error, text, state=state)

    def _try_later(self, node_id: int) -> None:
        client = self._client
        client.metadata.refresh()
        self._retry_at[node_id] = client.loop.time() + client.backoff().next_ms() / 1000


def _parts(answer: Any) -> Iterable[tuple[Key, Any]]:
    for topic in answer.responses:
        for data in topic.partitions:
            yield (topic.topic_id, data.partition_index), data
