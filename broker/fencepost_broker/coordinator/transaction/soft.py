"""Soft state: changes in a decision that are not in the log and are lost at a restart."""

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
    """An epoch was bumped for a producer that sent ``last_epoch``: it may retry (KIP-360)."""

    transactional_id: str
    last_epoch: int


@dataclass(slots=True)
class Park:
    """A command starts to wait for this id's markers."""

    transactional_id: str
    command: InitProducerId | AddPartitions


@dataclass(slots=True)
class Unpark:
    """A parked command was answered before the markers were complete."""

    transactional_id: str
    token: Any


@dataclass(slots=True)
class MarkersAnswered:
    """Some markers are written or given up (``done``); the failed ones are sent again."""

    send: SendMarkers
    done: tuple[tuple[str, int], ...]
    failed: tuple[tuple[str, int, ErrorCode], ...]
