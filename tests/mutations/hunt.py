"""Runs a program with seeds until one fails, and prints what was found as a line of JSON.

python -m tests.mutations.hunt zombies 10
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import partial
from typing import Final

import fencepost_broker
from fencepost_broker.simulation.programs import PROGRAMS
from fencepost_broker.simulation.programs.transactions import transactions
from fencepost_broker.simulation.runs import run_seed
from fencepost_broker.simulation.simulation import Program

from tests.mutations.late_brokers import late_brokers
from tests.mutations.power_cuts import power_cuts
from tests.mutations.zombies import zombies

_WITHIN_S: Final = 1200.0
_PROGRAMS: Final[Mapping[str, Program]] = {
    "zombies": zombies,
    "late brokers": late_brokers,
    "power cuts": power_cuts,
    "transactions without power": partial(
        transactions, brokers=1, kinds=("power cut", "slow disk", "failing fsync")
    ),
    **PROGRAMS,
}


def main() -> None:
    """Run the program that the arguments name."""
    program, seeds = _PROGRAMS[sys.argv[1]], int(sys.argv[2])
    found: dict[str, object] = {
        "sources": fencepost_broker.__file__,
        "seeds": seeds,
        "verdict": "ok",
    }
    for seed in range(seeds):
        run = run_seed(program, seed, _WITHIN_S)
        if run.verdict != "ok":
            found |= {"seeds": seed + 1, "verdict": run.verdict}
            break
    print(json.dumps(found))


if __name__ == "__main__":
    main()
