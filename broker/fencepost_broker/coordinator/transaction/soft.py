"""Soft state: what a decision changes beside the log, and a restart forgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordinator.transaction.commands import (
    AddPartitions,
    InitProducerId,
    SendMarkers,
)


@dataclass(slots=True)
class EpochAskedFor:
    """An epoch was bumped for a producer that gave the one before: it may ask again (KIP-360)."""

    transactional_id: str
    last_epoch: int


@dataclass(slots=True)
class Park:
    """A command waits for this id's markers."""

    transactional_id: str
    command: InitProducerId | AddPartitions


@dataclass(slots=True)
class Unpark:
    """A command has been answered before the markers came."""

    transactional_id: str
    token: Any


@dataclass(slots=True)
class MarkersAnswered:
    """Some of the markers are written or given up; some failed and will be sent again."""

    send: SendMarkers
    done: tuple[tuple[str, int], ...]
    failed: tuple[tuple[str, int, ErrorCode], ...]
