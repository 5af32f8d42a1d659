"""The public keys of signed tokens: a JSON Web Key Set (RFC 7517) in a file or at an endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol

try:
    import jwt
except ImportError as error:
    raise ValueError(
        "signed tokens need PyJWT and cryptography: pip install 'fencepost[oauth]'"
    ) from error


class SigningKeys(Protocol):
    """Where keys come from."""

    def current(self) -> Sequence[jwt.PyJWK]:
        """Return the keys that there are now; raises ValueError."""

    def want_others(self) -> None:
        """Learn that a token names a key that is not among the current ones."""


def read_key_set(text: str | bytes, where: object) -> list[jwt.PyJWK]:
    """Return the keys in a JSON Web Key Set that can be used; raises ValueError."""
    try:
        given = json.loads(text)["keys"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"{where} is not a JSON Web Key Set: {error!r:.200}") from error
    if not isinstance(given, list):
        raise ValueError(f"{where} is not a JSON Web Key Set: keys is not a list")  # noqa: TRY004
    found = []
    for each in given:
        with suppress(jwt.PyJWTError, ValueError, AttributeError, TypeError):
            found.append(jwt.PyJWK(each))
    return found


class KeysInFile:
    """Keys in a file, which is read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_as: tuple[int, int] | None = None
        self._keys: list[jwt.PyJWK] = []

    def current(self) -> Sequence[jwt.PyJWK]:
        """Read the file, unless it is the same as last time."""
        try:
            facts = self._path.stat()
            found = facts.st_mtime_ns, facts.st_size
            if found != self._read_as:
                self._keys = read_key_set(self._path.read_text("utf-8"), self._path)
                self._read_as = found
        except OSError as error:
            raise ValueError(f"{self._path} cannot be read: {error.strerror}") from error
        return self._keys

    def want_others(self) -> None:
        """Do nothing: each token is compared with the file as it is."""


keys_in_file: Final = lru_cache(16)(KeysInFile)
"""A listener's settings are checked before they are used, and a file is read once for both."""


@dataclass(slots=True)
class KeysAtEndpoint:
    """Keys that are fetched by HTTP, outside of logins (``network/key_fetcher.py``)."""

    url: str
    refresh_ms: int
    retry_backoff_ms: int
    retry_backoff_max_ms: int
    keys: Sequence[jwt.PyJWK] = ()
    on_unknown: Callable[[], None] = field(default=lambda: None)

    def __post_init__(self) -> None:
        if self.refresh_ms < 1:
            raise ValueError("sasl.oauthbearer.jwks.endpoint.refresh.ms must be at least 1")
        if not 0 < self.retry_backoff_ms <= self.retry_backoff_max_ms:
            raise ValueError(
                "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms must be at least 1, and"
                " sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms not less"
            )

    def current(self) -> Sequence[jwt.PyJWK]:
        """Return the keys that were fetched last."""
        return self.keys

    def want_others(self) -> None:
        """Let the keys be fetched before they are due."""
        self.on_unknown()
