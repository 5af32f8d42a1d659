"""``FetchLoop``: sends the fetches of a consumer, whenever the fetcher has one to send."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import Iterable
from typing import Final

from fencepost_protocol.generated.fetch import FetchRequest, FetchResponse
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.offset_for_leader_epoch import OffsetForLeaderEpochResponse

from fencepost_client.consumer.fetcher import Fetch, Fetcher, FetchSettings
from fencepost_client.consumer.positions import Position
from fencepost_client.consumer.record_batch import EncodedBatch, RecordBatch
from fencepost_client.consumer.truncation import EpochCheck
from fencepost_client.errors import KafkaError
from fencepost_client.metadata.new_leaders import leaders_of_fetch
from fencepost_client.network.link import Link, ReplyCallbacks
from fencepost_client.network.network_client import NetworkClient
from fencepost_client.network.ready_links import ReadyLinks
from fencepost_client.network.wake_time import wake_time
from fencepost_client.types import ConsumerRecord

FAREWELL_SECONDS: Final = 1.0
"""The longest time that a closing consumer waits for the end of its sessions."""
MUCH_BYTES: Final = 1 << 16
"""So much keeps the application busy for long: the next Fetch is sent first, and the broker works
meanwhile. After less, that would delay the records."""
_FAREWELL: Final = "farewell"


class FetchLoop:
    """The loop of one consumer."""

    def __init__(self, client: NetworkClient, settings: FetchSettings) -> None:
        self.fetcher = Fetcher(settings, client.settings.chance)
        self._client = client
        self._settings = settings
        self._is_due = False
        self._timer: asyncio.TimerHandle | None = None
        self._news = asyncio.Event()
        self._first = 0
        self._is_ending = False
        client.on_change = self.run_soon

    def take(self, limit: int) -> list[ConsumerRecord]:
        """Take fetched records, by turns of partitions. Raises the error of a partition."""
        records: list[ConsumerRecord] = []
        positions = self._in_turn()
        # None of what is made here is garbage, and the collector would look at it again and again.
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            for position in positions:
                if len(records) < limit:
                    position.take(limit, records)
            self._taken(bool(records))
        finally:
            if was_enabled:
                gc.enable()
        return records

    def take_batches(self, limit: int) -> list[RecordBatch]:
        """Take whole batches; the last one may exceed the limit."""
        batches: list[RecordBatch] = []
        taken = 0
        for position in self._in_turn():
            taken += position.take_batches(limit - taken, batches)
        self._taken(bool(batches))
        return batches

    def take_encoded(self, limit_bytes: int) -> list[EncodedBatch]:
        """Take encoded batches; the last one may exceed the limit."""
        batches: list[EncodedBatch] = []
        taken = 0
        for position in self._in_turn():
            taken += position.take_encoded(limit_bytes - taken, batches)
        self._taken(bool(batches))
        return batches

    def _in_turn(self) -> list[Position]:
        positions = list(self.fetcher.positions.values())
        if positions:
            self._first = (self._first + 1) % len(positions)
        ordered = positions[self._first :] + positions[: self._first]
        self._raise_error(ordered[:1])
        return [each for each in ordered if each.error is None and not each.is_paused]

    def _taken(self, anything: bool) -> None:
        if anything:
            # A later error has to wait, or these records would be lost.
            self.run_soon()
            return
        self._news.clear()
        self._raise_error(self.fetcher.positions.values())

    def _raise_error(self, positions: Iterable[Position]) -> None:
        """Raise the first error, once."""
        for position in positions:
            if position.error is not None:
                error, position.error = position.error, None
                self.run_soon()  # it may be fetched again
                raise error

    async def more(self, seconds: float) -> None:
        """Wait for records, or until the time is over."""
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return

    def wake(self) -> None:
        """Wake all tasks that wait for records."""
        self._news.set()

    def run_soon(self) -> None:
        """Run in the loop's next turn."""
        if not self._is_due:
            self._is_due = True
            self._client.loop.call_soon(self._run)

    def _run(self) -> None:
        self._is_due = False
        client, fetcher = self._client, self.fetcher
        if client.closed or self._is_ending:
            return
        links = ReadyLinks(client)
        fetches, checks = fetcher.requests(client.now_ms(), client.cluster, links.is_ready)
        for fetch in fetches:
            self._send(fetch, links.of(fetch.node_id))
        for check in checks:
            self._check(check, links.of(check.node_id))
        if fetcher.wants_metadata:
            fetcher.wants_metadata = False
            client.metadata.refresh()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if fetcher.wake_at_ms is not None:
            self._timer = client.loop.call_at(wake_time(fetcher.wake_at_ms), self.run_soon)

    def _send(self, fetch: Fetch, link: Link) -> None:
        client = self._client
        try:
            version_max = self.fetcher.version_max(fetch, client.cluster)
            version = link.machine.choose_version(ApiKey.FETCH, version_max)
            request = self.fetcher.request(fetch, client.cluster, version)
            wait_ms = self._settings.max_wait_ms
            timeout_ms = client.settings.request_timeout_ms + wait_ms
            handler = ReplyCallbacks(client.loop, fetch, self._fetched, self._failed)
            link.send_for(handler, request, version, timeout_ms, wait_ms)
        except KafkaError as error:
            self._failed(fetch, error)

    def _check(self, check: EpochCheck, link: Link) -> None:
        client = self._client
        try:
            version = link.machine.choose_version(ApiKey.OFFSET_FOR_LEADER_EPOCH)
            handler = ReplyCallbacks(client.loop, check, self._checked, self._failed)
            timeout_ms = client.settings.request_timeout_ms
            link.send_for(handler, check.request(), version, timeout_ms)
        except KafkaError as error:
            self._failed(check, error)

    def _fetched(self, fetch: Fetch, response: FetchResponse) -> None:
        now_ms = self._client.now_ms()
        moved = self._client.cluster.take_leaders(*leaders_of_fetch(response, fetch.names))
        self.fetcher.answered(now_ms, fetch, response)
        if moved:
            for where in moved & fetch.partitions.keys():
                fetch.partitions[where][0].retry_at_ms = now_ms
        if _size_of(response) >= MUCH_BYTES:
            self._run()
            self._news.set()
        else:
            self._news.set()
            self.run_soon()

    def _checked(self, check: EpochCheck, response: OffsetForLeaderEpochResponse) -> None:
        self.fetcher.checked(self._client.now_ms(), check, response)
        self._news.set()
        self.run_soon()

    def _failed(self, asked: Fetch | EpochCheck, error: KafkaError) -> None:
        self.fetcher.failed(self._client.now_ms(), asked, error)
        self._news.set()
        self.run_soon()

    async def end_sessions(self) -> None:
        """End the fetch sessions (KIP-227), as far as brokers answer quickly."""
        self._is_ending = True
        ended = self.fetcher.end_sessions()
        if ended:
            tasks = [self._client.spawn(self._end(*each)) for each in ended.items()]
            await asyncio.wait(tasks, timeout=FAREWELL_SECONDS)

    async def _end(self, node_id: int, request: FetchRequest) -> None:
        with contextlib.suppress(KafkaError):
            # After a Fetch that waits for records, this request would wait as well.
            channel = _FAREWELL if self.fetcher.is_busy(node_id) else ""
            link = await self._client.link_beside(node_id, channel)
            if link is not None:
                version = link.machine.choose_version(ApiKey.FETCH)
                await link.send(request, version, self._client.settings.request_timeout_ms)

    def stop(self) -> None:
        """Stop, after the connections are closed."""
        if self._timer is not None:
            self._timer.cancel()
        self._news.set()


def _size_of(response: FetchResponse) -> int:
    return sum(
        len(data.records or b"") for topic in response.responses for data in topic.partitions
    )
