"""All figures of a broker, read at one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from fencepost_broker.server.metrics.figure import Figure, Sample
from fencepost_broker.server.metrics.kafka import KAFKA
from fencepost_broker.server.metrics.own import OWN

if TYPE_CHECKING:
    from fencepost_broker.server.process import BrokerProcess

FIGURES: Final = (*KAFKA, *OWN)
Reading: TypeAlias = tuple[Figure, list[Sample]]


def read_figures(process: BrokerProcess) -> list[Reading]:
    """Return the figures that have time series, with these."""
    readings = [(each, list(each.samples(process))) for each in FIGURES]
    return [each for each in readings if each[1]]
