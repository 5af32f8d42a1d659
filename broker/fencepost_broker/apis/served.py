"""One API: its key, its versions, and the handler that answers it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fencepost_protocol.apis import Api
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.request import Pieces, Request


class Later:
    """A handler whose module its first request imports: starting does not wait for it."""

    __slots__ = ("_handler", "_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name
        self._handler: Callable[[Any, Request], Pieces | None] | None = None

    def __call__(self, broker: Any, request: Request) -> Pieces | None:
        """Answer a request."""
        return (self._handler or self.load())(broker, request)

    def load(self) -> Callable[[Any, Request], Pieces | None]:
        """The handler itself."""
        loaded: Callable[[Any, Request], Pieces | None]
        loaded = getattr(importlib.import_module(self._module), self._name)
        self._handler = loaded
        return loaded


@dataclass(frozen=True, slots=True)
class Served:
    """One API and who answers it."""

    key: ApiKey
    handler: Callable[[Any, Request], Pieces | None]
    version_cap: int | None = None
    """The highest version that may be used, where that is not the highest there is."""
    is_passed_on: bool = False
    """The controller answers it, which is another process."""

    @property
    def versions(self) -> tuple[int, int]:
        """What is advertised."""
        api = Api.of(self.key)
        assert api is not None
        low, high = api.advertised
        return low, high if self.version_cap is None else min(high, self.version_cap)

    @property
    def accepted(self) -> tuple[int, int]:
        """What its handler takes; below the schema's range there is no layout to read by."""
        if self.key is ApiKey.API_VERSIONS:
            return -(1 << 15), (1 << 15) - 1  # it answers every version
        api = Api.of(self.key)
        assert api is not None
        return api.min_version, self.versions[1]
