"""Run a program that is killed, by SIGKILL, at a call of the SDK that it makes.

    python -m tests.support.killed_at Producer.commit 2 before examples/wordcount.py --demo 100

ends when the second ``Producer.commit`` of the process is called; with ``after``, when it has
succeeded, before anybody hears of it.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from itertools import count
from typing import Any

import fencepost_client


def die_at(name: str, which: int, *, after: bool) -> None:
    """Have the process killed at the ``which``-th call of a method of an SDK's class."""
    class_name, method_name = name.split(".")
    owner = getattr(fencepost_client, class_name)
    original = getattr(owner, method_name)
    calls = count(1)

    async def dying(*arguments: Any, **named: Any) -> Any:
        is_last = next(calls) == which
        if is_last and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = await original(*arguments, **named)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, method_name, dying)


if __name__ == "__main__":
    name, which, when, program = sys.argv[1:5]
    die_at(name, int(which), after={"before": False, "after": True}[when])
    sys.argv[:] = sys.argv[4:]
    runpy.run_path(program, run_name="__main__")
