"""Finalized features (KIP-584): those that are implemented, and their levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fencepost_broker.config.values.releases import Release
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import FeatureRange

METADATA_VERSION: Final = "metadata.version"
METADATA_LEVEL: Final = 30
"""Apache Kafka 4.3's own; records are written in this level's versions and in no others."""

ELIGIBLE_LEADERS: Final = "eligible.leader.replicas.version"
"""KIP-966: see ``partition_change``."""
MIN_INSYNC_SETTING: Final = "min.insync.replicas"
"""The setting that eligible leader replicas depend on."""

SUPPORTED_FEATURES: Final = (
    FeatureRange(ELIGIBLE_LEADERS, 0, 1),
    FeatureRange("group.version", 0, 1),
    FeatureRange(METADATA_VERSION, METADATA_LEVEL, METADATA_LEVEL),
    FeatureRange("share.version", 0, 1),
    FeatureRange("streams.version", 0, 1),
    FeatureRange("transaction.version", 0, 2),
)
"""The features that are implemented, by name; a new cluster starts at the highest levels."""

PREREGISTRATION: Final = FeatureRange("fencepost.preregistration", 1, 1)
"""EndTxn says which of the partitions that were registered before were written (KIP-609).

A client that finds it among the finalized features may rely on it. It cannot be changed, and only
clients learn of it: a level in the metadata log, or in a registration there, would keep an
Apache Kafka from starting on the same files.
"""

NOT_SERVED: Final = (FeatureRange("kraft.version", 0, 0),)
"""Features of Apache Kafka that are off here. Clients are told that they support level 0 only."""

SUPPORTED_RANGES: Final = {
    name: (low, high) for name, low, high in (*SUPPORTED_FEATURES, *NOT_SERVED, PREREGISTRATION)
}
"""All features that clients learn of, with the lowest and the highest level."""


def keeps_eligible(image: MetadataImage) -> bool:
    """Whether eligible leader replicas are kept (KIP-966)."""
    return bool(image.features.levels.get(ELIGIBLE_LEADERS))


def any_eligible(image: MetadataImage) -> bool:
    """Whether any partition has eligible leaders that are not in sync."""
    return any(
        partition.eligible_leader_replicas
        for topic in image.topics.by_name.values()
        for partition in topic.partitions.values()
    )


def any_leaderless(image: MetadataImage) -> bool:
    """Whether any partition has no replica in sync."""
    return any(
        not partition.isr
        for topic in image.topics.by_name.values()
        for partition in topic.partitions.values()
    )


def supported_features(release: Release | None) -> tuple[FeatureRange, ...]:
    """Return the features of a broker: those of the release that it imitates, or all."""
    if release is None:
        return SUPPORTED_FEATURES
    return tuple(
        each if each.name == METADATA_VERSION else _limited(each, release)
        for each in SUPPORTED_FEATURES
        if each.name == METADATA_VERSION or each.name in release.supported
    )


def first_levels(release: Release | None) -> dict[str, int]:
    """Return the levels of a new cluster, where they are not the highest."""
    if release is None:
        return {}
    names = (each.name for each in SUPPORTED_FEATURES if each.name != METADATA_VERSION)
    return {name: release.finalized.get(name, 0) for name in names}


def told_ranges(release: Release | None) -> dict[str, tuple[int, int]]:
    """Return the features that clients see; ``metadata.version`` is that of the release."""
    if release is None:
        return SUPPORTED_RANGES
    limited = (
        _limited(each, release)
        for each in (*SUPPORTED_FEATURES, *NOT_SERVED)
        if each.name in release.supported
    )
    told = {name: (low, high) for name, low, high in limited}
    return told | {
        name: levels for name, levels in release.supported.items() if name == METADATA_VERSION
    }


def told_levels(finalized: Mapping[str, int], release: Release | None) -> dict[str, int]:
    """Return the levels that clients are told: those in the metadata, and fixed ones."""
    if release is None:
        return {**finalized, PREREGISTRATION.name: PREREGISTRATION.max_level}
    return {
        name: release.finalized[name] if name == METADATA_VERSION else level
        for name, level in finalized.items()
        if name in release.supported
    }


def _limited(feature: FeatureRange, release: Release) -> FeatureRange:
    low, high = release.supported[feature.name]
    return FeatureRange(feature.name, max(low, feature.min_level), min(high, feature.max_level))
