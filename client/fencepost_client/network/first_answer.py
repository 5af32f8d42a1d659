"""Asking several brokers, one after the other, without waiting for a silent one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from fencepost_client.errors import RetriableError

T = TypeVar("T")


async def first_answer(
    attempts: Iterable[Callable[[], Coroutine[Any, Any, T]]], patience_seconds: float
) -> T:
    """Begin attempts one after the other, and return the first result.

    The next attempt begins when one fails with a retriable error, or when no result comes for some
    time; attempts under way go on meanwhile. Raises the last error if all attempts fail.
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
    """Whether this task is being cancelled, and not only a task that it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _is_heard(task: asyncio.Task[T]) -> None:
    """Retrieve the error of an attempt that fails when another one has succeeded."""
    if not task.cancelled():
        task.exception()
