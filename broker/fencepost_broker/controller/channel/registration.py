"""Registration of this broker at its controller."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost_protocol.generated.broker_registration import BrokerRegistrationRequest
from fencepost_protocol.primitives import parse_uuid

from fencepost_broker.controller.bootstrap import registration
from fencepost_broker.metadata.image.model import Endpoint, FeatureRange
from fencepost_broker.ports import Address, Chance
from fencepost_broker.storage.log.identity import Identity

NO_EPOCH = -1


class Registration:
    """The broker's epoch, and the request by which it gets one."""

    def __init__(
        self,
        identity: Identity,
        rack: str | None,
        previous_epoch: int,
        chance: Chance,
        features: Iterable[FeatureRange],
    ) -> None:
        """``previous_epoch`` is the epoch of the last start, if that was stopped cleanly."""
        self._identity = identity
        self._rack = rack
        self._previous_epoch = previous_epoch
        self._chance = chance
        self._features = features
        self.epoch = NO_EPOCH
        """Epoch of this start; ``NO_EPOCH`` before the controller has assigned it."""

    @property
    def node_id(self) -> int:
        """The broker's id."""
        return self._identity.node_id

    @property
    def last_epoch(self) -> int:
        """Epoch of this start, or of the last one before there is one."""
        return self._previous_epoch if self.epoch == NO_EPOCH else self.epoch

    def request(self, addresses: Iterable[Address]) -> BrokerRegistrationRequest:
        """Return a registration of a new incarnation at these addresses."""
        return registration(
            self._identity.node_id,
            self._identity.cluster_id,
            self._chance.randbytes(16),
            [Endpoint(each.listener, each.host, each.port) for each in addresses],
            [parse_uuid(self._identity.directory_id)],
            self._rack,
            self._previous_epoch,
            self._features,
        )
