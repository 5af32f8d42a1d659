"""Threads that work for the loop."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

import pytest
from fencepost_broker.network.worker_threads import WorkerThreads

GIVE_UP_SECONDS = 30


@pytest.mark.asyncio
async def test_as_much_is_done_at_once_as_there_may_be_threads() -> None:
    worker = WorkerThreads(asyncio.get_running_loop(), 3)
    together = threading.Barrier(3)
    threads: set[int] = set()
    told: list[int] = []

    def meet() -> None:
        with suppress(threading.BrokenBarrierError):
            together.wait(GIVE_UP_SECONDS)
        threads.add(threading.get_ident())

    for number in range(6):
        worker.run(meet, lambda number=number: told.append(number))  # type: ignore[misc]
    await worker.close()
    assert sorted(told) == list(range(6))
    assert len(threads) == 3
    assert not together.broken


@pytest.mark.asyncio
async def test_one_thread_works_in_order_and_again_after_its_end() -> None:
    worker = WorkerThreads(asyncio.get_running_loop())
    done: list[int] = []
    for _ in range(2):
        for number in range(20):
            worker.run(lambda number=number: done.append(number), lambda: None)  # type: ignore[misc]
        await worker.close()
    assert done == 2 * list(range(20))
    await worker.close()
