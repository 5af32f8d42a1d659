"""What machines are given by the process they run in: time, chance, and where it is reached."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol


class Timer(Protocol):
    """A call that will be made, unless it is cancelled."""

    def cancel(self) -> None:
        """Do not make it."""


class Clock(Protocol):
    """State time and wire time."""

    @property
    def runs(self) -> bool:
        """Whether state time passes by itself; if not, moving it by hand wakes what is due."""

    def now_ms(self) -> int:
        """State time, in milliseconds since 1970."""

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Timer:
        """Wire time: make a call later."""


class Chance(Protocol):
    """The one seeded source of chance; a ``random.Random`` is one."""

    def randbytes(self, n: int, /) -> bytes:
        """``n`` random bytes."""

    def randrange(self, stop: int, /) -> int:
        """A number from 0 to ``stop - 1``."""


class Address(NamedTuple):
    """Where a listener is reached from outside."""

    listener: str
    host: str
    port: int

    @property
    def bootstrap(self) -> str:
        """``host:port``, as clients write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def client_id_of_broker(node_id: int, what: str) -> str:
    """Return the client id of a broker at another one; ``what`` is what the connection is for."""
    return f"broker-{node_id}-{what}"


def is_of_broker(client_id: str | None) -> bool:
    """Whether a client id is that of a broker."""
    return re.fullmatch(r"broker-[0-9]+-.+", client_id or "") is not None


class RemoteClient:
    """Who is at the other end of a connection."""

    __slots__ = ("address", "at_end", "has_token", "is_connected")

    def __init__(self, address: str = "", *, has_token: bool = False) -> None:
        self.address = address
        """Host and port; empty where no socket is between."""
        self.has_token = has_token
        """Whether the client has logged in with a delegation token."""
        self.is_connected = True
        self.at_end: dict[object, Callable[[], None]] = {}
        """What is called when the connection is lost, by the object that asked for it."""

    def disconnected(self) -> None:
        """Note that the connection is lost."""
        self.is_connected = False
        calls, self.at_end = self.at_end, {}
        for call in calls.values():
            call()


class ReadyList:
    """What goes on once the request that is being carried out is done.

    A partition that has moved, an effect of a coordinator, a connection whose next request may be
    carried out: each is put here and called in the loop's next turn, in order. So nothing that
    waits ever goes on in the middle of what ended its wait.
    """

    __slots__ = ("_calls", "_is_scheduled", "_schedule")

    def __init__(self, schedule: Callable[[Callable[[], None]], object] = lambda _: None) -> None:
        """``schedule`` makes a call in the loop's next turn."""
        self._calls: deque[Callable[[], None]] = deque()
        self._is_scheduled = False
        self._schedule = schedule

    def add(self, call: Callable[[], None]) -> None:
        """Make a call when this turn is over."""
        self._calls.append(call)
        if not self._is_scheduled:
            self._is_scheduled = True
            self._schedule(self.drain)

    def drain(self) -> None:
        """Make all calls, and those that they add."""
        calls = self._calls
        try:
            while calls:
                calls.popleft()()
        finally:
            self._is_scheduled = False
            if calls:  # one of them raised an error, which the loop reports: the rest goes on
                self._is_scheduled = True
                self._schedule(self.drain)
