"""The reasons why a command ends early."""

from __future__ import annotations


class UsageError(Exception):
    """The options are invalid."""


class NotDoneError(Exception):
    """The command cannot do what it was asked to do."""


class NotYetError(NotDoneError):
    """A temporary state, which ``retry_until_timeout`` repeats."""


class InterruptedRunError(Exception):
    """The command was interrupted, and has ended its work."""
