"""Where clients reach the brokers of the cluster."""

from __future__ import annotations

from typing import NamedTuple

from fencepost_broker.metadata.image.metadata_image import MetadataImage


class AdvertisedBroker(NamedTuple):
    """A broker at the address of one of its listeners."""

    broker_id: int
    host: str
    port: int
    rack: str | None


def advertised_brokers(
    image: MetadataImage, listener: str, *, fenced: bool = False
) -> list[AdvertisedBroker]:
    """The brokers that are up, or those that are ``fenced``, at their addresses of a listener."""
    return [
        AdvertisedBroker(broker.broker_id, each.host, each.port, broker.rack)
        for _, broker in sorted(image.cluster.brokers.items())
        if broker.fenced is fenced
        for each in broker.endpoints
        if each.name == listener
    ]
