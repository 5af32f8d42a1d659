"""An API as the broker serves it: key, versions, handler, rights, limits."""

import importlib
from collections.abc import Callable
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
"""Answers a request, given its message; ``None`` means that the answer is released later."""
Step = Callable[[Any, CompletedRequest, Any], Answer | None]
"""Runs before the handler, and may answer in its place; ``None`` continues with the next step."""
Decode = Callable[[memoryview, int, int], tuple[Any, int]]
"""Decodes a message from a frame, given its version and the offset of its body."""
Encode = Callable[[Request, Any], Pieces]
"""Encodes a response to a frame."""
Hide = Callable[[Any], None]
"""Removes secrets from a message."""
ELEMENTS_MAX: Final = ControllerSettings().records_per_request_max
_APIS: Final = "fencepost_broker.apis"


class Later:
    """A handler whose module is imported by its first request, so that the broker starts faster.

    The module's name is relative to ``apis``.
    """

    __slots__ = ("_handler", "_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name
        self._handler: Handler | None = None

    def __call__(self, context: "HandlerContext", request: Request, message: Any) -> Answer | None:
        """Answer a request."""
        return (self._handler or self.load())(context, request, message)

    def load(self) -> Handler:
        """Import the module if necessary, and return the handler."""
        loaded: Handler = getattr(importlib.import_module(f"{_APIS}.{self._module}"), self._name)
        self._handler = loaded
        return loaded


def loaded(handler: Handler) -> Handler:
    """Return the handler itself; a ``Later`` is imported first."""
    return handler.load() if handler.__class__ is Later else handler


class Longest(NamedTuple):
    """The most elements that a request may have if it is decided as one; see ``element_limit``."""

    code: ErrorCode
    """The error of a longer request."""
    lists: tuple[str, ...]
    """The paths of the lists whose elements are counted."""
    most: int = ELEMENTS_MAX


class Refusal(Enum):
    """Which of the request's elements are repeated in the response if all of it is refused."""

    OUTERMOST = "only the elements down to the outermost error field"
    EACH_ELEMENT = "also the elements below that field, each with the error"
    EACH_NAME = "as OUTERMOST, but elements with the same name are answered once"


class Served(NamedTuple):
    """One API, with all facts about it that any part of the broker uses."""

    key: ApiKey
    handler: Handler
    rights: str
    """The check of the rights that a client needs, as ``module:name`` in ``authorization``."""
    is_frequent: bool = False
    """Whether requests are so common that the check for large ones is skipped below the size of a
    receive."""
    large: Cut | None = None
    """How a large request is cut; ``WHOLE`` means that it is not, but is decoded in a thread."""
    longest: Longest | None = None
    by_controller: bool = False
    """Whether the controller answers it; a broker forwards it."""
    refusal: Refusal = Refusal.OUTERMOST
    """Where the response has the error if all of a request is refused; see ``error_responses``."""
    answers_part_here: bool = False
    """Whether the broker answers a part of a forwarded request: the levels of its loggers."""
    quota: str | None = ""
    """The client quota that it counts against, if any, besides the one of handlers' time; ``None``:
    no quota at all, since only brokers ask."""
    is_remembered: bool = False
    """Whether its answers are cached until the metadata changes (``response_cache``)."""
    hides_in_request: Hide | None = None
    """Removes from a request what the tap must not show."""
    hides_in_response: Hide | None = None
    decode: Decode | None = None
    """Decodes a request; ``None`` means by its schema."""
    encode: Encode = encode_answer
    version_cap: int | None = None
    """The highest version that may be used, if the settings restrict it."""
    unstable: bool = False
    """Whether a version that Kafka calls unstable may be used, too."""
    is_passed_on: bool = False
    """Whether it is forwarded to a controller in another process."""

    @property
    def versions(self) -> tuple[int, int]:
        """The lowest and the highest version that ApiVersions advertises."""
        api = Api.of(self.key)
        assert api is not None
        low, high = api.advertised
        if self.unstable:
            high = api.max_version
        if self.version_cap is not None:
            high = min(high, self.version_cap)
        return low, high

    @property
    def accepted(self) -> tuple[int, int]:
        """The lowest and the highest version that its handler accepts; at least the schema's."""
        api = Api.of(self.key)
        assert api is not None
        return api.min_version, self.versions[1]

    @property
    def answers_any_version(self) -> bool:
        """Whether an unknown version gets an answer, too: the list of the known ones."""
        return self.key is ApiKey.API_VERSIONS

    @property
    def reads(self) -> Decode:
        """The function that decodes its requests."""
        return self.decode or request_class(self.key).decode


def not_read(frame: memoryview, version: int, body: int) -> tuple[None, int]:
    """Skip decoding, for a handler that uses the frame itself."""
    del frame, version
    return None, body


def carry_out(
    steps: tuple[Step, ...],
    handler: Handler,
    context: "HandlerContext",
    request: Request,
    message: Any,
) -> Answer | None:
    """Answer a request: run the steps in order, then the handler."""
    for step in steps:
        assert isinstance(request, CompletedRequest)
        answer = step(context, request, message)
        if answer is not None:
            return answer
    return handler(context, request, message)
