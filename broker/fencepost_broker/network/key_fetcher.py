"""Keys of signed tokens, fetched from an endpoint by HTTP (KIP-768) while logins go on.

Behaviour: as in Apache Kafka, a listener opens when it has its keys. They are fetched again after
``sasl.oauthbearer.jwks.endpoint.refresh.ms``, and soon after a token names an unknown key: that
login is refused, the next one finds the key. What an endpoint answers instead of keys leaves the
keys that there are.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import aiohttp

from fencepost_broker.config.errors import SettingsError
from fencepost_broker.security.authentication.signing_keys import read_key_set

if TYPE_CHECKING:
    from fencepost_broker.observability.logging import Logger
    from fencepost_broker.security.authentication.signing_keys import KeysAtEndpoint

ANSWER_BYTES_MAX: Final = 1 << 19
ANSWER_S_MAX: Final = 10.0
"""How long an endpoint may take for an answer."""
UNKNOWN_S: Final = 10.0
"""Unknown keys let the keys be fetched at most once in this time: anybody can name some."""
_NOT_PACKED: Final = {"Accept": "application/json", "Accept-Encoding": "identity"}


class KeyFetcher:
    """Keeps the keys of one endpoint up to date until it is stopped."""

    def __init__(self, keys: KeysAtEndpoint, log: Logger) -> None:
        self._keys = keys
        self._log = log
        # aiohttp's own would trust the authorities that there were when it was imported.
        self._tls = ssl.create_default_context() if keys.url.startswith("https") else True
        self._early = asyncio.Event()
        self._early_from = 0.0
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Fetch the first keys, and then again and again; raises SettingsError without keys."""
        why = await self._refresh()
        if why is not None:
            raise SettingsError([f"sasl.oauthbearer.jwks.endpoint.url: {why}"])
        self._keys.on_unknown = self._want_early
        self._task = asyncio.get_running_loop().create_task(self._repeat())

    async def stop(self) -> None:
        """Fetch no more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def _want_early(self) -> None:
        now_s = asyncio.get_running_loop().time()
        if now_s >= self._early_from:
            self._early_from = now_s + UNKNOWN_S
            self._early.set()

    async def _repeat(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._keys.refresh_ms / 1000):
                    await self._early.wait()
            self._early.clear()
            why = await self._refresh()
            if why is not None:
                self._log.warning("the keys of signed tokens stay as they are", why=why)

    async def _refresh(self) -> str | None:
        """Fetch the keys, several times if need be; return why they are not there."""
        loop = asyncio.get_running_loop()
        end_s = loop.time() + self._keys.retry_backoff_max_ms / 1000
        pause_s = self._keys.retry_backoff_ms / 1000
        while True:
            try:
                text = await self._get()
                # An endpoint decides how many keys there are to read.
                self._keys.keys = await asyncio.to_thread(read_key_set, text, self._keys.url)
            except (aiohttp.ClientError, OSError, ValueError) as error:
                why = str(error) or f"{self._keys.url}: {type(error).__name__}"
            else:
                return None
            left_s = end_s - loop.time()
            if left_s <= 0:
                return why
            await asyncio.sleep(min(pause_s, left_s))
            pause_s *= 2

    async def _get(self) -> bytes:
        url = self._keys.url
        found = bytearray()
        async with (
            aiohttp.ClientSession(
                auto_decompress=False, timeout=aiohttp.ClientTimeout(total=ANSWER_S_MAX)
            ) as session,
            session.get(url, headers=_NOT_PACKED, allow_redirects=False, ssl=self._tls) as answer,
        ):
            if answer.status != HTTPStatus.OK:
                raise ValueError(f"{url} answers {answer.status} {answer.reason}")
            async for part in answer.content.iter_any():
                found += part
                if len(found) > ANSWER_BYTES_MAX:
                    raise ValueError(f"the answer of {url} has more than {ANSWER_BYTES_MAX} bytes")
        return bytes(found)
