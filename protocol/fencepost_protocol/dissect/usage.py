"""What is wrong with the arguments of ``dissect``."""

from __future__ import annotations


class UsageError(Exception):
    """The arguments make no sense; the text says in one line what is wrong."""
