"""Start of a cluster: the first records of its metadata log, and registrations of its brokers.

An empty log gets the feature levels. Then the broker of this process registers (its first record
says that it is fenced) and is unfenced by its first heartbeat:

    controller.activate(now_ms, first_records())
    controller.handle(now_ms, registration(...))
    controller.handle(now_ms, first_heartbeat(...))

On an existing log the same calls do what a restart needs: the registration ends the leaderships of
the earlier incarnation, the heartbeat elects leaders again, each with a new leader epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fencepost_protocol.generated.broker_heartbeat import BrokerHeartbeatRequest
from fencepost_protocol.generated.broker_registration import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from fencepost_protocol.generated.config_record import ConfigRecord
from fencepost_protocol.generated.feature_level_record import FeatureLevelRecord

from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.features import (
    ELIGIBLE_LEADERS,
    METADATA_VERSION,
    MIN_INSYNC_SETTING,
    SUPPORTED_FEATURES,
)
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import Endpoint, FeatureRange, ResourceType


def first_records(
    levels: Mapping[str, int] | None = None, min_insync_replicas: int = 1
) -> tuple[MetadataRecord, ...]:
    """Return the feature levels of a new cluster: the highest, unless ``levels`` has others.

    Features with level 0 are left out. Raises ``ValueError`` for unsupported levels.
    """
    levels = dict(levels or {})
    records: list[MetadataRecord] = []
    settings: list[MetadataRecord] = []
    for feature in sorted(SUPPORTED_FEATURES, key=lambda each: each.name != METADATA_VERSION):
        level = levels.pop(feature.name, feature.max_level)
        if not feature.min_level <= level <= feature.max_level:
            raise ValueError(
                f"{feature.name} has levels {feature.min_level} to {feature.max_level}, not {level}"
            )
        if level:
            records.append(MetadataRecord(FeatureLevelRecord(feature.name, level), 0))
        if level and feature.name == ELIGIBLE_LEADERS:
            settings += one_min_insync(MetadataImage(), min_insync_replicas)
    if levels:
        known = ", ".join(feature.name for feature in SUPPORTED_FEATURES)
        raise ValueError(f"there is no feature {', '.join(sorted(levels))}, only {known}")
    return (*records, *settings)


def one_min_insync(image: MetadataImage, number: int) -> Iterator[MetadataRecord]:
    """Return records that leave one ``min.insync.replicas`` for all brokers, as ELRs need it."""
    if MIN_INSYNC_SETTING not in image.configs.of(ResourceType.BROKER, ""):
        record = ConfigRecord(ResourceType.BROKER, "", MIN_INSYNC_SETTING, str(number))
        yield MetadataRecord(record, 0)
    for (kind, name), values in sorted(image.configs.by_resource.items()):
        if kind == ResourceType.BROKER and name and MIN_INSYNC_SETTING in values:
            yield MetadataRecord(ConfigRecord(kind, name, MIN_INSYNC_SETTING, None), 0)


def registration(
    broker_id: int,
    cluster_id: str,
    incarnation_id: bytes,
    endpoints: Iterable[Endpoint],
    log_dirs: Iterable[bytes],
    rack: str | None = None,
    previous_broker_epoch: int = -1,
    features: Iterable[FeatureRange] = SUPPORTED_FEATURES,
) -> BrokerRegistrationRequest:
    """Return the registration of a broker; ``incarnation_id`` is new at every start.

    ``previous_broker_epoch`` is the epoch of the last start, if that was stopped cleanly.
    """
    return BrokerRegistrationRequest(
        broker_id=broker_id,
        cluster_id=cluster_id,
        incarnation_id=incarnation_id,
        listeners=[Listener(*endpoint) for endpoint in endpoints],
        features=[Feature(*feature) for feature in features],
        rack=rack,
        log_dirs=list(log_dirs),
        previous_broker_epoch=previous_broker_epoch,
    )


def first_heartbeat(image: MetadataImage, broker_id: int) -> BrokerHeartbeatRequest:
    """Return the heartbeat of a registered broker that has read the whole metadata log."""
    epoch = image.cluster.brokers[broker_id].epoch
    return BrokerHeartbeatRequest(broker_id, epoch, image.last_offset)
