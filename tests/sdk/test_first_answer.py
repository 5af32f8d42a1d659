"""Several may be asked the same: who fails or says nothing has the next one asked beside it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from fencepost_client import FatalError, NetworkError
from fencepost_client.network.first_answer import first_answer

from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
NOT_YET = 3600.0
Attempt = Callable[[], Coroutine[Any, Any, str]]


class Asked:
    """Who was asked, and who was given up."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.given_up: list[str] = []

    def one(self, name: str, outcome: str | Exception | None) -> Attempt:
        """It answers with this, or raises it, or says nothing."""

        async def attempt() -> str:
            self.names.append(name)
            try:
                if outcome is None:
                    await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.given_up.append(name)
                raise
            if isinstance(outcome, Exception):
                raise outcome
            return str(outcome)

        return attempt


async def test_the_first_that_answers_is_the_only_one() -> None:
    asked = Asked()
    attempts = [asked.one("a", "yes"), asked.one("b", "no")]
    assert await first_answer(attempts, NOT_YET) == "yes"
    assert asked.names == ["a"]


async def test_a_failure_has_the_next_one_asked_at_once() -> None:
    asked = Asked()
    attempts = [asked.one("a", NetworkError("gone")), asked.one("b", "yes")]
    assert await first_answer(attempts, NOT_YET) == "yes"


async def test_silence_has_the_next_one_asked_beside_it() -> None:
    asked = Asked()
    attempts = [asked.one("a", None), asked.one("b", NetworkError("gone")), asked.one("c", "yes")]
    assert await first_answer(attempts, 0.01) == "yes"
    assert asked.names == ["a", "b", "c"]
    assert asked.given_up == ["a"]


async def test_the_last_failure_is_told_when_all_have_failed() -> None:
    asked = Asked()
    attempts = [asked.one("a", NetworkError("first")), asked.one("b", NetworkError("last"))]
    with pytest.raises(NetworkError, match="last"):
        await first_answer(attempts, NOT_YET)


async def test_what_another_would_say_as_well_is_told_at_once() -> None:
    asked = Asked()
    with pytest.raises(FatalError):
        await first_answer([asked.one("a", FatalError()), asked.one("b", "yes")], NOT_YET)
    assert asked.names == ["a"]


async def test_who_gives_up_leaves_nobody_asking() -> None:
    asked = Asked()
    waiting = asyncio.create_task(first_answer([asked.one("a", None)], NOT_YET))
    await until(lambda: asked.names)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    assert asked.given_up == ["a"]


async def test_who_fails_while_being_given_up_has_failed_for_nobody() -> None:
    """As a connection that is closed as somebody else answers."""
    unheard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context))

    async def fails_late() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise NetworkError("gone") from None
        return ""

    assert await first_answer([fails_late, Asked().one("b", "yes")], 0.01) == "yes"
    gc.collect()
    assert not unheard
