"""Records that are gone before they were read: an error, or a warning where that was asked for."""

from __future__ import annotations

import warnings
from typing import Final

_HINT: Final = (
    "Records may have been missed. Set failOnDataLoss to false to go on with what is there."
)


class DataLossError(RuntimeError):
    """What a query was to read is not there any more."""


class DataLossWarning(UserWarning):
    """What a query was to read is not there any more, and it goes on."""


class DataLoss:
    """What to do about it."""

    def __init__(self, fails: bool) -> None:
        self.fails = fails

    def report(self, what: str, cause: BaseException | None = None) -> None:
        """Raise ``DataLossError``, or warn."""
        if self.fails:
            raise DataLossError(f"{what}. {_HINT}") from cause
        warnings.warn(f"{what}.", DataLossWarning, stacklevel=2)
