"""The correspondence between the lists of a request and those of its response.

A response repeats the lists of its request, with a result for each element. A list is answered by
the list with the same name, or else by the one in the same position of the generated class.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import is_dataclass
from typing import Any, Final, get_args, get_origin, get_type_hints

INDEXES: Final = ("partition_index", "index", "partition", "partition_id")
"""The field names of a partition's number in messages."""
NAMES: Final = ("name", "topic", "topic_name", "user")
"""The field names of an element's name in messages."""


def class_of(message: Any) -> Any:
    """Return the class of a message or element; to mypy ``type[Any]`` is not hashable."""
    return type(message)


@functools.cache
def lists_of(kind: type) -> dict[str, type]:
    """Return the lists of a generated class, with the classes of their elements."""
    found: dict[str, type] = {}
    for name, hint in get_type_hints(kind).items():
        for each in (hint, *get_args(hint)):  # a nullable list is a union
            if get_origin(each) is list:
                (found[name],) = get_args(each)
    return found


@functools.cache
def matching_lists(asked: type, answer: type) -> dict[str, str]:
    """Return for each list of a request the response's list that answers it, if there is one.

    Pass two classes of messages, or of elements that answer each other. If the response has fewer
    lists than the request, its last one answers all remaining ones.
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
    """Return the path of the lists that answer those of a request's path, outermost first."""
    found: list[str] = []
    for name in path:
        found.append(matching_lists(asked, answer)[name])
        asked, answer = lists_of(asked)[name], lists_of(answer)[found[-1]]
    return tuple(found)
