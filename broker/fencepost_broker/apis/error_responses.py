"""Responses to requests that are refused as a whole.

As in Apache Kafka, the error is in the outermost error field that the response's version has: at
the top level, or else in each element that answers an element of the request.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import is_dataclass
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
    """Build the response to a request that the controller has not answered in time.

    REQUEST_TIMED_OUT leaves open whether the request was carried out.
    """
    _, version, _, _, body = read_request_head(frame)
    asked, _ = request_class(api.key).decode(frame, version, body)
    return refused(api, asked, version, ErrorCode.REQUEST_TIMED_OUT, message)


def refused(
    api: Served, asked: Message, version: int, code: ErrorCode, message: str | None
) -> Message:
    """Build the response to a request that is refused as a whole."""
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
    """Build the answers to refused elements of a request's list.

    The list is a field of the class ``asked``, whose response is the class ``answer``.
    """
    kind = lists_of(answer)[matching_lists(asked, answer)[name]]
    error = _Error(code, message, Refusal.OUTERMOST)
    return [error.answer(item, kind) for item in items]


def refused_in_elements(
    api: Served, asked: Message, code: ErrorCode, message: str | None
) -> Message:
    """Build the response with errors in the elements that answer those of a request."""
    response = response_class(api.key)()
    _Error(code, message, api.refusal).put_into_elements(asked, response)
    return response


@functools.cache
def has_error(kind: type) -> bool:
    """Whether a response's class, or one of its elements', has an error code."""
    inner = (each for each in lists_of(kind).values() if is_dataclass(each))
    return bool(set(_ERROR_CODES) & set(class_of(kind()).__slots__)) or any(map(has_error, inner))


@functools.cache
def _has_error_code(kind: type[Message], version: int) -> bool:
    """Whether this version of a response has an error at the top level."""
    response: Any = kind()
    if "error_code" not in response.__slots__:
        return False
    response.error_code = ErrorCode.UNKNOWN_SERVER_ERROR
    encoded = bytearray()
    try:
        response.encode(version, encoded)
    except LocalProtocolError:  # this version does not have the field
        return False
    read: Any = kind.decode(memoryview(encoded), version)[0]
    return bool(read.error_code)


class _Element(NamedTuple):
    """The mapping from an element of a request to the element that answers it."""

    copied: tuple[tuple[str, str], ...]
    """Pairs of a field and the request's field that it is copied from; of an element without
    fields, the element itself is copied."""
    unknown: tuple[str, ...]
    """The fields that are set to -1."""
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
    """Return the request's field that corresponds to one of the response, if any."""
    if asked is int:
        return [""] if name in INDEXES else []
    if asked is str:
        return [""] if name in NAMES else []
    synonyms = next((each for each in (INDEXES, NAMES) if name in each), (name,))
    return [each for each in synonyms if each in asked.__slots__]


class _Error(NamedTuple):
    """An error to put into a response."""

    code: ErrorCode
    message: str | None
    refusal: Refusal

    def put(self, answer: Any, fields: tuple[str, ...]) -> None:
        """Set the error of a response or of an element."""
        for name in fields:
            setattr(answer, name, self.code if name in _ERROR_CODES else self.message)

    def put_into_elements(self, asked: Any, answer: Any) -> None:
        """Add the answers to all elements of a request, or of one of its elements."""
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
        """Build the element of a response that answers one of the request."""
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
