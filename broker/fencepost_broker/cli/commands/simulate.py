"""``fencepost simulate``: run a program with many seeds, in virtual time."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final

from fencepost_client.commands.output import write
from fencepost_protocol.commands import Command

if TYPE_CHECKING:
    from fencepost_broker.simulation.runs import Run
    from fencepost_broker.simulation.simulation import Program

EPILOG: Final = """\
examples:
  fencepost simulate --program transactions --seeds 20
  fencepost simulate tests.my_program:program --seeds 1000 --first 5000 --json
  fencepost simulate --program transactions --seed 17
exit code: 0 all seeds were right, 1 one was not, 2 invalid arguments, 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "user_program", nargs="?", metavar="MODULE:FUNCTION",
        help="a coroutine function of yours, which is given the simulation",
    )  # fmt: skip
    parser.add_argument("--program", metavar="NAME", help="a built-in program: transactions")
    parser.add_argument(
        "--brokers", type=int, metavar="N", help="brokers of a built-in program's cluster (3)"
    )
    parser.add_argument("--seeds", type=int, default=100, metavar="N", help="how many seeds (100)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first one (0)")
    parser.add_argument("--seed", type=int, metavar="SEED", help="run this one only")
    parser.add_argument(
        "--within", type=float, default=3600.0, metavar="SECONDS",
        help="virtual time that a program may take (3600)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print a JSON line for each seed")


def run(options: argparse.Namespace) -> int:
    """Run the program, and return the exit code."""
    from fencepost_broker.simulation.runs import SimulationFailedError, simulate

    try:
        program = _program(options)
    except (ValueError, ImportError) as error:
        sys.stderr.write(f"fencepost simulate: {error}\n")
        return 2
    first, count = options.first, options.seeds
    if options.seed is not None:
        first, count = options.seed, 1
    told = _told_as_json if options.json else _told
    try:
        simulate(program, range(first, first + count), within_s=options.within, told=told)
    except SimulationFailedError as error:
        sys.stderr.write(f"fencepost simulate: seed {error.run.seed} failed: {error.run.verdict}\n")
        return 1
    return 0


def _program(options: argparse.Namespace) -> Program:
    """Return the program of the options; raises ``ValueError`` or ``ImportError``."""
    from fencepost_broker.simulation.programs import PROGRAMS

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
    return PROGRAMS[options.program](brokers)


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
    }
    write(json.dumps(told))
    sys.stdout.flush()


COMMAND: Final = Command(
    "simulate", "run a program with many seeds, in virtual time", add_arguments, run
)
