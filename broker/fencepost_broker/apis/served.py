"""One API: its key, its versions, and the handler that answers it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fencepost_protocol.apis import Api, request_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.cutting import Cut
from fencepost_broker.apis.request import Answer, CompletedRequest, Pieces, Request, encode_answer
from fencepost_broker.controller.ports import ControllerSettings

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext

Handler = Callable[[Any, Request, Any], Answer | None]
"""Gives the answer to a request and its message, or ``None``: then it is released later."""
Step = Callable[[Any, CompletedRequest, Any], Answer | None]
"""Comes before the handler, and may answer in its place; ``None`` goes on."""
Decode = Callable[[memoryview, int, int], tuple[Any, int]]
"""Reads a message from a frame, by its version, from where its body begins."""
Encode = Callable[[Request, Any], Pieces]
"""Makes the frame of a response."""
Hide = Callable[[Any], None]
"""Takes secrets out of a message."""
ELEMENTS_MAX: Final = ControllerSettings().records_per_request_max
_APIS: Final = "fencepost_broker.apis"


class Later:
    """A handler whose module its first request imports: starting does not wait for it.

    The module is named from ``apis`` on.
    """

    __slots__ = ("_handler", "_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name
        self._handler: Handler | None = None

    def __call__(self, context: HandlerContext, request: Request, message: Any) -> Answer | None:
        """Answer a request."""
        return (self._handler or self.load())(context, request, message)

    def load(self) -> Handler:
        """The handler itself."""
        loaded: Handler = getattr(importlib.import_module(f"{_APIS}.{self._module}"), self._name)
        self._handler = loaded
        return loaded


def loaded(handler: Handler) -> Handler:
    """The handler itself, where it is one whose module is imported later."""
    return handler.load() if handler.__class__ is Later else handler


class Longest(NamedTuple):
    """How long a large request may be that is one decision; see ``element_limit``."""

    code: ErrorCode
    """What a longer one is refused with."""
    lists: tuple[str, ...]
    """The lists whose elements are counted, by their paths."""
    most: int = ELEMENTS_MAX


class Refusal(Enum):
    """What the response to a request that is refused as a whole has of the request's elements."""

    OUTERMOST = "nothing below the outermost place for an error"
    EACH_ELEMENT = "each element, with the error, below that place, too"
    EACH_NAME = "as OUTERMOST, but elements with the same name are answered once"


@dataclass(frozen=True, slots=True)
class Served:
    """One API: all that is true of it, whoever goes by it."""

    key: ApiKey
    handler: Handler
    rights: str
    """What its users need, by module and name in ``authorization``."""
    is_frequent: bool = False
    """It comes so often that not even the size of a request is looked at, below a receive's."""
    large: Cut | None = None
    """How a large request is cut; ``WHOLE``: not, but it is read in a thread."""
    longest: Longest | None = None
    by_controller: bool = False
    """The controller answers it, to whom a broker passes it on."""
    refusal: Refusal = Refusal.OUTERMOST
    """Where the error stands if all of a request is refused; see ``error_responses``."""
    answers_part_here: bool = False
    """Of what is passed on, the broker answers a part: the levels of its loggers."""
    quota: str = ""
    """The quota of clients that it is charged to."""
    is_remembered: bool = False
    """Its answers are kept while the metadata is as it is (``response_cache``)."""
    hides_in_request: Hide | None = None
    """Takes what the tap does not show out of a request."""
    hides_in_response: Hide | None = None
    decode: Decode | None = None
    """Reads a request; ``None``: as its schema says."""
    encode: Encode = encode_answer
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
        api = Api.of(self.key)
        assert api is not None
        return api.min_version, self.versions[1]

    @property
    def answers_any_version(self) -> bool:
        """Whether it answers versions that do not exist, too: with those that do."""
        return self.key is ApiKey.API_VERSIONS

    @property
    def reads(self) -> Decode:
        """What reads its requests."""
        return self.decode or request_class(self.key).decode


def not_read(frame: memoryview, version: int, body: int) -> tuple[None, int]:
    """The reading of a request whose handler takes its frame."""
    del frame, version
    return None, body


def carry_out(
    steps: tuple[Step, ...],
    handler: Handler,
    context: HandlerContext,
    request: Request,
    message: Any,
) -> Answer | None:
    """Answer a request, after what comes before its handler."""
    for step in steps:
        assert isinstance(request, CompletedRequest)
        answer = step(context, request, message)
        if answer is not None:
            return answer
    return handler(context, request, message)
