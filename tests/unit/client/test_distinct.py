"""A text is not taken for a list of its letters: these may be names of topics, too."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_client.admin.groups import delete_groups
from fencepost_client.admin.topics import delete_topics, describe_topics
from fencepost_client.types import distinct


def test_each_item_is_taken_once_in_order() -> None:
    assert distinct(each for each in "baab") == ["b", "a"]


@pytest.mark.parametrize("given", ["orders", b"orders"])
def test_one_text_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match=r"orders' is one item where several are taken"):
        distinct(given)


def test_administrators() -> None:
    backoff: Any = None
    for ask in (
        delete_topics("nope", backoff, 1),
        describe_topics("nope", backoff),
        delete_groups("nope", backoff),
    ):
        with pytest.raises(TypeError, match="'nope' is one item"):
            next(iter(ask))
