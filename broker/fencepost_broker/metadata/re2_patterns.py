"""Regular expressions of subscriptions (KIP-848) with RE2: linear time and bounded memory.

The binding is imported at the first expression: the import takes milliseconds, and most groups use
no expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

MEMORY_MAX_BYTES: Final = 1 << 20
"""The limit of a compiled expression: ``(a{1000}){1000}`` is refused."""
_REMEMBERED: Final = 64
_ANY_BYTE: Final = r"(?<!\\)(?:\\\\)*\\C"


class Re2Patterns:
    """Implements the group coordinator's ``Patterns``."""

    def problem(self, pattern: str) -> str | None:
        """Return the error in an expression; ``None`` if it is valid."""
        try:
            _compiled(pattern)
        except _errors() as error:
            said = error.args[0] if error.args else error
            return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        return None

    def matching(self, pattern: str, names: Iterable[str]) -> frozenset[str]:
        """Return the names that match completely; none if the expression is invalid."""
        try:
            compiled = _compiled(pattern)
        except _errors():
            return frozenset()
        return frozenset(name for name in names if compiled.fullmatch(name) is not None)


@lru_cache(_REMEMBERED)
def _compiled(pattern: str) -> Any:
    import re2

    if re.search(_ANY_BYTE, pattern):
        raise re2.error(r"\C (a single byte) is not supported by Apache Kafka's RE2")
    options = re2.Options()
    options.max_mem = MEMORY_MAX_BYTES
    options.log_errors = False
    return re2.compile(pattern, options)


def _errors() -> tuple[type[Exception], ...]:
    import re2

    return (re2.error, UnicodeError)
