"""The response to a request that is refused as a whole.

As in Apache Kafka, the error stands at the outermost place that the version of the response has
for one: at its top, or else in each element that answers an element of the request.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from fencepost_protocol.apis import Message, request_class, response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.framing import read_request_head

from fencepost_broker.apis.matching_lists import INDEXES, NAMES, class_of, lists_of, matching_lists
from fencepost_broker.apis.served import Refusal, Served

_ERROR_CODES: Final = ("error_code", "partition_error_code")
_UNKNOWN: Final = -1


def timed_out(api: Served, frame: memoryview, message: str) -> Message:
    """The response to a request that the controller has not answered in time.

    REQUEST_TIMED_OUT leaves open whether the request was carried out.
    """
    _, version, _, _, body = read_request_head(frame)
    asked, _ = request_class(api.key).decode(frame, version, body)
    return refused(api, asked, version, ErrorCode.REQUEST_TIMED_OUT, message)


def refused(
    api: Served, asked: Message, version: int, code: ErrorCode, message: str | None
) -> Message:
    """The response to a request that is refused as a whole."""
    kind = response_class(api.key)
    response = kind()
    error = _Error(code, message, api.refusal)
    is_told = _has_error_code(kind, version)
    if is_told:
        error.put(response, _error_fields(kind))
    if not is_told or api.refusal is Refusal.EACH_ELEMENT:
        error.put_into_elements(asked, response)
    return response


def refused_elements(
    asked: Any, answer: Any, name: str, items: Iterable[Any], code: ErrorCode, message: str | None
) -> list[Any]:
    """The answers to some elements of a list of a request, if these are refused.

    The list is one of the class ``asked``, which the class ``answer`` answers.
    """
    kind = lists_of(answer)[matching_lists(asked, answer)[name]]
    error = _Error(code, message, Refusal.OUTERMOST)
    return [error.answer(item, kind) for item in items]


@functools.cache
def _has_error_code(kind: type[Message], version: int) -> bool:
    """Whether a reader of this version of a response finds an error at its top."""
    response: Any = kind()
    if "error_code" not in response.__slots__:
        return False
    response.error_code = ErrorCode.UNKNOWN_SERVER_ERROR
    encoded = bytearray()
    try:
        response.encode(version, encoded)
    except LocalProtocolError:  # the field may not be set in this version
        return False
    read: Any = kind.decode(memoryview(encoded), version)[0]
    return bool(read.error_code)


class _Element(NamedTuple):
    """How an element of a response is made from the one of the request that it answers."""

    copied: tuple[tuple[str, str], ...]
    """Its fields that are copied, and the fields of the request that they are copied from; from
    an element without fields, the element itself is copied."""
    unknown: tuple[str, ...]
    """Its fields that are -1."""
    errors: tuple[str, ...]


def _error_fields(kind: Any) -> tuple[str, ...]:
    return tuple(each for each in kind.__slots__ if each in (*_ERROR_CODES, "error_message"))


@functools.cache
def _element(asked: Any, answer: Any) -> _Element:
    example = answer()
    errors = _error_fields(answer)
    copied: list[tuple[str, str]] = []
    unknown: list[str] = []
    for name in answer.__slots__:
        if name in errors or name in lists_of(answer) or name == "unknown_tagged_fields":
            continue
        if name.endswith(("_offset", "_watermark")):
            unknown.append(name)
        elif getattr(example, name) != _UNKNOWN:
            copied += [(name, source) for source in _sources(asked, name)]
    return _Element(tuple(copied), tuple(unknown), errors)


def _sources(asked: Any, name: str) -> list[str]:
    """The field of a request's element that says the same as one of the response's, if any."""
    if asked is int:
        return [""] if name in INDEXES else []
    if asked is str:
        return [""] if name in NAMES else []
    synonyms = next((each for each in (INDEXES, NAMES) if name in each), (name,))
    return [each for each in synonyms if each in asked.__slots__]


class _Error(NamedTuple):
    """One error, to be put into a response."""

    code: ErrorCode
    message: str | None
    refusal: Refusal

    def put(self, answer: Any, fields: tuple[str, ...]) -> None:
        """Set the error of a response or of an element."""
        for name in fields:
            setattr(answer, name, self.code if name in _ERROR_CODES else self.message)

    def put_into_elements(self, asked: Any, answer: Any) -> None:
        """Answer each element of a request, or of an element of it."""
        asked_kind, answer_kind = class_of(asked), class_of(answer)
        matching = matching_lists(asked_kind, answer_kind)
        for answering in dict.fromkeys(matching.values()):
            kind = lists_of(answer_kind)[answering]
            names = [name for name in matching if matching[name] == answering]
            made = [
                self.answer(item, kind) for name in names for item in getattr(asked, name) or ()
            ]
            if self.refusal is Refusal.EACH_NAME:
                made = list({repr(each): each for each in made}.values())
            setattr(answer, answering, made)

    def answer(self, item: Any, kind: Any) -> Any:
        """The element of a response that answers one of the request."""
        copied, unknown, errors = _element(class_of(item), kind)
        made = kind()
        for name, source in copied:
            setattr(made, name, getattr(item, source) if source else item)
        for name in unknown:
            setattr(made, name, _UNKNOWN)
        self.put(made, errors)
        if self.refusal is Refusal.EACH_ELEMENT or not errors:
            self.put_into_elements(item, made)
        return made
