"""What the sink refuses, each with what to do about it."""

from __future__ import annotations


class SinkError(Exception):
    """The batch was not written; nothing of it is visible to readers that read committed data."""


class MarkerError(SinkError):
    """What the sink's marker says does not go with the batch that Spark wants to write."""


class OwnershipError(SinkError):
    """A partition had several writers in one batch."""


class TaskError(SinkError):
    """A task could not write its rows."""


class RowError(SinkError):
    """Columns or a row that cannot be written."""
