"""``datetime`` of the time of a simulation.

``date.today`` and ``datetime.today`` ask ``time.time``, which is the simulation's. ``datetime.now``
and ``utcnow`` ask the system, so the name ``datetime`` is bound to the class below while a
simulation runs. All that it makes are plain ``datetime`` objects.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

REAL: Final[Any] = datetime


class _LikeDatetime(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, REAL)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, REAL)


class SimulatedDatetime(REAL, metaclass=_LikeDatetime):  # type: ignore[misc]
    """In place of ``datetime``: it has the simulation's time, and is the same otherwise."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        """Make a plain ``datetime``."""
        return REAL(*args, **options)

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Any:
        """Return the time of the process."""
        return REAL.fromtimestamp(time.time(), tz)

    @classmethod
    def utcnow(cls) -> Any:
        """Return the time of the process in UTC, without its time zone."""
        return REAL.fromtimestamp(time.time(), UTC).replace(tzinfo=None)
