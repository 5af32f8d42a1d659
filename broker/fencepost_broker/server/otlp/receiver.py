"""A receiver of OTLP, to which messages are posted one at a time.

A receiver that is down or slow costs the broker nothing but what its senders hold, which is
bounded: a request has a time limit, and the log gets one line until the receiver is back.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import aiohttp

if TYPE_CHECKING:
    from fencepost_broker.observability.logging import Logger

SECONDS_MAX: Final = 10.0
"""How long a receiver may take."""
_HEADERS: Final = {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
_LATER: Final = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
)
"""The statuses after which OTLP allows to send the same again."""

Outcome: TypeAlias = Literal["taken", "later", "refused"]
"""later: the same message may be sent again; refused: it must not be."""


class Receiver:
    """Where the setting ``otlp.endpoint`` points."""

    def __init__(self, endpoint: str, log: Logger) -> None:
        self._endpoint = endpoint.rstrip("/")
        self._log = log
        self._session: aiohttp.ClientSession | None = None
        self._failing: set[str] = set()
        """The paths whose last message was not taken."""

    async def post(self, path: str, content: bytes) -> Outcome:
        """Send a message, packed with gzip, to a path such as ``v1/metrics``."""
        url = f"{self._endpoint}/{path}"
        if self._session is None:
            self._session = aiohttp.ClientSession(headers=_HEADERS)
        outcome: Outcome = "taken"
        why = ""
        try:
            async with self._session.post(
                url,
                data=content,
                timeout=aiohttp.ClientTimeout(total=SECONDS_MAX),
                allow_redirects=False,
            ) as answer:
                if not answer.ok or answer.status >= HTTPStatus.MULTIPLE_CHOICES:
                    outcome = "later" if answer.status in _LATER else "refused"
                    why = f"{answer.status} {answer.reason}"
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            outcome, why = "later", str(error) or type(error).__name__
        self._tell(path, url, why)
        return outcome

    def _tell(self, path: str, url: str, why: str) -> None:
        """Log that a receiver fails, once, and that it is back."""
        if why and path not in self._failing:
            self._failing.add(path)
            self._log.warning(
                "the OTLP receiver takes nothing: it is tried again", url=url, why=why
            )
        elif not why and path in self._failing:
            self._failing.discard(path)
            self._log.info("the OTLP receiver is back", url=url)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
