"""Makes a failing run smaller: without faults that it does not need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fencepost_broker.simulation.runs import WITHIN_S, Run, run_seed
from fencepost_broker.simulation.simulation import Program

RUNS_MAX: Final = 60


def shrink(
    program: Program,
    failed: Run,
    within_s: float = WITHIN_S,
    *,
    runs_max: int = RUNS_MAX,
    told: Callable[[int, int], object] = lambda _left, _of: None,
) -> Run:
    """Return the run of the same seed with the fewest faults that was found to fail alike.

    Halves of the faults are left out, then quarters, and at last single ones. ``told`` is called
    after each run with the number of faults that are left, and of all.
    """
    best = failed
    needed = [each.number for each in failed.planned]
    size = len(needed)
    runs = 0
    while size and needed:
        at = 0
        while at < len(needed) and runs < runs_max:
            fewer = needed[:at] + needed[at + size :]
            run = run_seed(program, failed.seed, within_s, frozenset(fewer))
            runs += 1
            if type(run.error) is type(failed.error):
                best, needed = run, fewer
            else:
                at += size
            told(len(needed), len(failed.planned))
        size = size // 2 if runs < runs_max else 0
    return best
