"""Tokens for OAUTHBEARER from an issuer's token endpoint, for client credentials (KIP-768).

A token is asked for before the first connection, and used for all connections until four fifths of
its lifetime have passed. Then the next one that logs in asks for another. A login that is renewed
on an open connection does not wait for that: it uses the token that there is, which is still valid.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any, Final

from fencepost_client.errors import AuthenticationError, NetworkError

_REFRESH_SHARE: Final = 0.8
"""Kafka's ``sasl.login.refresh.window.factor``."""
_ANSWER_BYTES_MAX: Final = 1 << 20
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_SERVER_ERRORS: Final = 500
_TOO_MANY_REQUESTS: Final = 429


@dataclass(frozen=True, slots=True)
class Credentials:
    """Where a client gets its tokens, and as whom."""

    url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: the secret is for one host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow none."""


class ClientCredentials:
    """The current token of a client."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._token: str | None = None
        self._refresh_at = 0.0
        self._fetching: asyncio.Task[None] | None = None
        self._timeout_s = 0.0

    def __call__(self) -> str:
        """Return the token, for a login."""
        if self._token is None:
            raise AuthenticationError("There is no token yet.")
        if monotonic() >= self._refresh_at:
            self._fetch(self._timeout_s)
        return self._token

    async def prepare(self, timeout_s: float) -> None:
        """Get a token, unless there is one that is new enough."""
        self._timeout_s = timeout_s
        if self._token is None or monotonic() >= self._refresh_at:
            # Other connections may wait for the same answer.
            await asyncio.shield(self._fetch(timeout_s))

    def _fetch(self, timeout_s: float) -> asyncio.Task[None]:
        if self._fetching is None:
            self._fetching = asyncio.get_running_loop().create_task(self._fetch_now(timeout_s))
            self._fetching.add_done_callback(self._fetched)
        return self._fetching

    def _fetched(self, task: asyncio.Task[None]) -> None:
        self._fetching = None
        if not task.cancelled():
            task.exception()  # it was raised where the token is needed, or will be next time

    async def _fetch_now(self, timeout_s: float) -> None:
        asked_at = monotonic()
        try:
            # asyncio has no HTTP client, and urllib blocks.
            answer = await asyncio.to_thread(partial(ask, self._credentials, timeout_s))
        except RuntimeError as error:
            # The interpreter ends, and starts no threads any more.
            raise NetworkError(f"No token: {error}.") from error
        self._token, lifetime_s = read_answer(answer, self._credentials.url)
        self._refresh_at = asked_at + _REFRESH_SHARE * lifetime_s


def ask(credentials: Credentials, timeout_s: float) -> bytes:
    """Ask the token endpoint, and return its answer; this blocks."""
    form = {"grant_type": "client_credentials"}
    if credentials.scope is not None:
        form["scope"] = credentials.scope
    login = f"{credentials.client_id}:{credentials.client_secret}".encode()
    request = urllib.request.Request(  # noqa: S310 (settings allow http and https only)
        credentials.url,
        urllib.parse.urlencode(form).encode(),
        {
            "Accept": "application/json",
            "Authorization": f"Basic {base64.b64encode(login).decode()}",
        },
    )
    opener = urllib.request.build_opener(
        _NoRedirect, urllib.request.HTTPSHandler(context=ssl.create_default_context())
    )
    try:
        with opener.open(request, timeout=timeout_s) as response:
            told: bytes = response.read(_ANSWER_BYTES_MAX)
            return told
    except urllib.error.HTTPError as error:
        with error:
            why = f"{credentials.url} answers {error.code} {error.reason}"
            if error.code >= _SERVER_ERRORS or error.code == _TOO_MANY_REQUESTS:
                raise NetworkError(f"No token: {why}.") from None
            told = error.read(_ANSWER_BYTES_MAX)
        raise AuthenticationError(f"The token endpoint refuses: {why}{_error_of(told)}.") from None
    except OSError as error:
        told_why = getattr(error, "reason", None) or error
        raise NetworkError(f"No token from {credentials.url}: {told_why}.") from error


def _error_of(answer: bytes) -> str:
    """Return the error of an answer by RFC 6749, if it has one."""
    try:
        told = json.loads(answer)
        words = [told[name] for name in ("error", "error_description") if name in told]
    except (ValueError, TypeError):
        return ""
    return "".join(f", {word!s:.200}" for word in words)


def read_answer(answer: bytes, url: str) -> tuple[str, float]:
    """Return the token of an answer, and for how many seconds it is valid (0: not told)."""
    try:
        told = json.loads(answer)
        token, lifetime_s = told["access_token"], float(told.get("expires_in") or 0)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise AuthenticationError(
            f"The answer of {url} is not a token by RFC 6749: JSON with access_token."
        ) from None
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise AuthenticationError(f"The access_token of {url} is not a token by RFC 6750.")
    return token, lifetime_s
