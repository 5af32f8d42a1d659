"""Releases of Apache Kafka that a broker can imitate: ``kafka.release``."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final, NamedTuple

from fencepost_broker.config.values.units import LONG_MAX

RELEASES: Final = ("2.8", "3.9", "4.0", "4.3")

_UNTIL_4_0: Final[Mapping[str, bool | int | tuple[str, ...] | None]] = {
    "group.share.partition.max.record.locks": 200,
}
_UNTIL_3_9: Final[Mapping[str, bool | int | tuple[str, ...] | None]] = {
    **_UNTIL_4_0,
    "group.coordinator.rebalance.protocols": ("classic",),
    "log.message.timestamp.after.max.ms": LONG_MAX,
    "sasl.oauthbearer.expected.audience": None,
}
DEFAULTS: Final[Mapping[str, Mapping[str, bool | int | tuple[str, ...] | None]]] = {
    "2.8": {
        **_UNTIL_3_9,
        # Both settings are newer. Producers were forgotten after transactional.id.expiration.ms.
        "producer.id.expiration.ms": 7 * 24 * 3600 * 1000,
        "transaction.partition.verification.enable": False,
    },
    "3.9": _UNTIL_3_9,
    "4.0": _UNTIL_4_0,
}
"""Defaults of a release that have changed since, of settings that have an effect here."""


class Release(NamedTuple):
    """What a release of Apache Kafka answered to ApiVersions, right after its first start."""

    versions: Mapping[int, tuple[int, int]]
    """The lowest and the highest version, by API key."""
    supported: Mapping[str, tuple[int, int]]
    """The lowest and the highest level, by feature."""
    finalized: Mapping[str, int]
    """The levels in force, by feature."""


@functools.cache
def release_of(name: str | None) -> Release | None:
    """Return the release that ``kafka.release`` names, if any."""
    if name is None:
        return None
    from fencepost_broker.config.values.release_table import APIS, FEATURES

    column = RELEASES.index(name)
    apis = {int(key): cells[column] for key, _, *cells in rows(APIS)}
    features = {name: cells[column].partition("=") for name, *cells in rows(FEATURES)}
    return Release(
        {key: _range(cell) for key, cell in apis.items() if cell != ABSENT},
        {name: _range(cell) for name, (cell, *_) in features.items() if cell != ABSENT},
        {name: int(level) for name, (_, _, level) in features.items() if level},
    )


ABSENT: Final = "-"


def rows(table: str) -> list[list[str]]:
    """Return the rows of a table, without the head."""
    return [line.split() for line in table.splitlines()[1:]]


def _range(cell: str) -> tuple[int, int]:
    low, _, high = cell.partition("-")
    return int(low), int(high)
