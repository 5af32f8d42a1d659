"""The errors of the sink, each with what to do about it."""

from __future__ import annotations


class SinkError(Exception):
    """The batch was not written; read-committed consumers see nothing of it."""


class MarkerError(SinkError):
    """The sink's marker contradicts the batch that Spark wants to write."""


class OwnershipError(SinkError):
    """A partition had several writers in one batch."""


class TaskError(SinkError):
    """A task could not write its rows."""


class RowError(SinkError):
    """Columns or a row that cannot be written."""
