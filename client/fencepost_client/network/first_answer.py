"""Waiting for attempts of others' tasks: whoever says nothing is not waited for alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from fencepost_client.errors import RetriableError

T = TypeVar("T")


async def first_answer(
    attempts: Iterable[Callable[[], Coroutine[Any, Any, T]]], patience_seconds: float
) -> T:
    """What the first of them to succeed gives, begun one after the other.

    The next one begins when one fails in a way that may be repeated, or when none has had an answer
    for a while; those that are under way go on beside it. Raises the last failure when all failed.
    """
    left = iter(attempts)
    under_way: set[asyncio.Task[T]] = set()
    failure: RetriableError | None = None
    try:
        while True:
            attempt = next(left, None)
            if attempt is not None:
                begun = asyncio.ensure_future(attempt())
                begun.add_done_callback(_is_heard)
                under_way.add(begun)
            elif not under_way:
                assert failure is not None, "no attempt was given"
                raise failure
            done, under_way = await asyncio.wait(
                under_way,
                timeout=None if attempt is None else patience_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            for task in done:
                try:
                    return task.result()
                except RetriableError as error:
                    failure = error
    finally:
        for task in under_way:
            task.cancel()
        if under_way:
            await asyncio.wait(under_way)


def is_being_cancelled() -> bool:
    """Whether it is this task that is told to end, not an attempt that it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _is_heard(task: asyncio.Task[T]) -> None:
    """One that fails at the moment in which another succeeds has failed for nobody."""
    if not task.cancelled():
        task.exception()
