"""Why a command ends before it has done what it was asked for."""

from __future__ import annotations


class UsageError(Exception):
    """Options that make no sense; the text says what is wanted."""


class NotDoneError(Exception):
    """What was asked for cannot be; the text is for a person."""


class NotYetError(NotDoneError):
    """What was asked about changes just now, or has nobody to ask: ``patiently`` tries again."""


class InterruptedRunError(Exception):
    """Somebody pressed Ctrl-C, and what was under way was brought to an end."""
