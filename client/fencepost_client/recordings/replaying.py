"""Sends the requests of a recording again, and compares the answers.

Each recorded connection is one connection. A request is sent when all answers are in that stand
before it in the recording, so what the recorded clients knew when they sent it has happened.
"""

from __future__ import annotations

import asyncio
import io
import struct
from collections import deque
from collections.abc import Container, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar

from fencepost_protocol.apis import WITHOUT_SCHEMA, request_class
from fencepost_protocol.exceptions import LocalProtocolError, ProtocolError, RemoteProtocolError
from fencepost_protocol.framing import (
    SIZE_BYTES,
    encode_request,
    read_request_head,
)
from fencepost_protocol.generated.index import APIS, ApiKey

from fencepost_client.errors import KafkaError, NetworkError
from fencepost_client.network.client_settings import read_bootstrap
from fencepost_client.network.security import Security
from fencepost_client.progress import Progress
from fencepost_client.recordings.comparison import (
    Comparison,
    FieldDifference,
    is_sooner,
    may_pass,
)
from fencepost_client.recordings.file import (
    ANSWER_ID_BYTES,
    REQUEST_ID_BYTES,
    Entry,
    EntryKind,
    read_entries,
)
from fencepost_client.recordings.hidden import is_hidden
from fencepost_client.recordings.ids import Ids
from fencepost_client.recordings.misdirected import decoded, learn_epochs, misdirected
from fencepost_client.recordings.requests import translate
from fencepost_client.recordings.result import Difference, Replayed
from fencepost_client.recordings.streams import FetchComparison
from fencepost_client.recordings.target import Target, TargetConnection

T = TypeVar("T")

DEFAULT_TIMEOUT_S: Final = 30.0
RETRY_S: Final = 10.0
"""The time for which a request is repeated whose answer may become as recorded."""
_PAUSE_S: Final = 0.02
_REQUEST_ID: Final = struct.Struct(">hhi")
_NOT_COMPARED: Final = frozenset({ApiKey.API_VERSIONS})
"""What a target serves is compared by what it answers, not by what it says it serves."""

_TOLD_LATER: Final = frozenset({ApiKey.CONSUMER_GROUP_HEARTBEAT})
"""APIs by which a client asks again and again whether something has changed."""


@dataclass(slots=True)
class _Sent:
    """A request that was sent and whose recorded answer comes later in the file."""

    number: int
    api_key: int
    version: int
    recorded_id: int
    sent_id: int
    recorded: Any
    """The message as recorded; ``None`` if it cannot be read."""
    message: Any
    """The message as sent."""

    @property
    def api(self) -> str:
        return api_name(self.api_key)


@dataclass(slots=True)
class _Connection:
    """A recorded connection."""

    target: TargetConnection | None = None
    sent: deque[_Sent] = field(default_factory=deque)
    is_refused: bool = False
    """Whether the target could not be connected to."""
    skipped: set[int] = field(default_factory=set)
    """Correlation ids of requests that were not sent."""
    left_out: dict[int, tuple[int, int]] = field(default_factory=dict)
    """API and version of requests that were not sent because a broker refused them."""


