"""The brokers and controllers of the metadata image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fencepost_broker.metadata.image.changes import BrokerChanged, Change, Changes
from fencepost_broker.metadata.image.model import (
    Broker,
    Endpoint,
    FeatureRange,
    InconsistentMetadataError,
)

if TYPE_CHECKING:
    from fencepost_protocol.generated.broker_registration_change_record import (
        BrokerRegistrationChangeRecord,
    )
    from fencepost_protocol.generated.fence_broker_record import FenceBrokerRecord
    from fencepost_protocol.generated.register_broker_record import (
        BrokerFeature,
        RegisterBrokerRecord,
    )
    from fencepost_protocol.generated.register_controller_record import RegisterControllerRecord
    from fencepost_protocol.generated.unfence_broker_record import UnfenceBrokerRecord
    from fencepost_protocol.generated.unregister_broker_record import UnregisterBrokerRecord


class ClusterImage:
    """All registered brokers and controllers."""

    __slots__ = ("brokers", "controllers")

    def __init__(self) -> None:
        self.brokers: dict[int, Broker] = {}
        self.controllers: dict[int, RegisterControllerRecord] = {}

    def register_broker(self, record: RegisterBrokerRecord) -> Changes:
        """Apply a broker's registration, which replaces an earlier one."""
        cordoned = record.cordoned_log_dirs
        return self._put(
            Broker(
                broker_id=record.broker_id,
                epoch=record.broker_epoch,
                incarnation_id=record.incarnation_id,
                endpoints=tuple(
                    Endpoint(at.name, at.host, at.port, at.security_protocol)
                    for at in record.end_points
                ),
                features=tuple(sorted(map(_feature_range, record.features))),
                rack=record.rack,
                fenced=record.fenced,
                in_controlled_shutdown=record.in_controlled_shutdown,
                log_dirs=tuple(record.log_dirs),
                cordoned_log_dirs=None if cordoned is None else tuple(cordoned),
                is_migrating_zk_broker=record.is_migrating_zk_broker,
            )
        )

    def unregister_broker(self, record: UnregisterBrokerRecord) -> Changes:
        """Apply the end of a broker's registration."""
        before = self._broker(record.broker_id, record.broker_epoch)
        del self.brokers[record.broker_id]
        return (BrokerChanged(record.broker_id, before, None),)

    def change_broker(self, record: BrokerRegistrationChangeRecord) -> Changes:
        """Apply a record that changes parts of a registration."""
        broker = self._broker(record.broker_id, record.broker_epoch)
        cordoned = record.cordoned_log_dirs
        return self._put(
            broker._replace(
                fenced=record.fenced > 0 if record.fenced else broker.fenced,
                in_controlled_shutdown=broker.in_controlled_shutdown
                or record.in_controlled_shutdown > 0,
                log_dirs=tuple(record.log_dirs) or broker.log_dirs,
                cordoned_log_dirs=broker.cordoned_log_dirs if cordoned is None else tuple(cordoned),
            )
        )

    def fence_broker(self, record: FenceBrokerRecord) -> Changes:
        """Apply a record that fences a broker."""
        return self._put(self._broker(record.id, record.epoch)._replace(fenced=True))

    def unfence_broker(self, record: UnfenceBrokerRecord) -> Changes:
        """Apply a record that unfences a broker."""
        return self._put(self._broker(record.id, record.epoch)._replace(fenced=False))

    def register_controller(self, record: RegisterControllerRecord) -> Changes:
        """Apply a controller's registration; nothing acts on it, so that it is no change."""
        self.controllers[record.controller_id] = record
        return ()

    def differences(self, later: ClusterImage) -> Iterator[Change]:
        """Yield what leads to a later image."""
        for broker_id in sorted(self.brokers.keys() | later.brokers.keys()):
            old, new = self.brokers.get(broker_id), later.brokers.get(broker_id)
            if old != new:
                yield BrokerChanged(broker_id, old, new)

    def _broker(self, broker_id: int, epoch: int) -> Broker:
        broker = self.brokers.get(broker_id)
        if broker is None:
            raise InconsistentMetadataError(f"broker {broker_id} is not registered")
        if broker.epoch != epoch:
            raise InconsistentMetadataError(
                f"broker {broker_id} is registered with epoch {broker.epoch}, not {epoch}"
            )
        return broker

    def _put(self, broker: Broker) -> Changes:
        before = self.brokers.get(broker.broker_id)
        self.brokers[broker.broker_id] = broker
        return (BrokerChanged(broker.broker_id, before, broker),)


def _feature_range(feature: BrokerFeature) -> FeatureRange:
    return FeatureRange(feature.name, feature.min_supported_version, feature.max_supported_version)
