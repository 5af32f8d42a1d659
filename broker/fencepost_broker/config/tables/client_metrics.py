"""Settings of one subscription to clients' metrics (KIP-714)."""

from __future__ import annotations

from typing import Final

from fencepost_broker.config.setting import Scope, integer, strings
from fencepost_broker.config.table import Table

INTERVAL: Final = "interval.ms"
SELECTORS: Final = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)
"""The properties of clients that a subscription can select by."""


def split_match(word: str) -> tuple[str, str]:
    """Return the selector and the expression of an element of ``match``; raises ValueError."""
    selector, *expressions = (part.strip() for part in word.split("="))
    if len(expressions) != 1 or not expressions[0] or selector not in SELECTORS:
        raise ValueError(f"{word} is not of the form selector=expression")
    return selector, expressions[0]


def _check_match(words: tuple[str, ...]) -> str | None:
    try:
        for word in words:
            split_match(word)
    except ValueError as error:
        return str(error)
    return None


class SettingsOfClientMetrics(Table, scope=Scope.CLIENT_METRICS):
    """Settings of a subscription to clients' metrics."""

    what = "setting of client metrics"

    metrics = strings((), "prefixes of the names of metrics that clients send; * is all of them")
    interval_ms = integer(300_000, "how often clients send them", at_least=100, at_most=3_600_000)
    match = strings(
        (),
        "which clients send them; a client has to match all elements, and without any, each does",
        check=_check_match,
        range_text=f"selector=expression; selectors are {', '.join(SELECTORS)}",
    )
