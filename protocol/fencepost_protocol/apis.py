"""All APIs by key: versions, classes, and the versions that a broker advertises.

Generated modules are imported on first use, so that a process imports only those that it needs.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any, ClassVar, Final, NamedTuple, Protocol, Self

from fencepost_protocol.generated.index import APIS, MODULES, ApiKey

WITHOUT_SCHEMA: Final = {
    52: "Vote",
    53: "BeginQuorumEpoch",
    54: "EndQuorumEpoch",
}
"""Other APIs of Apache Kafka, by name only."""


class Message(Protocol):
    """The interface of all generated messages and records."""

    NAME: ClassVar[str]
    MIN_VERSION: ClassVar[int]
    MAX_VERSION: ClassVar[int]
    FLEXIBLE_FROM: ClassVar[int | None]

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``."""

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[Any, int]:
        """Read the message at ``pos``."""


class Api(NamedTuple):
    """An API, as its schemas define it."""

    key: ApiKey
    name: str
    min_version: int
    max_version: int
    flexible_from: int | None
    latest_version_unstable: bool
    listeners: tuple[str, ...]

    @classmethod
    def of(cls, key: int) -> Self | None:
        """The API with a key, or ``None``."""
        entry = APIS.get(key)
        return cls(ApiKey(key), *entry) if entry else None

    @property
    def advertised(self) -> tuple[int, int]:
        """The versions in ApiVersions responses, as in Apache Kafka 4.3.

        Unstable versions are left out. Produce begins at 0 although its schema begins at 3, because
        librdkafka derives features of the broker from the lowest version.
        """
        low = 0 if self.key == ApiKey.PRODUCE else self.min_version
        return low, self.max_version - self.latest_version_unstable

    def is_flexible(self, version: int) -> bool:
        """Whether this version has compact lengths and tagged fields."""
        return self.flexible_from is not None and version >= self.flexible_from


@functools.cache
def message_class(name: str) -> type[Message]:
    """The generated class of a message or record, by its schema's name."""
    module = importlib.import_module(f"fencepost_protocol.generated.{MODULES[name]}")
    found: type[Message] = getattr(module, name)
    return found


def request_class(key: int) -> type[Message]:
    """The request of an API."""
    return message_class(f"{APIS[key][0]}Request")


def response_class(key: int) -> type[Message]:
    """The response of an API."""
    return message_class(f"{APIS[key][0]}Response")


FLEXIBLE_FROM: Final[dict[int, int]] = {
    key: entry[3] for key, entry in APIS.items() if entry[3] is not None
}
"""API key -> first flexible version; an API without one is absent."""
