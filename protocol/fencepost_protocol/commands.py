"""What a part adds to the ``fencepost`` command line.

A command is found through the entry-point group ``fencepost.commands``, so that ``fencepost`` need
not know the parts that are installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One subcommand: its options, and what it does with them; ``run`` gives the exit code."""

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
