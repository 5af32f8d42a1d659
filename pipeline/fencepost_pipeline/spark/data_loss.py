"""Records that were deleted before they were read: an error, or a warning."""

from __future__ import annotations

import warnings
from typing import Final

_HINT: Final = (
    "Records may have been missed. Set failOnDataLoss to false to go on with what is there."
)


class DataLossError(RuntimeError):
    """Records that a query should read no longer exist."""


class DataLossWarning(UserWarning):
    """Records that a query should read no longer exist; the query goes on."""


class DataLoss:
    """The advice at the end of messages."""

    def __init__(self, fails: bool) -> None:
        self.fails = fails

    def report(self, what: str, cause: BaseException | None = None) -> None:
        """Raise ``DataLossError``, or warn."""
        if self.fails:
            raise DataLossError(f"{what}. {_HINT}") from cause
        warnings.warn(f"{what}.", DataLossWarning, stacklevel=2)
