"""Which lists of a response answer which lists of its request.

A response repeats the lists of its request, with a result for each element. The generated classes
tell which list answers which: the one that has the same name, or else the one in the same place.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import is_dataclass
from typing import Any, Final, get_args, get_origin, get_type_hints

INDEXES: Final = ("partition_index", "index", "partition", "partition_id")
"""What messages call the number of a partition."""
NAMES: Final = ("name", "topic", "topic_name", "user")
"""What they call the name of what an element is about."""


def class_of(message: Any) -> Any:
    """The class of a message or element; mypy takes ``type[Any]`` for not hashable."""
    return type(message)


@functools.cache
def lists_of(kind: type) -> dict[str, type]:
    """The lists of a generated class, and the class of their elements."""
    found: dict[str, type] = {}
    for name, hint in get_type_hints(kind).items():
        for each in (hint, *get_args(hint)):  # a list that may be null is one of two types
            if get_origin(each) is list:
                (found[name],) = get_args(each)
    return found


@functools.cache
def matching_lists(asked: type, answer: type) -> dict[str, str]:
    """For each list of a request the list of the response that answers it, if there is one.

    Both are classes of messages, or of elements that answer each other. If the response has fewer
    lists than the request, its last one answers all that are left.
    """
    names = [name for name, element in lists_of(answer).items() if is_dataclass(element)]
    found = {name: name for name in lists_of(asked) if name in names}
    left = [name for name in names if name not in found]
    others = [name for name in lists_of(asked) if name not in found]
    if left:
        found |= {name: left[min(at, len(left) - 1)] for at, name in enumerate(others)}
    return found


@functools.cache
def matching_path(asked: type, answer: type, path: Sequence[str]) -> tuple[str, ...]:
    """The lists that answer those of a path, from the outside in."""
    found: list[str] = []
    for name in path:
        found.append(matching_lists(asked, answer)[name])
        asked, answer = lists_of(asked)[name], lists_of(answer)[found[-1]]
    return tuple(found)