class Replay:
    """A replay of one recording."""

    def __init__(
        self, bootstrap: str, security: Security | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S, retry_s: float = RETRY_S,
        progress_to: TextIO | None = None,
    ) -> None:  # fmt: skip
        self._bootstrap = read_bootstrap(bootstrap)
        self._target = Target(security or Security(), timeout_s)
        self._ids = Ids()
        self._retry_s = retry_s
        self._comparison = Comparison(self._ids)
        self._connections: dict[int, _Connection] = {}
        self._session_epochs: dict[int, int] = {}
        """The last epoch that was sent, by fetch session of the target."""
        self._left_out: Container[int] = ()
        self._result = Replayed()
        self._progress_to = progress_to

    async def run(
        self, entries: Iterable[Entry], left_out: Container[int] = (), requests: int = 0
    ) -> Replayed:
        """Replay; raises ``KafkaError`` if the target cannot be reached.

        ``left_out`` are the numbers of requests that are not sent: see ``misdirected``. Of how many
        ``requests`` the entries are, progress tells; 0: it is not known.
        """
        self._left_out = left_out
        progress = Progress(requests, "requests", self._progress_to)
        try:
            await (await self._connect()).close()
            for entry in entries:
                connection = self._connections.setdefault(entry.connection, _Connection())
                if entry.kind is EntryKind.REQUEST:
                    self._result.requests += 1
                    progress.advance()
                    await self._request(connection, entry.data)
                elif entry.kind is EntryKind.ANSWER:
                    await self._answer(connection, entry.data)
                else:
                    await self._close(self._connections.pop(entry.connection))
        finally:
            progress.clear()
            for each in self._connections.values():
                await self._close(each)
        for place, shift in sorted(self._ids.offset_shifts.items()):
            if shift:
                self._result.notes.append(
                    f"offsets of {place[0]}-{place[1]} are recorded ones {shift:+d}"
                )
        return self._result

    async def _connect(self) -> TargetConnection:
        failure: NetworkError | None = None
        for address in self._bootstrap:
            try:
                return await self._target.connect(*address)
            except NetworkError as error:
                failure = error
        assert failure is not None, "there is an address"
        raise failure

    async def _close(self, connection: _Connection) -> None:
        if connection.target is not None:
            await connection.target.close()

    # -- requests --------------------------------------------------------------------------------

    async def _request(self, connection: _Connection, data: bytes) -> None:
        frame = memoryview(data)
        try:
            api_key, version, recorded_id, client_id, body = read_request_head(frame)
        except RemoteProtocolError:
            if len(data) != REQUEST_ID_BYTES:
                self._note("a request has no header that can be read: it was left out")
                return
            api_key, version, recorded_id = _REQUEST_ID.unpack_from(data)
            client_id, body = None, REQUEST_ID_BYTES
        number, api = self._result.requests, api_name(api_key)
        if number in self._left_out:
            self._note(f"{api} was left out where a broker refused it because it did not lead")
            connection.left_out[recorded_id] = api_key, version
            return
        message = recorded = None
        if api_key in APIS and _is_known(api_key, version):
            kind = request_class(api_key)
            with suppress(RemoteProtocolError):
                message = kind.decode(frame, version, body)[0]
                recorded = kind.decode(frame, version, body)[0]
        if len(data) == REQUEST_ID_BYTES or is_hidden(api_key, message):
            self._note(f"{api} was left out: it has secrets, which recordings hide")
            connection.skipped.add(recorded_id)
            return
        if not self._target.serves(api_key, version):
            self._tell(number, api, "", f"{api} v{version}", "the target does not serve it")
            connection.skipped.add(recorded_id)
            return
        target = await self._target_of(connection, number, api)
        if target is None or target.why_lost:
            connection.skipped.add(recorded_id)
            return
        if message is not None:
            translate(f"{api}Request", version, message, self._ids)
            if api_key == ApiKey.FETCH:
                self._count_session(message)
            try:
                data = bytes(encode_request(message, version, recorded_id, client_id)[SIZE_BYTES:])
            except LocalProtocolError:
                recorded = None  # sent as it is
        sent_id = target.send(data)
        if api_key != ApiKey.PRODUCE or message is None or message.acks != 0:
            connection.sent.append(
                _Sent(number, api_key, version, recorded_id, sent_id, recorded, message)
            )

    async def _target_of(
        self, connection: _Connection, number: int, api: str
    ) -> TargetConnection | None:
        """Return the target's connection for a recorded one; ``None`` if it cannot be made."""
        if connection.target is None and not connection.is_refused:
            try:
                connection.target = await self._connect()
            except KafkaError as error:
                connection.is_refused = True
                self._tell(number, api, "", "an answer", error.message)
        return connection.target

    def _count_session(self, message: Any) -> None:
        """Give a Fetch within a session the next epoch, since Fetches may have been repeated."""
        if message.session_id and message.session_epoch > 0:
            epoch = self._session_epochs.get(message.session_id, 0) + 1
            self._session_epochs[message.session_id] = message.session_epoch = epoch

    # -- answers ---------------------------------------------------------------------------------

    async def _answer(self, connection: _Connection, data: bytes) -> None:
        recorded_id = int.from_bytes(data[:SIZE_BYTES], signed=True)
        if recorded_id in connection.left_out:
            api_key, version = connection.left_out.pop(recorded_id)
            learn_epochs(api_key, decoded(api_key, version, memoryview(data)), self._ids)
            return
        if all(each.recorded_id != recorded_id for each in connection.sent):
            connection.skipped.discard(recorded_id)
            return
        sent = connection.sent.popleft()
        while sent.recorded_id != recorded_id:
            sent = connection.sent.popleft()  # the one before has no answer in the recording
        assert connection.target is not None, "a request was sent"
        frame = await self._receive(connection.target, sent)
        if frame is None:
            if connection.target.why_lost:
                self._tell(sent.number, sent.api, "", "an answer", connection.target.why_lost)
            return
        if len(data) > ANSWER_ID_BYTES and sent.api_key not in _NOT_COMPARED:
            await self._compare(connection, sent, data, frame)

    async def _receive(self, target: TargetConnection, sent: _Sent) -> memoryview | None:
        """Return the answer to a request; earlier requests were not answered in the recording."""
        while not target.why_lost:
            found = await target.receive()
            if found is None:
                return None
            if found[0] == sent.sent_id:
                return found[1]
            if found[0] > sent.sent_id:
                target.why_lost = f"the answer with correlation id {found[0]} came first"
        return None

    async def _compare(
        self, connection: _Connection, sent: _Sent, data: bytes, frame: memoryview
    ) -> None:
        """Compare an answer, and repeat the request while it may become as recorded."""
        if sent.recorded is None:
            if data[SIZE_BYTES:] != frame[SIZE_BYTES:]:
                self._tell(sent.number, sent.api, "", f"{len(data)} bytes", "other bytes")
            return
        try:
            recorded = decoded(sent.api_key, sent.version, memoryview(data))
        except ProtocolError as error:
            self._note(f"an answer to {sent.api} cannot be read in the recording: {error}")
            return
        learn_epochs(sent.api_key, recorded, self._ids)
        fetch = (
            FetchComparison(self._ids, sent.recorded, recorded)
            if sent.api_key == ApiKey.FETCH
            else None
        )
        loop = asyncio.get_running_loop()
        end = loop.time() + self._retry_s
        while True:
            try:
                got = decoded(sent.api_key, sent.version, frame)
            except ProtocolError as error:
                self._tell(sent.number, sent.api, "", "an answer", f"it cannot be read: {error}")
                return
            if fetch is not None:
                self._session_epochs.setdefault(got.session_id, 0)
                found = fetch.add(got)
                may_change = bool(fetch.first_missing) or may_pass(found)
            else:
                group = getattr(sent.recorded, "group_id", "")
                found = self._comparison.compare(
                    f"{sent.api}Response", sent.version, recorded, got, group
                )
                may_change = may_pass(found) or (
                    sent.api_key in _TOLD_LATER and all(each.error is None for each in found)
                )
            target = connection.target
            if not found or not may_change or connection.sent:
                break
            if loop.time() >= end:
                self._retry_s /= 10  # there is a difference, and more may follow from it
                break
            assert target is not None, "a request was sent"
            await asyncio.sleep(_PAUSE_S)
            if fetch is not None:
                self._continue_fetch(fetch, sent, got)
            again = encode_request(sent.message, sent.version, 0, "fencepost-replay")
            sent.sent_id = target.send(again[SIZE_BYTES:])
            next_frame = await self._receive(target, sent)
            if next_frame is None:
                break
            frame = next_frame
        self._result.compared += 1
        if found and is_sooner(found):
            self._result.sooner += 1
        else:
            self._tell_all(sent, found)

    def _continue_fetch(self, fetch: FetchComparison, sent: _Sent, got: Any) -> None:
        """Ask for the records that are missing."""
        for topic in sent.message.topics:
            for each in topic.partitions:
                recorded_id = self._ids.topic_id_of(bytes(topic.topic_id))
                name = self._ids.topic(topic.topic, recorded_id)
                offset = fetch.first_missing.get((name, each.partition))
                each.fetch_offset = each.fetch_offset if offset is None else offset
        if got.session_id:
            sent.message.session_id, sent.message.session_epoch = got.session_id, 1
            self._count_session(sent.message)

    # -- reporting -------------------------------------------------------------------------------

    def _tell_all(self, sent: _Sent, found: list[FieldDifference]) -> None:
        for each in found:
            self._tell(sent.number, sent.api, each.path, each.recorded, each.got)

    def _tell(self, number: int, api: str, path: str, recorded: str, got: str) -> None:
        self._result.differences.append(Difference(number, api, path, recorded, got))

    def _note(self, text: str) -> None:
        if text not in self._result.notes:
            self._result.notes.append(text)


def api_name(api_key: int) -> str:
    """Return an API's name, or its number."""
    if api_key in APIS:
        return APIS[api_key][0]
    return WITHOUT_SCHEMA.get(api_key, f"API {api_key}")


def _is_known(api_key: int, version: int) -> bool:
    kind = request_class(api_key)
    return kind.MIN_VERSION <= version <= kind.MAX_VERSION


async def replay_file(path: str | Path, replay: Replay) -> Replayed:
    """Replay the recording in a file; raises ``RecordingError``, ``OSError`` or ``KafkaError``."""
    content = await asyncio.to_thread(Path(path).read_bytes)
    # This reads all of it before anything is sent, which may be damaged.
    left_out = misdirected(read_entries(io.BytesIO(content)))
    kinds = [entry.kind for entry in read_entries(io.BytesIO(content))]
    requests = kinds.count(EntryKind.REQUEST)
    return await replay.run(read_entries(io.BytesIO(content)), left_out, requests)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a replay where no event loop runs."""
    return asyncio.run(work)
