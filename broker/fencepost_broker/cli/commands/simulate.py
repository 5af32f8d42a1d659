"""``fencepost simulate``: run a program with many seeds, in virtual time."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Final

from fencepost_client.commands.options import new_file
from fencepost_client.commands.output import write
from fencepost_client.progress import Progress
from fencepost_protocol.commands import Command, help_as_written, number

if TYPE_CHECKING:
    from fencepost_broker.simulation.report import Totals
    from fencepost_broker.simulation.runs import Run
    from fencepost_broker.simulation.simulation import Program

WITHIN_S: Final = 3600.0
EPILOG: Final = """\
examples:
  fencepost simulate --program transactions --seeds 20
  fencepost simulate tests.my_program:program --seeds 1000 --first 5000 --json
  fencepost simulate --program transactions --seeds 1000 --jobs 2
  fencepost simulate --program transactions --seed 17 --until 12.5 --tap
  fencepost simulate tests.my_program:program --picture failure.svg
  fencepost simulate --program transactions --report simulation.html
exit code: 0 all seeds were right, 1 one was not, 2 invalid arguments, 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.add_argument(
        "user_program", nargs="?", metavar="MODULE:FUNCTION",
        help="a coroutine function of yours, which is given the simulation",
    )  # fmt: skip
    parser.add_argument(
        "--program",
        metavar="NAME",
        help="a built-in program: transactions, shares, consume-transform-produce",
    )
    parser.add_argument(
        "--brokers", type=int, metavar="N", help="brokers of a built-in program's cluster (3)"
    )
    parser.add_argument(
        "--seeds", type=number("a number of seeds", least=1), default=100, metavar="N",
        help="how many seeds (100)",
    )  # fmt: skip
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first one (0)")
    parser.add_argument("--seed", type=int, metavar="SEED", help="run this one only")
    parser.add_argument(
        "--within", type=float, default=WITHIN_S, metavar="SECONDS",
        help="virtual time that a program may take (3600)",
    )  # fmt: skip
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="processes that run seeds (1)"
    )
    parser.add_argument(
        "--until", type=float, metavar="SECONDS", help="with --seed: stop at this virtual time"
    )
    parser.add_argument(
        "--tap", action="store_true", help="with --seed: print each request and answer"
    )
    parser.add_argument(
        "--no-shrink", action="store_true", help="do not look for the faults that a failure needs"
    )
    parser.add_argument(
        "--picture", type=new_file, metavar="FILE",
        help="write the timeline of a failure, or of --seed, as a picture (SVG)",
    )  # fmt: skip
    parser.add_argument(
        "--report", type=new_file, metavar="FILE",
        help="write one HTML file: what failed, with its timeline, faults by kind, steps reached",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print a JSON line for each seed")


def run(options: argparse.Namespace) -> int:
    """Run the program, and return the exit code."""
    try:
        program = _program(options)
    except (ValueError, ImportError) as error:
        sys.stderr.write(f"fencepost simulate: {error}\n")
        return 2
    if options.seed is not None:
        return _replay(program, options)
    from fencepost_broker.simulation.report import Totals

    totals, begun_s, failed = Totals(), time.monotonic(), None
    with Progress(options.seeds, "seeds", sys.stderr) as progress:
        for run in _runs(program, options):
            progress.clear()
            (_told_as_json if options.json else _told)(run)
            totals.add(run)
            progress.advance()
            if not run.is_right:
                failed = run
                break
    shown = [] if failed is None else [_failed(program, failed, options)]
    if not shown and not options.json:
        for line in _lines(totals, time.monotonic() - begun_s):
            write(line)
    _report(totals, shown, options)
    return 1 if shown else 0


def _runs(program: Program, options: argparse.Namespace) -> Iterator[Run]:
    """Run all seeds, in this process or in others."""
    from fencepost_broker.simulation.runs import run_seed

    seeds = range(options.first, options.first + options.seeds)
    if options.jobs == 1:
        yield from (run_seed(program, seed, options.within) for seed in seeds)
        return
    with (
        _interrupted_by_sigterm(),
        get_context("spawn").Pool(options.jobs, initializer=_leave_signals) as pool,
    ):
        yield from pool.imap(partial(_run_elsewhere, options), seeds)


@contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """Let SIGTERM, too, end the other processes; a second one ends this process at once."""

    def interrupt(*_: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave_signals() -> None:
    """Let the process that started this one end it, when it waits for no lock of theirs.

    A terminal's Ctrl-C and ``timeout`` signal a whole group of processes.
    """
    if sys.platform == "win32":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    else:
        os.setpgrp()


def _run_elsewhere(options: argparse.Namespace, seed: int) -> Run:
    """Run a seed; errors of programs are for their own process only."""
    from fencepost_broker.simulation.runs import run_seed

    return run_seed(_program(options), seed, options.within).without_error()


def _replay(program: Program, options: argparse.Namespace) -> int:
    from fencepost_broker.simulation.report import Totals
    from fencepost_broker.simulation.runs import run_seed

    within_s = options.within if options.until is None else options.until
    tell = write if options.tap else None
    run = run_seed(program, options.seed, within_s, tell=tell)
    (_told_as_json if options.json else _told)(run)
    totals = Totals()
    totals.add(run)
    if options.until is not None and run.simulated_s >= within_s:
        _tell_timeline(run, options)
        return 0
    if not run.is_right:
        _report(totals, [_failed(program, run, options)], options)
        return 1
    _draw(run, options)
    _report(totals, [run], options)
    return 0


def _failed(program: Program, run: Run, options: argparse.Namespace) -> Run:
    """Tell what has failed, and return the run with as few faults as it needs."""
    from fencepost_broker.simulation.runs import run_seed
    from fencepost_broker.simulation.shrinking import shrink

    sys.stderr.write(f"fencepost simulate: seed {run.seed} failed: {run.verdict}\n")
    if run.error is None:  # it ran in another process
        run = run_seed(program, run.seed, options.within)
    if not options.no_shrink and run.planned:
        run = shrink(program, run, options.within)
        sys.stderr.write(
            f"{sum(run.faults.values())} of {len(run.planned)} faults are enough: {run.verdict}\n"
        )
    sys.stderr.write("".join(traceback.format_exception(run.error)))
    _tell_timeline(run, options)
    again = shlex.join([*_command(options), "--seed", str(run.seed), "--tap"])
    sys.stderr.write(f"again: {again}\n")
    return run


def _command(options: argparse.Namespace) -> list[str]:
    words = ["--program", options.program] if options.program else [options.user_program]
    if options.brokers is not None:
        words += ["--brokers", str(options.brokers)]
    if options.within != WITHIN_S:
        words += ["--within", f"{options.within:g}"]
    return ["fencepost", "simulate", *words]


def _report(totals: Totals, shown: list[Run], options: argparse.Namespace) -> None:
    """Write the report, if one is wished for."""
    if options.report is None:
        return
    from fencepost_broker.simulation.report import simulation_page

    if options.seed is None:
        seeds = ["--first", str(options.first), "--seeds", str(options.seeds)]
    else:
        seeds = ["--seed", str(options.seed)]
    page = simulation_page(totals, shown, [*_command(options), *seeds])
    options.report.write_text(page, encoding="utf-8")
    if not options.json:
        write(f"report: {options.report}")


def _draw(run: Run, options: argparse.Namespace) -> None:
    if options.picture is not None:
        from fencepost_broker.simulation.picture import picture

        options.picture.write_text(picture(run))


def _tell_timeline(run: Run, options: argparse.Namespace) -> None:
    _draw(run, options)
    if options.json:
        told = {"timeline": [{"at_s": round(at_s, 6), "what": what} for at_s, what in run.timeline]}
        write(json.dumps(told))
    else:
        for at_s, what in run.timeline:
            write(f"{at_s:11.6f}  {what}")


def _program(options: argparse.Namespace) -> Program:
    """Return the program of the options; raises ``ValueError`` or ``ImportError``."""
    from fencepost_broker.simulation.programs import PROGRAMS

    if options.seed is None and (options.tap or options.until is not None):
        raise ValueError("--tap and --until need --seed")
    if options.jobs < 1:
        raise ValueError(f"--jobs {options.jobs}: it is at least 1")
    if (options.user_program is None) == (options.program is None):
        raise ValueError("give either MODULE:FUNCTION or --program NAME")
    if options.program is None:
        if options.brokers is not None:
            raise ValueError("--brokers is for a built-in program")
        return _imported(options.user_program)
    if options.program not in PROGRAMS:
        raise ValueError(
            f"there is no program {options.program!r}; there are {', '.join(PROGRAMS)}"
        )
    brokers = 3 if options.brokers is None else options.brokers
    if brokers < 1:
        raise ValueError(f"--brokers {brokers}: a cluster has at least one")
    return partial(PROGRAMS[options.program], brokers=brokers)


def _imported(name: str) -> Program:
    module, _, function = name.partition(":")
    if not module or not function:
        raise ValueError(f"{name!r} is not MODULE:FUNCTION")
    sys.path.insert(0, "")  # as python -m does
    found: Callable[..., object] | None = getattr(import_module(module), function, None)
    if not callable(found):
        raise ValueError(f"module {module} has no function {function!r}")  # noqa: TRY004
    return found  # type: ignore[return-value]


def _told(run: Run) -> None:
    write(
        f"seed {run.seed}  {run.hash}  {run.simulated_s:.3f} s in {run.cpu_s:.2f} s of CPU"
        f"  {run.verdict}"
    )
    sys.stdout.flush()


def _told_as_json(run: Run) -> None:
    told = {
        "seed": run.seed,
        "hash": run.hash,
        "simulated_s": round(run.simulated_s, 6),
        "cpu_s": round(run.cpu_s, 3),
        "verdict": run.verdict,
        "faults": dict(sorted(run.faults.items())),
        "steps": dict(sorted(run.steps.items())),
    }
    write(json.dumps(told))
    sys.stdout.flush()


def _lines(totals: Totals, spent_s: float) -> list[str]:
    """Return seeds, virtual time, faults by kind, and the steps that were reached."""
    lines = [
        f"{totals.runs} seeds, {totals.runs / max(spent_s, 0.001):.2f} a second,"
        f" {totals.simulated_s / 3600:.2f} virtual hours"
    ]
    for what, counts in (("faults", totals.faults), ("steps of transactions", totals.steps)):
        if counts:
            told = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
            lines.append(f"{what}: {told}")
    return lines


COMMAND: Final = Command(
    "simulate", "run a program with many seeds, in virtual time", add_arguments, run
)
