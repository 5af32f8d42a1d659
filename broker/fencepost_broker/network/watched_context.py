"""A listener's SSL context that follows the files of its settings.

A certificate can be renewed while the broker runs: each handshake looks whether the key store or
the trust store has changed, and then reads both again. Files that cannot be used, such as one that
is only half written, leave the previous certificate in force.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any, Final

from fencepost_broker.config import Settings
from fencepost_broker.config.errors import SettingsError
from fencepost_broker.network.tls import server_context

_FILES: Final = ("ssl.keystore.location", "ssl.truststore.location")


class WatchedContext:
    """The SSL context of a listener."""

    def __init__(self, settings: Settings, listener: str, log: Any) -> None:
        """Read the files; a SettingsError says what is wrong with them."""
        self._settings = settings
        self._listener = listener
        self._log = log
        named = (settings.of_listener(name, listener) for name in _FILES)
        self._paths = [path for path in named if isinstance(path, str) and path]
        self._seen = self._facts()
        self._context = server_context(settings, listener)

    def current(self) -> ssl.SSLContext:
        """Return the context for the next handshake."""
        if self._paths and (facts := self._facts()) != self._seen:
            self._seen = facts
            try:
                self._context = server_context(self._settings, self._listener)
            except SettingsError as error:
                self._log.warning(
                    "the changed certificate of a listener cannot be used: the one before it stays",
                    listener=self._listener,
                    reason=str(error),
                )
            else:
                self._log.info("the certificate of a listener has changed", listener=self._listener)
        return self._context

    def _facts(self) -> list[tuple[int, int, int] | None]:
        return [_facts_of(path) for path in self._paths]


def _facts_of(path: str) -> tuple[int, int, int] | None:
    try:
        facts = Path(path).stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_mtime_ns, facts.st_size
